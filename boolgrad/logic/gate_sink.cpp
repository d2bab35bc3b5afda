#include "boolgrad/logic/gate_sink.h"

#include <array>
#include <cstddef>
#include <utility>

#include "boolgrad/core/fail.h"

namespace boolgrad::logic {
namespace {

std::vector<Signal> emit_layer(const Wiring& wiring, const Tensor& tables,
                               std::span<const Signal> inputs, GateSink& sink) {
  const std::span<const std::uint8_t> entries = tables.values<std::uint8_t>();
  const std::span<const std::int32_t> sources = wiring.sources();
  const auto arity = static_cast<std::size_t>(wiring.arity());
  const std::size_t size = std::size_t{1} << arity;
  std::array<Signal, max_gate_inputs> read{};
  std::vector<Signal> outputs(static_cast<std::size_t>(wiring.gates()));
  for (std::size_t gate = 0; gate < outputs.size(); ++gate) {
    for (std::size_t slot = 0; slot < arity; ++slot) {
      read[slot] = inputs[static_cast<std::size_t>(sources[gate * arity + slot])];
    }
    std::uint64_t truth = 0;
    for (std::size_t e = 0; e < size; ++e) truth |= std::uint64_t{entries[gate * size + e]} << e;
    outputs[gate] = sink.gate(std::span(read).first(arity), truth);
  }
  return outputs;
}

}  // namespace

std::vector<Signal> emit(const Network& network, std::vector<Signal> inputs, GateSink& sink) {
  if (std::ssize(inputs) != network.inputs()) {
    fail("emit", "expected {} inputs, received {}", network.inputs(), inputs.size());
  }
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    const bool is_masked = network.input_mask().at(static_cast<std::int64_t>(i)) < 0.5;
    if (is_masked) inputs[i] = sink.constant(false);
  }
  return emit_layers(network, 0, std::move(inputs), sink);
}

std::vector<Signal> emit_layers(const Network& network, std::size_t first,
                                std::vector<Signal> inputs, GateSink& sink) {
  for (std::size_t layer = first; layer < network.layers().size(); ++layer) {
    inputs =
        emit_layer(*network.layers()[layer].wiring, network.hard_gates_of(layer), inputs, sink);
  }
  return inputs;
}

}  // namespace boolgrad::logic
