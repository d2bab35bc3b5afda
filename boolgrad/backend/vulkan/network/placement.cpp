#include "boolgrad/backend/vulkan/network/placement.h"

#include <algorithm>
#include <limits>

#include "boolgrad/backend/device/network_checks.h"
#include "boolgrad/backend/plan/network_rows.h"
#include "boolgrad/backend/vulkan/network/arguments.h"
#include "boolgrad/core/error.h"

namespace boolgrad::vulkan {
namespace {

/// Shaders count in 32 bits.
void check_size(std::span<const LutWires> layers, const NetworkSpec& spec) {
  std::int64_t rows = layers.front().inputs;
  std::int64_t most = 0;
  for (const LutWires& layer : layers) {
    rows += layer.gates;
    most += layer.gates * std::max(logit_count(spec.parametrisation, layer.arity), std::int64_t{8});
  }
  most = std::max(most, rows * spec.batch);
  if (spec.batch < 1 || most > std::numeric_limits<std::int32_t>::max()) {
    fail("vulkan",
         "expected fewer than 2^31 logits and activations, received {} gates and a batch of {}",
         rows - layers.front().inputs, spec.batch);
  }
}

/// The order in which gates are best taken, their sources; the same of inputs, where the readers of
/// each begin, and the readers.
void add_wires(const LutWires& layer, const LayerRows& rows, LayerLayout& placed,
               std::vector<std::int32_t>& wires) {
  const auto end = [&] { return static_cast<int>(wires.size()); };
  wires.insert(wires.end(), rows.gate_order.begin(), rows.gate_order.end());
  placed.sources = end();
  wires.insert(wires.end(), layer.sources.begin(), layer.sources.end());
  wires.insert(wires.end(), rows.input_order.begin(), rows.input_order.end());
  placed.first_reader = end();
  for (const std::size_t first : layer.first_consumer) {
    wires.push_back(static_cast<std::int32_t>(first));
  }
  placed.readers = end();
  for (const Consumer& consumer : layer.consumers) {
    wires.push_back(consumer.gate << reader_slot_bits | consumer.slot);
  }
}

}  // namespace

std::vector<std::int64_t> NetworkLayout::gates_of_layers() const {
  std::vector<std::int64_t> result;
  for (const LayerLayout& layer : layers) result.push_back(layer.gates);
  return result;
}

NetworkLayout network_layout(std::span<const LutWires> layers, const NetworkSpec& spec) {
  check_layers("vulkan", layers, spec);
  check_size(layers, spec);
  const std::vector<LayerRows> rows = plan_network_rows(layers, 0);
  const NetworkOffsets offsets = plan_network_offsets(layers, spec);
  NetworkLayout layout;
  layout.rows = static_cast<int>(layers.front().inputs);
  layout.widest = static_cast<int>(spec.score_rows(0));
  layout.gates = static_cast<int>(offsets.gates);
  layout.logits = static_cast<int>(offsets.logits);
  layout.logit_shapes = logit_shapes(layers, spec);
  layout.input_factor = static_cast<float>(offsets.input_gradient_factor);
  int in_row = 0;
  for (std::size_t i = 0; i < layers.size(); ++i) {
    const LutWires& layer = layers[i];
    LayerLayout placed{};
    placed.number = static_cast<int>(i);
    placed.inputs = static_cast<int>(layer.inputs);
    placed.gates = static_cast<int>(layer.gates);
    placed.arity = layer.arity;
    placed.in_row = in_row;
    placed.out_row = in_row = layout.rows;
    placed.first_gate = static_cast<int>(offsets.layers[i].first_gate);
    placed.first_quad = layout.quads;
    placed.first_logit = static_cast<int>(offsets.layers[i].first_logit);
    placed.first_part = layout.gradient_parts;
    // Gradients are linear in those of the outputs, so what layers above multiply them by may be
    // multiplied when they are complete.
    placed.factor = static_cast<float>(offsets.layers[i].gradient_factor);
    placed.table_threads = placed.gates * (spec.parametrisation == Parametrisation::softmax16
                                               ? 1
                                               : static_cast<int>(layer.entries()));
    add_wires(layer, rows[i], placed, layout.wires);
    layout.rows += placed.gates;
    layout.quads += placed.gates * placed.quads();
    layout.gradient_parts += (placed.table_threads + network_threads - 1) / network_threads;
    layout.widest = std::max(layout.widest, placed.gates);
    layout.layers.push_back(placed);
  }
  return layout;
}

}  // namespace boolgrad::vulkan
