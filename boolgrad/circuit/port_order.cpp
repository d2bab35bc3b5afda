#include "boolgrad/circuit/port_order.h"

#include <map>
#include <string_view>

namespace boolgrad::circuit {
namespace {

using Order = std::vector<std::size_t>;

/// For each name of `to`, its position in `from`; none if the names are not the same.
std::optional<Order> order_by_name(const std::vector<std::string>& from,
                                   const std::vector<std::string>& to) {
  if (from.size() != to.size()) return std::nullopt;
  std::map<std::string_view, std::size_t> positions;
  for (std::size_t i = 0; i < from.size(); ++i) positions.emplace(from[i], i);
  Order order;
  for (const std::string& name : to) {
    const auto found = positions.find(name);
    if (found == positions.end()) return std::nullopt;
    order.push_back(found->second);
  }
  return order;
}

}  // namespace

std::optional<Netlist> with_port_order(const Netlist& netlist,
                                       const std::vector<std::string>& inputs,
                                       const std::vector<std::string>& outputs) {
  const auto input_order = order_by_name(netlist.inputs, inputs);
  const auto output_order = order_by_name(netlist.outputs, outputs);
  if (!input_order || !output_order) return std::nullopt;
  std::vector<Net> nets(inputs.size());
  for (std::size_t i = 0; i < nets.size(); ++i) nets[(*input_order)[i]] = static_cast<Net>(i);
  Netlist result = netlist;
  const auto moved = [&](Net net) { return netlist.is_input(net) ? nets[net] : net; };
  for (NetlistGate& gate : result.gates) {
    for (std::size_t j = 0; j < gate.arity; ++j) gate.inputs[j] = moved(gate.inputs[j]);
  }
  for (std::size_t o = 0; o < output_order->size(); ++o) {
    result.output_nets[o] = moved(netlist.output_nets[(*output_order)[o]]);
  }
  result.inputs = inputs;
  result.outputs = outputs;
  return result;
}

}  // namespace boolgrad::circuit
