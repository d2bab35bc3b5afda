// SAT sweeping. Nets that agree under random simulation are candidates for equality. The solver
// proves candidates from the inputs up, and proven nets become one variable, which keeps the next
// query small. Every merge and every output is proven.
#include "boolgrad/circuit/proof/sat_miter.h"

#include <array>
#include <cadical.hpp>
#include <cstddef>
#include <map>
#include <utility>
#include <vector>

#include "boolgrad/circuit/table.h"
#include "boolgrad/core/fail.h"
#include "boolgrad/core/random.h"

namespace boolgrad::circuit {
namespace {

constexpr std::size_t sample_words = 16;
using Samples = std::array<std::uint64_t, sample_words>;

constexpr int satisfiable = 10;
constexpr int unsatisfiable = 20;

Samples complement_of(Samples samples) {
  for (std::uint64_t& word : samples) word = ~word;
  return samples;
}

/// Solver variables, each a function of the inputs. Variable 0 is the constant false.
class Miter {
 public:
  Miter(std::size_t inputs, const EquivalenceParams& params, EquivalenceStats& stats)
      : params_(params), stats_(stats) {
    add_variable({});
    solver_.add(-name(BitLiteral(0)));
    solver_.add(0);
    for (std::size_t i = 0; i < inputs; ++i) {
      Samples samples{};
      for (std::size_t w = 0; w < sample_words; ++w) {
        const auto bits = random_bits({.index = i * sample_words + w});
        samples[w] = std::uint64_t{bits[0]} << 32 | bits[1];
      }
      inputs_.push_back(add_variable(samples));
    }
  }

  /// Adds a netlist and returns the literals of its outputs.
  std::vector<BitLiteral> add(const Netlist& netlist) {
    std::vector<BitLiteral> literals = inputs_;
    for (const NetlistGate& gate : netlist.gates) {
      TableGate table{stretched(gate.truth, gate.arity), {}, false};
      for (const Net net : gate.sources()) table.inputs.push_back(literals[net]);
      literals.push_back(add_gate(canonical(std::move(table))));
    }
    std::vector<BitLiteral> outputs;
    for (const Net net : netlist.output_nets) outputs.push_back(literals[net]);
    return outputs;
  }

  /// An input for which two literals differ, if there is one.
  std::optional<std::vector<bool>> difference(BitLiteral a, BitLiteral b) {
    if (a == b) return {};
    for (const bool value : {false, true}) {
      const int verdict = ask(a ^ value, !b ^ value, 0);
      if (verdict == satisfiable) return inputs_of_model();
      if (verdict != unsatisfiable) {
        fail("equivalence", "the SAT solver gave no answer (status {})", verdict);
      }
    }
    return {};
  }

 private:
  static int name(BitLiteral literal) {
    const int variable = static_cast<int>(literal.node()) + 1;
    return literal.complemented() ? -variable : variable;
  }

  BitLiteral add_variable(const Samples& samples) {
    const BitLiteral own(static_cast<std::uint32_t>(samples_.size()));
    samples_.push_back(samples);
    alike_[key_of(own)].push_back(own);
    return own;
  }

  /// The samples of a literal, complemented to begin with 0.
  Samples key_of(BitLiteral literal) const {
    const Samples& own = samples_[literal.node()];
    return (own[0] & 1) != 0 ? complement_of(own) : own;
  }

  BitLiteral add_gate(const TableGate& gate) {
    if (gate.inputs.empty()) return BitLiteral(0, gate.complemented);
    if (gate.inputs.size() == 1) return gate.inputs[0] ^ gate.complemented;
    auto [known, added] = known_.try_emplace({gate.truth, gate.inputs});
    if (added) known->second = new_gate(gate);
    return known->second ^ gate.complemented;
  }

  BitLiteral new_gate(const TableGate& gate) {
    const Samples samples = samples_of(gate);
    const BitLiteral own(static_cast<std::uint32_t>(samples_.size()));
    samples_.push_back(samples);
    encode(gate, own);
    std::vector<BitLiteral>& alike = alike_[key_of(own)];
    for (const BitLiteral other : alike) {
      const bool flip = ((samples_[other.node()][0] ^ samples[0]) & 1) != 0;
      if (merge(own, other ^ flip)) return other ^ flip;
    }
    constexpr std::size_t most_alike = 4;
    if (alike.size() < most_alike) alike.push_back(own);
    return own;
  }

  /// Whether the solver proves two literals equal within the conflict limit.
  bool merge(BitLiteral own, BitLiteral other) {
    for (const bool value : {false, true}) {
      if (ask(own ^ value, !other ^ value, params_.max_conflicts) != unsatisfiable) return false;
    }
    add_clause({own, !other});
    add_clause({!own, other});
    ++stats_.merged;
    return true;
  }

  /// Whether two literals can both be 1. A `limit` above 0 bounds the conflicts.
  int ask(BitLiteral a, BitLiteral b, int limit) {
    ++stats_.solver_calls;
    solver_.assume(name(a));
    solver_.assume(name(b));
    if (limit > 0) solver_.limit("conflicts", limit);
    return solver_.solve();
  }

  void add_clause(std::initializer_list<BitLiteral> literals) {
    for (const BitLiteral literal : literals) solver_.add(name(literal));
    solver_.add(0);
  }

  void encode(const TableGate& gate, BitLiteral own) {
    for (const bool value : {false, true}) {
      for (const Cube& cube : sum_of_products(value ? gate.truth : ~gate.truth)) {
        for (std::size_t j = 0; j < gate.inputs.size(); ++j) {
          if ((cube.mask >> j & 1) == 0) continue;
          solver_.add(name(gate.inputs[j] ^ ((cube.values >> j & 1) != 0)));
        }
        solver_.add(name(own ^ !value));
        solver_.add(0);
      }
    }
  }

  Samples samples_of(const TableGate& gate) const {
    Samples result{};
    for (const Cube& cube : sum_of_products(gate.truth)) {
      for (std::size_t w = 0; w < sample_words; ++w) {
        std::uint64_t product = ~0ULL;
        for (std::size_t j = 0; j < gate.inputs.size(); ++j) {
          if ((cube.mask >> j & 1) == 0) continue;
          const std::uint64_t word = samples_[gate.inputs[j].node()][w];
          product &= (cube.values >> j & 1) != 0 ? word : ~word;
        }
        result[w] |= product;
      }
    }
    return result;
  }

  std::vector<bool> inputs_of_model() {
    std::vector<bool> values;
    for (const BitLiteral input : inputs_) values.push_back(solver_.val(name(input)) > 0);
    return values;
  }

  const EquivalenceParams& params_;
  EquivalenceStats& stats_;
  CaDiCaL::Solver solver_;
  std::vector<BitLiteral> inputs_;
  std::vector<Samples> samples_;  ///< of every variable
  std::map<Samples, std::vector<BitLiteral>> alike_;
  std::map<std::pair<Truth, std::vector<BitLiteral>>, BitLiteral> known_;
};

}  // namespace

std::optional<Counterexample> sat_difference(const Netlist& a, const Netlist& b,
                                             const EquivalenceParams& params,
                                             EquivalenceStats& stats) {
  Miter miter(a.inputs.size(), params, stats);
  const std::vector<BitLiteral> of_a = miter.add(a);
  const std::vector<BitLiteral> of_b = miter.add(b);
  for (std::size_t o = 0; o < of_a.size(); ++o) {
    if (auto inputs = miter.difference(of_a[o], of_b[o])) {
      return Counterexample{*std::move(inputs), o};
    }
  }
  return {};
}

}  // namespace boolgrad::circuit
