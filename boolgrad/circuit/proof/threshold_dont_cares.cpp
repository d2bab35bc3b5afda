#include "boolgrad/circuit/proof/threshold_dont_cares.h"

#include <map>
#include <utility>
#include <vector>

#include "boolgrad/circuit/builder.h"
#include "boolgrad/circuit/passes/passes.h"
#include "boolgrad/circuit/passes/unread_entries.h"
#include "boolgrad/circuit/proof/sat_miter.h"
#include "boolgrad/circuit/table.h"
#include "boolgrad/circuit/threshold_bits.h"
#include "boolgrad/core/fail.h"

namespace boolgrad::circuit {

Netlist optimise_for_thresholds(const Netlist& netlist, const logic::Thresholds& thresholds) {
  if (std::ssize(netlist.inputs) != thresholds.bits()) {
    fail("optimise_for_thresholds", "expected a circuit of {} inputs, received {}",
         thresholds.bits(), netlist.inputs.size());
  }
  // The bits themselves as outputs, to find their nets again.
  Netlist observed = netlist;
  for (Net input = 0; input < netlist.inputs.size(); ++input) {
    observed.outputs.push_back(netlist.inputs[input]);
    observed.output_nets.push_back(input);
  }
  const Netlist behind = behind_thresholds(observed, thresholds);
  const NetFacts facts = prove_net_facts(behind);
  const std::size_t added = behind.gates.size() - netlist.gates.size();
  const auto class_of = [&](std::size_t net) {
    return facts
        .classes[net < netlist.inputs.size() ? behind.output_nets[netlist.outputs.size() + net]
                                             : net + added];
  };
  NetlistBuilder builder(netlist);
  std::map<std::uint32_t, BitLiteral> known{{0, BitLiteral(0)}};  // by node of a class
  std::vector<BitLiteral> literals;
  for (std::size_t net = 0; net < netlist.gate(netlist.gates.size()); ++net) {
    const BitLiteral own = class_of(net);
    if (const auto same = known.find(own.node()); same != known.end()) {
      literals.push_back(same->second ^ own.complemented());
      continue;
    }
    if (netlist.is_input(static_cast<Net>(net))) {
      literals.push_back(builder.input(net));
    } else {
      const std::size_t g = net - netlist.inputs.size();
      const NetlistGate& gate = netlist.gates[g];
      TableGate table{stretched(gate.truth, gate.arity), {}, false};
      for (const Net source : gate.sources()) table.inputs.push_back(literals[source]);
      const Truth read = stretched(facts.reads[added + g], gate.arity);
      literals.push_back(builder.add(canonical(without_unread(std::move(table), read))));
    }
    known.emplace(own.node(), literals.back() ^ own.complemented());
  }
  std::vector<BitLiteral> outputs;
  for (const Net net : netlist.output_nets) outputs.push_back(literals[net]);
  return remove_dangling_gates(builder.finish(outputs));
}

}  // namespace boolgrad::circuit
