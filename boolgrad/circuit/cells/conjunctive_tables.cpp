// A function is split by one variable x into its cofactors f0 (x = 0) and f1 (x = 1):
//   f = f0 OR x g          where f0 implies f1, for any g between f1 AND NOT f0 and f1;
//   f = f1 AND (x OR h)    where f0 implies f1, for any h between f0 and f0 OR NOT f1;
//   f = x f1 OR (NOT x) f0 and f = f0 XOR x for f1 = NOT f0.
// Functions that fall with x are those of NOT x. Bottom decompositions g(x AND y, ...) come first.
#include "boolgrad/circuit/cells/conjunctive_tables.h"

#include <algorithm>
#include <array>
#include <span>
#include <unordered_map>
#include <utility>
#include <vector>

#include "boolgrad/circuit/builder.h"
#include "boolgrad/circuit/passes/passes.h"
#include "boolgrad/circuit/sinks.h"
#include "boolgrad/circuit/table.h"
#include "boolgrad/logic/gate_sink.h"

namespace boolgrad::circuit {
namespace {

constexpr Truth always = ~Truth{0};
constexpr int xor_cost = 3;

bool implies(Truth f, Truth g) { return (f & ~g) == 0; }

/// How a function is built.
struct Plan {
  enum Kind : std::uint8_t { literal, either, disjunction, conjunction, multiplexer, exclusive_or };
  Kind kind = literal;
  std::uint8_t variable = 0;
  bool complemented = false;  ///< the variable is
  int cost = 1 << 20;
  Truth first = 0;   ///< f0 or f1 of disjunctions and conjunctions, f0 of the others
  Truth second = 0;  ///< g or h, or f1 of a multiplexer
};

class Planner {
 public:
  const Plan& plan(Truth f) {
    const auto known = plans_.find(f);
    if (known != plans_.end()) return known->second;
    const Plan found = find(f);
    return plans_.emplace(f, found).first->second;
  }

 private:
  int cost(Truth f) { return plan(f).cost; }

  Plan find(Truth f) {
    std::vector<std::size_t> support;
    for (std::size_t j = 0; j < max_variables; ++j) {
      if (depends(f, j)) support.push_back(j);
    }
    if (support.empty()) return {.cost = 0};
    if (support.size() == 1) {
      return {.variable = static_cast<std::uint8_t>(support[0]),
              .complemented = (f & 1) != 0,
              .cost = 0};
    }
    Plan best;
    for (const std::size_t j : support) split(f, j, best);
    return best;
  }

  void keep(const Plan& plan, Plan& best) {
    if (plan.cost < best.cost) best = plan;
  }

  void split(Truth f, std::size_t j, Plan& best) {
    const Truth f0 = cofactor(f, j, false);
    const Truth f1 = cofactor(f, j, true);
    const auto variable = static_cast<std::uint8_t>(j);
    if (f0 == ~f1) {
      keep({Plan::exclusive_or, variable, false, xor_cost + cost(f0), f0, 0}, best);
      return;
    }
    if (implies(f0, f1)) {
      monotone(f0, f1, variable, false, best);
    } else if (implies(f1, f0)) {
      monotone(f1, f0, variable, true, best);
    } else {
      keep({Plan::multiplexer, variable, false, 3 + cost(f0) + cost(f1), f0, f1}, best);
    }
  }

  /// `low` implies `high`, which is f where the literal is 1.
  void monotone(Truth low, Truth high, std::uint8_t variable, bool complemented, Plan& best) {
    const int own_low = cost(low);
    const int own_high = cost(high);
    const int one = low == 0 || high == always ? 1 : 2;
    for (const Truth g : {high, high & ~low}) {
      keep({Plan::disjunction, variable, complemented,
            one + own_low + (g == high ? own_high : cost(g)), low, g},
           best);
      if (low == 0) return;
    }
    for (const Truth h : {low, low | ~high}) {
      keep({Plan::conjunction, variable, complemented,
            one + own_high + (h == low ? own_low : cost(h)), high, h},
           best);
    }
  }

  std::unordered_map<Truth, Plan> plans_;
};

class Builder {
 public:
  explicit Builder(logic::GateSink& sink) : sink_(sink) {}

  logic::Signal build(Truth f, std::span<const logic::Signal> inputs) {
    if (f == 0 || f == always) return sink_.constant(f == always);
    const Plan plan = planner_.plan(f);
    const logic::Signal x = inputs[plan.variable];
    // Tables of two inputs absorb the complement of x, the first one.
    const auto gate = [&](bool disjunction, logic::Signal rest) {
      const std::uint64_t truth = disjunction ? (plan.complemented ? 0b1101 : 0b1110)
                                              : (plan.complemented ? 0b0100 : 0b1000);
      return sink_.gate(std::array{x, rest}, truth);
    };
    const auto joined = [&](bool disjunction, logic::Signal a, logic::Signal b) {
      return sink_.gate(std::array{a, b}, disjunction ? 0b1110 : 0b1000);
    };
    switch (plan.kind) {
      case Plan::literal: return plan.complemented ? sink_.gate(std::array{x}, 0b01) : x;
      case Plan::exclusive_or: return sink_.gate(std::array{x, build(plan.first, inputs)}, 0b0110);
      case Plan::disjunction: {
        if (plan.second == always) return gate(true, build(plan.first, inputs));
        const logic::Signal product = gate(false, build(plan.second, inputs));
        return plan.first == 0 ? product : joined(true, build(plan.first, inputs), product);
      }
      case Plan::conjunction: {
        const logic::Signal sum = gate(true, build(plan.second, inputs));
        return plan.first == always ? sum : joined(false, build(plan.first, inputs), sum);
      }
      default: {
        const logic::Signal one = sink_.gate(std::array{x, build(plan.second, inputs)}, 0b1000);
        const logic::Signal zero = sink_.gate(std::array{x, build(plan.first, inputs)}, 0b0100);
        return joined(true, one, zero);
      }
    }
  }

 private:
  logic::GateSink& sink_;
  Planner planner_;
};

/// Gates of two inputs, with XOR and XNOR as `xor_cost`.
std::int64_t weight(const Netlist& netlist) {
  constexpr std::uint64_t parity = 0b0110;
  constexpr std::uint64_t equality = 0b1001;
  std::int64_t sum = 0;
  for (const NetlistGate& gate : netlist.gates) {
    if (gate.arity < 2) continue;
    sum += gate.truth == parity || gate.truth == equality ? xor_cost : 1;
  }
  return sum;
}

}  // namespace

Netlist decompose_for_cells(const Netlist& netlist) {
  NetlistBuilder builder(netlist);
  FoldingNetlistSink sink(builder);
  Builder tables(sink);
  std::vector<logic::Signal> signals;
  for (std::size_t i = 0; i < netlist.inputs.size(); ++i)
    signals.push_back(builder.input(i).code());
  for (const NetlistGate& gate : netlist.gates) {
    std::vector<logic::Signal> inputs;
    for (const Net net : gate.sources()) inputs.push_back(signals[net]);
    signals.push_back(gate.arity < 3 ? sink.gate(inputs, gate.truth)
                                     : tables.build(stretched(gate.truth, gate.arity), inputs));
  }
  std::vector<BitLiteral> outputs;
  for (const Net net : netlist.output_nets) outputs.push_back(BitLiteral::from_code(signals[net]));
  return builder.finish(outputs);
}

Netlist form_for_cells(const Netlist& tables, const Netlist& gates) {
  // Gates that nothing reads do not count.
  Netlist decomposed = remove_dangling_gates(structural_hashing(decompose_for_cells(tables)));
  Netlist plain = decompose(gates);
  return weight(decomposed) < weight(plain) ? decomposed : plain;
}

}  // namespace boolgrad::circuit
