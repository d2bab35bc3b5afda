#include "boolgrad/backend/vulkan/network/placement.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include "boolgrad/backend/plan/gate_order.h"
#include "boolgrad/backend/device/network_checks.h"
#include "boolgrad/backend/vulkan/network/arguments.h"
#include "boolgrad/core/error.h"

namespace boolgrad::vulkan {
namespace {

/// Shaders count in 32 bits.
void check_size(std::span<const LutWires> layers, const NetworkPlan& plan) {
  std::int64_t rows = layers.front().inputs;
  std::int64_t most = 0;
  for (const LutWires& layer : layers) {
    rows += layer.gates;
    most += layer.gates * std::max(plan.logits_of(layer), std::int64_t{8});
  }
  most = std::max(most, rows * plan.batch);
  if (plan.batch < 1 || most > std::numeric_limits<std::int32_t>::max()) {
    fail("vulkan",
         "expected fewer than 2^31 logits and activations, received {} gates and a batch of {}",
         rows - layers.front().inputs, plan.batch);
  }
}

/// The order in which gates are best taken, their sources; the same of inputs, where the readers of
/// each begin, and the readers.
void add_wires(const LutWires& layer, PlacedLayer& placed, std::vector<std::int32_t>& wires) {
  const auto place = [&] { return static_cast<int>(wires.size()); };
  std::vector<std::int32_t> gates(static_cast<std::size_t>(layer.gates));
  std::vector<std::int32_t> inputs(static_cast<std::size_t>(layer.inputs));
  std::iota(gates.begin(), gates.end(), 0);
  std::iota(inputs.begin(), inputs.end(), 0);
  if (layer.arity == 2) {
    gates = walk_of_gates(layer, 0, layer.gates);
    inputs = walk_of_inputs(layer, gates);
  }
  wires.insert(wires.end(), gates.begin(), gates.end());
  placed.sources = place();
  wires.insert(wires.end(), layer.sources.begin(), layer.sources.end());
  wires.insert(wires.end(), inputs.begin(), inputs.end());
  placed.first_reader = place();
  for (const std::size_t first : layer.first_consumer) {
    wires.push_back(static_cast<std::int32_t>(first));
  }
  placed.readers = place();
  for (const Consumer& consumer : layer.consumers) {
    wires.push_back(consumer.gate << reader_slot_bits | consumer.slot);
  }
}

}  // namespace

std::vector<std::int64_t> NetworkPlaces::gates_of_layers() const {
  std::vector<std::int64_t> result;
  for (const PlacedLayer& layer : layers) result.push_back(layer.gates);
  return result;
}

NetworkPlaces places_for(std::span<const LutWires> layers, const NetworkPlan& plan) {
  check_layers("vulkan", layers, plan);
  check_size(layers, plan);
  NetworkPlaces places;
  places.rows = static_cast<int>(layers.front().inputs);
  places.widest = static_cast<int>(plan.classes);
  int in_row = 0;
  for (std::size_t i = 0; i < layers.size(); ++i) {
    const LutWires& layer = layers[i];
    const auto layers_above = static_cast<double>(layers.size() - 1 - i);
    PlacedLayer placed{};
    placed.inputs = static_cast<int>(layer.inputs);
    placed.gates = static_cast<int>(layer.gates);
    placed.arity = layer.arity;
    placed.in_row = in_row;
    placed.out_row = in_row = places.rows;
    placed.first_gate = places.gates;
    placed.first_quad = places.quads;
    placed.first_logit = places.logits;
    placed.first_part = places.gradient_parts;
    // Gradients are linear in those of the outputs, so what layers above multiply them by may be
    // multiplied when they are complete.
    placed.factor = static_cast<float>(std::pow(plan.gradient_factor, layers_above));
    placed.table_threads =
        placed.gates *
        (plan.parametrisation == Parametrisation::softmax16 ? 1 : static_cast<int>(layer.entries()));
    add_wires(layer, placed, places.wires);
    places.rows += placed.gates;
    places.gates += placed.gates;
    places.quads += placed.gates * placed.quads();
    places.logits += static_cast<int>(layer.gates * plan.logits_of(layer));
    places.gradient_parts += (placed.table_threads + network_threads - 1) / network_threads;
    places.widest = std::max(places.widest, placed.gates);
    places.logit_shapes.push_back({layer.gates, plan.logits_of(layer)});
    places.layers.push_back(placed);
  }
  return places;
}

}  // namespace boolgrad::vulkan
