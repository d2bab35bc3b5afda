// Simplification under external don't-cares: only the given input combinations occur.
#include <map>
#include <utility>

#include "boolgrad/circuit/builder.h"
#include "boolgrad/circuit/passes/passes.h"
#include "boolgrad/circuit/passes/unread_entries.h"
#include "boolgrad/core/fail.h"

namespace boolgrad::circuit {
namespace {

using Words = std::vector<std::uint64_t>;

/// The entries of a gate's table that some sample reads.
std::uint64_t entries_read(const NetlistGate& gate, const std::vector<Words>& values,
                           const Words& valid) {
  std::uint64_t read = 0;
  for (std::size_t e = 0; e < std::size_t{1} << gate.arity; ++e) {
    for (std::size_t w = 0; w < valid.size(); ++w) {
      std::uint64_t here = valid[w];
      for (std::size_t j = 0; j < gate.arity; ++j) {
        const std::uint64_t word = values[gate.inputs[j]][w];
        here &= (e >> j & 1) != 0 ? word : ~word;
      }
      if (here == 0) continue;
      read |= std::uint64_t{1} << e;
      break;
    }
  }
  return read;
}

/// The values of all nets on all samples.
std::vector<Words> values_of(const Netlist& netlist, const logic::BitMatrix& samples) {
  const auto words = static_cast<std::size_t>(samples.words_per_feature());
  Netlist all = netlist;
  all.outputs.clear();
  all.output_nets.clear();
  all.state.reset();
  for (Net net = 0; net < netlist.gate(netlist.gates.size()); ++net) {
    all.output_nets.push_back(net);
  }
  std::vector<Words> values(all.output_nets.size(), Words(words));
  Words inputs(netlist.inputs.size());
  for (std::size_t w = 0; w < words; ++w) {
    for (std::size_t i = 0; i < inputs.size(); ++i) inputs[i] = samples.words[i * words + w];
    const Words row = evaluate(all, inputs);
    for (std::size_t net = 0; net < row.size(); ++net) values[net][w] = row[net];
  }
  return values;
}

Words valid_samples(const logic::BitMatrix& samples) {
  Words valid(static_cast<std::size_t>(samples.words_per_feature()), ~0ULL);
  if (samples.samples % 64 != 0) valid.back() = (1ULL << (samples.samples % 64)) - 1;
  return valid;
}

/// The first literal with given values, up to complement.
class LiteralsByValues {
 public:
  explicit LiteralsByValues(Words valid) : valid_(std::move(valid)) {}

  bool is_complemented(const Words& values) const { return (values[0] & 1) != 0; }

  BitLiteral* find(const Words& values) {
    const auto entry = first_.find(key_of(values));
    return entry == first_.end() ? nullptr : &entry->second;
  }
  void add(const Words& values, BitLiteral literal) {
    first_.emplace(key_of(values), literal ^ is_complemented(values));
  }

 private:
  Words key_of(const Words& values) const {
    Words key = values;
    for (std::size_t w = 0; w < key.size(); ++w) {
      key[w] = (is_complemented(values) ? ~values[w] : values[w]) & valid_[w];
    }
    return key;
  }

  Words valid_;
  std::map<Words, BitLiteral> first_;
};

}  // namespace

Netlist restrict_to_samples(const Netlist& netlist, const logic::BitMatrix& occurring,
                            PassStats* stats) {
  if (occurring.features != std::ssize(netlist.inputs) || occurring.samples < 1) {
    fail("restrict_to_samples", "expected samples of {} inputs, received {} of {}",
         netlist.inputs.size(), occurring.samples, occurring.features);
  }
  const std::vector<Words> values = values_of(netlist, occurring);
  const Words valid = valid_samples(occurring);
  LiteralsByValues known(valid);
  NetlistBuilder builder(netlist);
  known.add(Words(valid.size(), 0), BitLiteral(0));
  std::vector<BitLiteral> literals;
  for (std::size_t net = 0; net < values.size(); ++net) {
    if (const BitLiteral* same = known.find(values[net])) {
      literals.push_back(*same ^ known.is_complemented(values[net]));
      continue;
    }
    if (netlist.is_input(static_cast<Net>(net))) {
      literals.push_back(builder.input(net));
    } else {
      const NetlistGate& gate = netlist.driver(static_cast<Net>(net));
      TableGate table{stretched(gate.truth, gate.arity), {}, false};
      for (const Net source : gate.sources()) table.inputs.push_back(literals[source]);
      const Truth read = stretched(entries_read(gate, values, valid), gate.arity);
      literals.push_back(builder.add(canonical(without_unread(std::move(table), read))));
    }
    known.add(values[net], literals.back());
  }
  std::vector<BitLiteral> outputs;
  for (const Net net : netlist.output_nets) outputs.push_back(literals[net]);
  Netlist result = remove_dangling_gates(builder.finish(outputs));
  if (stats != nullptr) {
    *stats = {"external don't-cares", gate_count(netlist), gate_count(result),
              depth(netlist),         depth(result),       true};
  }
  return result;
}

}  // namespace boolgrad::circuit
