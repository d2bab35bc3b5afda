#include "boolgrad/circuit/formats/infix_formula.h"

#include <fmt/format.h>

#include <span>
#include <utility>

#include "boolgrad/circuit/formats/table_formula.h"

namespace boolgrad::circuit {
namespace {

struct InfixBuilder {
  const InfixConstants& constants;

  std::string constant(bool value) const { return value ? constants.one : constants.zero; }
  std::string negation(const std::string& a) const { return "~" + a; }
  std::string conjunction(const std::string& a, const std::string& b) const {
    return fmt::format("({} & {})", a, b);
  }
  std::string disjunction(const std::string& a, const std::string& b) const {
    return fmt::format("({} | {})", a, b);
  }
  std::string exclusive_or(const std::string& a, const std::string& b) const {
    return fmt::format("({} ^ {})", a, b);
  }
  std::string multiplexer(const std::string& by, const std::string& one,
                          const std::string& zero) const {
    return fmt::format("(({} & {}) | (~{} & {}))", by, one, by, zero);
  }
};

/// Whether the gate depends on input j.
bool depends_on(const NetlistGate& gate, unsigned j) {
  for (unsigned i = 0; i < 1U << gate.arity; ++i) {
    if (((gate.truth >> i ^ gate.truth >> (i ^ 1U << j)) & 1) != 0) return true;
  }
  return false;
}

}  // namespace

std::string infix_formula(const NetlistGate& gate, const InfixConstants& constants,
                          const std::function<std::string(Net)>& name_of) {
  std::vector<std::string> inputs;
  for (const Net net : gate.sources()) inputs.push_back(name_of(net));
  InfixBuilder build{constants};
  return table_formula<InfixBuilder, std::string>(build, gate.truth,
                                                  std::span(std::as_const(inputs)));
}

std::vector<bool> reachable_gates(const Netlist& netlist) {
  std::vector<bool> reachable(netlist.gates.size(), false);
  const auto reach = [&](Net net) {
    if (!netlist.is_input(net)) reachable[net - netlist.inputs.size()] = true;
  };
  for (const Net net : netlist.output_nets) reach(net);
  for (std::size_t i = netlist.gates.size(); i-- > 0;) {
    if (!reachable[i]) continue;
    const NetlistGate& gate = netlist.gates[i];
    for (unsigned j = 0; j < gate.arity; ++j) {
      if (depends_on(gate, j)) reach(gate.inputs[j]);
    }
  }
  return reachable;
}

}  // namespace boolgrad::circuit
