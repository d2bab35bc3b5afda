#include "boolgrad/circuit/proof/equivalence.h"

#include <algorithm>
#include <bit>
#include <limits>
#include <mutex>
#include <span>
#include <string>
#include <utility>

#include "boolgrad/circuit/proof/sat_miter.h"
#include "boolgrad/circuit/table.h"
#include "boolgrad/core/fail.h"
#include "boolgrad/core/parallel.h"

namespace boolgrad::circuit {
namespace {

constexpr const char* where = "equivalence";

// Words simulated together. The values of a small circuit fit in the L1 cache.
constexpr std::size_t block_words = 16;
using Block = std::array<std::uint64_t, block_words>;

Block values_of(const NetlistGate& gate, std::span<const Block> values_of_nets) {
  std::array<Block, std::size_t{1} << NetlistGate::max_inputs> values;
  std::size_t entries = std::size_t{1} << gate.arity;
  for (std::size_t i = 0; i < entries; ++i) values[i].fill((gate.truth >> i & 1) != 0 ? ~0ULL : 0);
  // A tree of multiplexers.
  for (std::size_t j = gate.arity; j-- > 0;) {
    const Block& chooses = values_of_nets[gate.inputs[j]];
    entries /= 2;
    for (std::size_t i = 0; i < entries; ++i) {
      for (std::size_t w = 0; w < block_words; ++w) {
        values[i][w] ^= (values[i][w] ^ values[i + entries][w]) & chooses[w];
      }
    }
  }
  return values[0];
}

/// The values of an input for the combinations from 64 * first_word on: bit j of combination i.
Block values_of_input(std::size_t input, std::uint64_t first_word) {
  Block values;
  for (std::size_t w = 0; w < block_words; ++w) {
    const std::uint64_t word = first_word + w;
    values[w] = input < max_variables ? variable_truth[input]
                                      : ((word >> (input - max_variables) & 1) != 0 ? ~0ULL : 0);
  }
  return values;
}

std::vector<Block> all_values_of(const Netlist& netlist, std::uint64_t first_word) {
  std::vector<Block> blocks;
  blocks.reserve(netlist.gate(netlist.gates.size()));
  for (std::size_t i = 0; i < netlist.inputs.size(); ++i) {
    blocks.push_back(values_of_input(i, first_word));
  }
  for (const NetlistGate& gate : netlist.gates) blocks.push_back(values_of(gate, blocks));
  return blocks;
}

/// The first input combination of a block for which the two differ.
std::optional<std::uint64_t> differing_combination(const Netlist& a, const Netlist& b,
                                                   std::uint64_t first_word) {
  const std::vector<Block> of_a = all_values_of(a, first_word);
  const std::vector<Block> of_b = all_values_of(b, first_word);
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
    const auto found = differing_combination(a, b, block * block_words);
    if (!found) return;
    const std::lock_guard lock(mutex);
    first = std::min(first, *found);
  });
  if (first == none) return {};
  Counterexample result;
  // With fewer than six inputs, each word repeats its combinations.
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
    fail(where, "the counterexample does not distinguish the circuits");
  }
  return static_cast<std::size_t>(differing.in1 - of_a.begin());
}

}  // namespace

std::optional<Counterexample> difference(const Netlist& a, const Netlist& b,
                                         const EquivalenceParams& params, EquivalenceStats* stats) {
  if (a.inputs.size() != b.inputs.size() || a.outputs.size() != b.outputs.size()) {
    fail(where, "expected equal numbers of inputs and outputs, received {} and {} versus {} and {}",
         a.inputs.size(), a.outputs.size(), b.inputs.size(), b.outputs.size());
  }
  EquivalenceStats own;
  // 2^40 combinations are the practical limit.
  constexpr std::size_t max_simulated_inputs = 40;
  own.exhaustive = !params.record_proof &&
                   a.inputs.size() <= std::min(params.max_exhaustive_inputs, max_simulated_inputs);
  std::optional<Counterexample> found =
      own.exhaustive ? exhaustive_difference(a, b) : sat_difference(a, b, params, own);
  if (found) found->output = differing_output(a, b, found->inputs);
  if (stats != nullptr) *stats = std::move(own);
  return found;
}

void expect_equivalent(const Netlist& original, const Netlist& other, std::string_view what,
                       const EquivalenceParams& params) {
  const std::optional<Counterexample> found = difference(original, other, params);
  if (!found) return;
  std::string bits;
  for (const bool value : found->inputs) bits += value ? '1' : '0';
  fail(where, "{} is not equivalent: the circuits differ at output {} for input {}", what,
       original.outputs[found->output], bits);
}

}  // namespace boolgrad::circuit
