#include "boolgrad/backend/vulkan/network/placement.h"

#include <algorithm>
#include <array>
#include <bit>
#include <limits>
#include <utility>

#include "boolgrad/backend/device/network_checks.h"
#include "boolgrad/backend/plan/network_buffers.h"
#include "boolgrad/backend/plan/network_stages.h"
#include "boolgrad/backend/plan/network_trees.h"
#include "boolgrad/backend/vulkan/network/arguments.h"
#include "boolgrad/core/fail.h"

namespace boolgrad::vulkan {
namespace {

/// Vectors of samples of the outputs of a kernel whose gradients a workgroup sums: two per thread.
constexpr std::int64_t vectors_per_section = 2 * network_threads;
constexpr std::int64_t max_sections = 64;

/// Shaders use 32-bit indices.
void check_size(std::span<const LutWires> layers, const NetworkSpec& spec) {
  std::int64_t rows = layers.front().layer_inputs();
  std::int64_t leaf_rows = 0;
  std::int64_t gates = 0;
  std::int64_t max_count = 0;
  for (const LutWires& layer : layers) {
    rows += layer.gates + layer.candidates.slots;
    if (layer.shares_tables()) leaf_rows = std::max(leaf_rows, 2 * layer.gates);
    gates += layer.gates;
    max_count +=
        layer.gates * std::max(logit_count(spec.parametrisation, layer.arity), std::int64_t{8}) +
        layer.candidates.slots * layer.candidates.count;
  }
  max_count = std::max(max_count, std::max(rows, leaf_rows) * spec.batch);
  if (spec.batch < 1 || max_count > std::numeric_limits<std::int32_t>::max()) {
    fail("vulkan",
         "expected fewer than 2^31 logits and activations, received {} gates and a batch of {}",
         gates, spec.batch);
  }
}

bool reads_outside(const LutWires& layer, std::size_t gate, std::int64_t slot) {
  return !layer.outside.empty() && ((layer.outside[gate] >> slot) & 1) != 0;
}

/// Appends the sources of all gates; -1 is a place outside of an image.
void add_sources(const LutWires& layer, LayerLayout& placed, std::vector<std::int32_t>& wires) {
  placed.sources = static_cast<int>(wires.size());
  for (std::size_t i = 0; i < layer.sources.size(); ++i) {
    const auto arity = static_cast<std::size_t>(layer.arity);
    const bool is_outside = reads_outside(layer, i / arity, static_cast<std::int64_t>(i % arity));
    wires.push_back(is_outside ? -1 : layer.sources[i]);
  }
}

/// Appends the gates in processing order and their sources; then the inputs in processing order,
/// the start of each input's readers, and the readers.
void add_wires(const LutWires& layer, const LayerBuffers& rows, LayerLayout& placed,
               std::vector<std::int32_t>& wires) {
  wires.insert(wires.end(), rows.gate_order.begin(), rows.gate_order.end());
  add_sources(layer, placed, wires);
  wires.insert(wires.end(), rows.input_order.begin(), rows.input_order.end());
  placed.first_reader = static_cast<int>(wires.size());
  std::vector<std::int32_t> readers;
  for (std::size_t input = 0; input + 1 < layer.first_consumer.size(); ++input) {
    wires.push_back(static_cast<std::int32_t>(readers.size()));
    for (std::size_t k = layer.first_consumer[input]; k < layer.first_consumer[input + 1]; ++k) {
      const auto [gate, slot] = layer.consumers[k];
      if (reads_outside(layer, static_cast<std::size_t>(gate), slot)) continue;
      readers.push_back(gate << reader_slot_bits | slot);
    }
  }
  wires.push_back(static_cast<std::int32_t>(readers.size()));
  placed.readers = static_cast<int>(wires.size());
  wires.insert(wires.end(), readers.begin(), readers.end());
}

/// Appends the candidates, the start of each input's uses, and the uses; nothing if all inputs are
/// candidates.
void add_candidates(const CandidateWires& candidates, LayerLayout& placed,
                    std::vector<std::int32_t>& wires) {
  placed.sources = -1;
  if (candidates.has_all()) return;
  const auto append = [&](std::span<const std::int32_t> values) {
    const auto first = static_cast<int>(wires.size());
    wires.insert(wires.end(), values.begin(), values.end());
    return first;
  };
  placed.sources = append(candidate_sources(candidates));
  placed.first_reader = append(candidates.first_use);
  placed.readers = append(candidates.uses);
}

/// Appends the lists of a plan of trees; then the kernel, the outputs and the number within the
/// kernel of each section.
void add_plan(const TreePlan& plan, LayerLayout& placed, std::vector<std::int32_t>& wires) {
  const auto append = [&](std::span<const std::int32_t> values) {
    const auto first = static_cast<int>(wires.size());
    wires.insert(wires.end(), values.begin(), values.end());
    return first;
  };
  append(plan.outputs);
  append(plan.kernels);
  placed.sources = append(plan.leaves);
  placed.first_reader = append(plan.first_leaf_row);
  placed.readers = append(plan.leaf_rows);
  placed.first_section = static_cast<int>(wires.size());
  placed.sections = static_cast<int>(plan.sections.size());
  for (std::size_t i = 0; i < plan.sections.size(); ++i) {
    const layout::TreeSection& section = plan.sections[i];
    const auto number =
        static_cast<std::int32_t>(i) - plan.first_section[static_cast<std::size_t>(section.kernel)];
    append(std::array{section.kernel, section.begin, section.end, number});
    placed.sum_chunks = std::max(placed.sum_chunks, number + 1);
  }
}

class LayoutPlanner {
 public:
  LayoutPlanner(std::int64_t inputs, const NetworkSpec& spec) : spec_(spec) {
    layout_.rows = layout_.hard_rows = static_cast<int>(inputs);
    layout_.widest = static_cast<int>(spec.score_count(0));
  }

  void add_layer(const LutWires& layer, const LayerBuffers& rows, const LayerOffsets& offsets) {
    add_slots(layer, offsets);
    const std::size_t number = layout_.layers.size();
    layout_.stages.push_back({.first = number, .last = number, .trees = {}});
    LayerLayout gates = with_tables(layer, offsets);
    add_wires(layer, rows, gates, layout_.wires);
    place(gates);
    layout_.layers.push_back(gates);
  }

  void add_trees(const GateTrees& trees, std::span<const LutWires> layers,
                 std::span<const LayerOffsets> offsets) {
    add_slots(layers.front(), offsets.front());
    const std::size_t first = layout_.layers.size();
    LayerLayout placed = layout_of(trees);
    for (std::size_t i = 0; i < layers.size(); ++i) {
      LayerLayout layer = with_tables(layers[i], offsets[i]);
      if (i > 0) layout_.slots.emplace_back();
      if (i == 0) placed.first_quad = layer.first_quad;
      add_sources(layers[i], layer, layout_.wires);
      layer.turn = placed.turn;
      layer.in_row = placed.in_row;
      layer.out_row = placed.out_row;
      layer.sum_chunks = placed.sum_chunks;
      layout_.layers.push_back(layer);
    }
    layout_.stages.push_back({.first = first, .last = layout_.layers.size() - 1, .trees = placed});
  }

  NetworkLayout take() { return std::move(layout_); }

 private:
  void add_slots(const LutWires& layer, const LayerOffsets& offsets) {
    layout_.slots.emplace_back();
    if (layer.learns_wires()) layout_.slots.back() = slots_of(layer, offsets);
  }

  LayerLayout slots_of(const LutWires& layer, const LayerOffsets& offsets) {
    const CandidateWires& candidates = layer.candidates;
    LayerLayout slots{};
    slots.inputs = static_cast<int>(candidates.real_inputs());
    slots.gates = static_cast<int>(candidates.slots);
    slots.arity = layer.arity;
    slots.shares_tables = candidates.positions > 1 || candidates.has_outside;
    slots.tables = static_cast<int>(candidates.logit_slots());
    slots.positions = static_cast<int>(candidates.positions);
    slots.candidates = static_cast<int>(candidates.count);
    slots.has_outside = candidates.has_outside;
    slots.first_table = layout_.logit_slots;
    slots.first_quad = layout_.weights;
    slots.first_logit = static_cast<int>(offsets.first_wire_logit);
    slots.table_threads = slots.tables * slots.lanes();
    add_candidates(candidates, slots, layout_.wires);
    layout_.logit_slots += slots.tables;
    layout_.weights += slots.tables * slots.candidates;
    add_parts(slots, offsets);
    place(slots);
    return slots;
  }

  LayerLayout layout_of(const GateTrees& trees) {
    LayerLayout placed{};
    placed.inputs = static_cast<int>(trees.inputs);
    placed.gates = static_cast<int>(trees.outputs);
    placed.arity = static_cast<int>(trees.pool);
    placed.levels = trees.levels;
    placed.tables = static_cast<int>(trees.kernels());
    placed.positions = 1;
    placed.number = static_cast<int>(layout_.layers.size());
    const std::int64_t vectors = (spec_.batch + 3) / 4;
    const std::int64_t sections = trees.outputs / trees.kernels() * vectors / vectors_per_section;
    add_plan(plan_trees(trees, std::clamp<std::int64_t>(sections, 1, max_sections)), placed,
             layout_.wires);
    place(placed);
    return placed;
  }

  /// A layer with its tables, which is not placed yet.
  LayerLayout with_tables(const LutWires& layer, const LayerOffsets& offsets) {
    LayerLayout gates{};
    gates.inputs = static_cast<int>(layer.inputs);
    gates.gates = static_cast<int>(layer.gates);
    gates.arity = layer.arity;
    gates.pools = layer.pools;
    gates.shares_tables = layer.shares_tables();
    gates.tables = static_cast<int>(layer.tables());
    gates.positions = static_cast<int>(layer.positions);
    gates.first_table = static_cast<int>(offsets.first_table);
    gates.first_quad = layout_.quads;
    gates.first_logit = static_cast<int>(offsets.first_logit);
    gates.table_threads = gates.tables * (spec_.parametrisation == Parametrisation::softmax16
                                              ? 1
                                              : static_cast<int>(layer.entries()));
    layout_.quads += gates.tables * gates.quads();
    add_parts(gates, offsets);
    return gates;
  }

  /// The gradients of logits of gates and slots, and their words in the hardened circuit.
  void add_parts(LayerLayout& to, const LayerOffsets& offsets) {
    to.number = static_cast<int>(layout_.layers.size());
    to.first_part = layout_.gradient_parts;
    // Gradients are linear in those of the outputs, so the factors of the layers above can be
    // applied at the end.
    to.factor = static_cast<float>(offsets.gradient_factor);
    layout_.gradient_parts += (to.table_threads + network_threads - 1) / network_threads;
    to.hard_in_row = hard_in_row_;
    to.hard_out_row = hard_in_row_ = layout_.hard_rows;
    layout_.hard_rows += to.gates;
  }

  /// The activations of slots and stages, which read the rows of those placed before.
  void place(LayerLayout& placed) {
    placed.turn = turns_++;
    placed.in_row = in_row_;
    placed.out_row = in_row_ = layout_.rows;
    layout_.rows += placed.gates;
    layout_.widest = std::max(layout_.widest, placed.gates);
  }

  const NetworkSpec& spec_;
  NetworkLayout layout_;
  int in_row_ = 0;
  int hard_in_row_ = 0;
  int turns_ = 0;
};

}  // namespace

int LayerLayout::lanes() const {
  constexpr int max_lanes = 32;
  return static_cast<int>(std::bit_floor(static_cast<unsigned>(std::min(candidates, max_lanes))));
}

CandidateWires LayerLayout::size() const {
  return {.inputs = inputs + (has_outside ? 1 : 0),
          .slots = gates,
          .count = candidates,
          .positions = positions,
          .has_outside = has_outside};
}

std::vector<std::int64_t> NetworkLayout::tables_of_layers() const {
  std::vector<std::int64_t> result;
  for (const LayerLayout& layer : layers) result.push_back(layer.tables);
  return result;
}

std::vector<std::int32_t> candidate_sources(const CandidateWires& candidates) {
  std::vector<std::int32_t> sources(candidates.sources.begin(), candidates.sources.end());
  std::ranges::replace_if(
      sources, [&](std::int32_t source) { return source >= candidates.real_inputs(); }, -1);
  return sources;
}

NetworkLayout network_layout(std::span<const LutWires> layers, const NetworkSpec& spec) {
  check_layers("vulkan", layers, spec);
  check_size(layers, spec);
  const std::vector<LayerBuffers> rows = plan_network_buffers(layers, 0);
  const NetworkOffsets offsets = plan_network_offsets(layers, spec);
  LayoutPlanner planner(layers.front().layer_inputs(), spec);
  for (const NetworkStage& stage : network_stages(layers, spec.fuses_convolutions)) {
    if (stage.trees) {
      planner.add_trees(*stage.trees, layers.subspan(stage.first, stage.layers),
                        std::span(offsets.layers).subspan(stage.first, stage.layers));
    } else {
      planner.add_layer(layers[stage.first], rows[stage.first], offsets.layers[stage.first]);
    }
  }
  NetworkLayout layout = planner.take();
  layout.tables = static_cast<int>(offsets.tables);
  layout.logits = static_cast<int>(offsets.logits + offsets.wire_logits);
  layout.exponents = spec.max_exponent > 0 ? static_cast<int>(layout.outputs()) : 0;
  layout.weighs_outputs = layout.exponents > 0 || (spec.head && !spec.head->exponents.empty());
  layout.logit_shapes = logit_shapes(layers, spec);
  layout.input_factor = static_cast<float>(offsets.input_gradient_factor);
  return layout;
}

}  // namespace boolgrad::vulkan
