#include "boolgrad/circuit/proof/equivalence.h"

#include <algorithm>
#include <bit>
#include <limits>
#include <mutex>
#include <span>
#include <string>

#include "boolgrad/circuit/proof/sat_miter.h"
#include "boolgrad/circuit/table.h"
#include "boolgrad/core/error.h"
#include "boolgrad/core/parallel.h"

namespace boolgrad {
namespace {

constexpr const char* where = "equivalence";

// Words that are looked at together: rows of them stay in the first cache.
constexpr std::size_t block_words = 16;
using Row = std::array<std::uint64_t, block_words>;

Row row_of(const NetlistGate& gate, std::span<const Row> rows) {
  std::array<Row, std::size_t{1} << NetlistGate::most_inputs> values;
  std::size_t entries = std::size_t{1} << gate.arity;
  for (std::size_t i = 0; i < entries; ++i) values[i].fill((gate.truth >> i & 1) != 0 ? ~0ULL : 0);
  // Each input chooses between two halves.
  for (std::size_t j = gate.arity; j-- > 0;) {
    const Row& chooses = rows[gate.inputs[j]];
    entries /= 2;
    for (std::size_t i = 0; i < entries; ++i) {
      for (std::size_t w = 0; w < block_words; ++w) {
        values[i][w] ^= (values[i][w] ^ values[i + entries][w]) & chooses[w];
      }
    }
  }
  return values[0];
}

/// Input j of case i is bit j of i; the block begins with case 64 * first_word.
Row cases_of_input(std::size_t input, std::uint64_t first_word) {
  Row row;
  for (std::size_t w = 0; w < block_words; ++w) {
    const std::uint64_t word = first_word + w;
    row[w] = input < most_variables ? variable_truth[input]
                                    : ((word >> (input - most_variables) & 1) != 0 ? ~0ULL : 0);
  }
  return row;
}

std::vector<Row> rows_of(const Netlist& netlist, std::uint64_t first_word) {
  std::vector<Row> rows;
  rows.reserve(netlist.gate(netlist.gates.size()));
  for (std::size_t i = 0; i < netlist.inputs.size(); ++i) {
    rows.push_back(cases_of_input(i, first_word));
  }
  for (const NetlistGate& gate : netlist.gates) rows.push_back(row_of(gate, rows));
  return rows;
}

/// The first case of a block in which the two differ.
std::optional<std::uint64_t> differing_case(const Netlist& a, const Netlist& b,
                                            std::uint64_t first_word) {
  const std::vector<Row> of_a = rows_of(a, first_word);
  const std::vector<Row> of_b = rows_of(b, first_word);
  for (std::size_t w = 0; w < block_words; ++w) {
    std::uint64_t differs = 0;
    for (std::size_t o = 0; o < a.outputs.size(); ++o) {
      differs |= of_a[a.output_nets[o]][w] ^ of_b[b.output_nets[o]][w];
    }
    if (differs != 0) {
      return (first_word + w) * 64 + static_cast<std::uint64_t>(std::countr_zero(differs));
    }
  }
  return {};
}

std::optional<Counterexample> exhaustive_difference(const Netlist& a, const Netlist& b) {
  const std::size_t inputs = a.inputs.size();
  const std::uint64_t cases = std::uint64_t{1} << inputs;
  constexpr std::uint64_t none = std::numeric_limits<std::uint64_t>::max();
  std::uint64_t first = none;
  std::mutex mutex;
  parallel_for(task_count(cases, 64 * block_words), [&](std::size_t block) {
    {
      const std::lock_guard lock(mutex);
      if (first < block * block_words * 64) return;
    }
    const auto found = differing_case(a, b, block * block_words);
    if (!found) return;
    const std::lock_guard lock(mutex);
    first = std::min(first, *found);
  });
  if (first == none) return {};
  Counterexample result;
  // Where there are few inputs a word repeats its cases.
  for (std::size_t j = 0; j < inputs; ++j) result.inputs.push_back((first >> j & 1) != 0);
  return result;
}

std::size_t differing_output(const Netlist& a, const Netlist& b, const std::vector<bool>& inputs) {
  std::vector<std::uint64_t> words;
  for (const bool value : inputs) words.push_back(value ? ~0ULL : 0);
  const auto of_a = evaluate(a, words);
  const auto of_b = evaluate(b, words);
  const auto differing = std::ranges::mismatch(of_a, of_b);
  if (differing.in1 == of_a.end()) {
    fail(where, "expected the counterexample to tell the circuits apart, received equal outputs");
  }
  return static_cast<std::size_t>(differing.in1 - of_a.begin());
}

}  // namespace

std::optional<Counterexample> difference(const Netlist& a, const Netlist& b,
                                         const EquivalenceParams& params, EquivalenceStats* stats) {
  if (a.inputs.size() != b.inputs.size() || a.outputs.size() != b.outputs.size()) {
    fail(where, "expected as many inputs and outputs, received {} and {} beside {} and {}",
         a.inputs.size(), a.outputs.size(), b.inputs.size(), b.outputs.size());
  }
  EquivalenceStats own;
  // Beyond, no machine comes to an end.
  constexpr std::size_t most_ever = 40;
  own.exhaustive = a.inputs.size() <= std::min(params.most_exhaustive_inputs, most_ever);
  std::optional<Counterexample> found =
      own.exhaustive ? exhaustive_difference(a, b) : sat_difference(a, b, params, own);
  if (found) found->output = differing_output(a, b, found->inputs);
  if (stats != nullptr) *stats = own;
  return found;
}

void expect_equivalent(const Netlist& original, const Netlist& other, std::string_view what,
                       const EquivalenceParams& params) {
  const std::optional<Counterexample> found = difference(original, other, params);
  if (!found) return;
  std::string bits;
  for (const bool value : found->inputs) bits += value ? '1' : '0';
  fail(where, "expected {} to compute what the circuit does, received another {} for inputs {}",
       what, original.outputs[found->output], bits);
}

}  // namespace boolgrad
