#include "boolgrad/backend/vulkan/automaton/placement.h"

#include <algorithm>
#include <array>
#include <limits>

namespace boolgrad::vulkan {

using namespace layout;

namespace {

std::size_t index(std::int64_t i) { return static_cast<std::size_t>(i); }

constexpr int max_layers = 64;
constexpr int row_bytes = 16;
/// Shared memory that shaders use in addition to the rows: layers, neighbours, and firing masks.
constexpr int other_shared_rows = max_layers + 16;
/// Shared memory usually has 32 banks of one word, and a row has four words.
constexpr int rows_on_all_banks = 8;

/// Allocates consecutive rows.
class OffsetAllocator {
 public:
  int take(int count) {
    const int first = at_;
    at_ += count;
    return first;
  }
  int count() const { return at_; }

 private:
  int at_ = 0;
};

/// The maximum over even and over odd layers.
struct EvenOddMaximum {
  std::array<int, 2> of{};
  void add(int number, int size) {
    int& largest = of[index(number & 1)];
    largest = std::max(largest, size);
  }
};

class Placer {
 public:
  Placer(const AutomatonShape& shape, const AutomatonLimits& limits)
      : limits_(limits), channels_(static_cast<int>(shape.channels)) {
    layout_.plan = plan_rule({shape.channels, shape.kernels, shape.perceive, shape.update},
                             {.layers = max_layers,
                              .tree_kernels = std::numeric_limits<int>::max(),
                              .classes = rows_on_all_banks});
    AutomatonConstants& constants = layout_.constants;
    constants.channels = channels_;
    constants.kernels = static_cast<int>(shape.kernels);
    constants.tree_outputs = plan().tree_outputs;
    constants.perceive_layers = plan().perceive_layers;
    constants.layers = static_cast<int>(plan().layers.size());
    constants.gates = plan().gates();
    constants.perceive_gates = plan().layers[index(plan().perceive_layers)].first_gate;
    constants.own_row = plan().own_row;
    constants.parametrisation = static_cast<int>(shape.parametrisation);
    constants.loss_kind = static_cast<int>(shape.loss.kind);
    constants.periodic = shape.periodic() ? 1 : 0;
    constants.several_losses = shape.loss_steps > 1 ? 1 : 0;
    constants.penalises = shape.gate_penalty > 0 ? 1 : 0;
    const int update_gates = constants.gates - constants.perceive_gates;
    layout_.sums = constants.perceive_gates * sum_columns() + update_gates;
    layout_.gates_of_tile = tile_cells * (constants.perceive_gates * channels_ + update_gates);
  }

  AutomatonLayout placed() {
    choose_threads();
    choose_distances();
    place_acts();
    place_forward();
    hold_gates();
    place_backward();
    place_table();
    return std::move(layout_);
  }

 private:
  RulePlan& plan() { return layout_.plan; }

  void choose_threads() {
    const int wanted = std::max(plan().update_width(), std::min(channels_, 128));
    layout_.threads = 32;
    while (layout_.threads < wanted && layout_.threads * 2 <= limits_.threads) {
      layout_.threads *= 2;
    }
  }

  /// How far ahead threads prefetch: as far as registers allow on GPUs; one layer on CPUs, where
  /// threads are loops.
  void choose_distances() {
    constexpr int threads_with_many_registers = 256;
    const bool has_many = layout_.threads <= threads_with_many_registers;
    layout_.constants.fetched = limits_.is_cpu ? 1 : has_many ? 16 : 8;
    layout_.constants.ahead = limits_.is_cpu ? 1 : has_many ? 4 : 2;
  }

  /// Sums per gate of perception: trees have one per two cells of a channel, other kernels one per
  /// channel.
  int sum_columns() { return (plan().tree_outputs > 0 ? 2 : 1) * channels_; }

  /// Input rows of layer `u` of the update. The inputs of the layer after the last are the outputs.
  int update_inputs(int u) {
    if (u == 0) return static_cast<int>(plan().input_reads.size());
    return plan().layers[index(plan().perceive_layers + u - 1)].gates;
  }
  int update_layers() { return layout_.constants.layers - plan().perceive_layers; }

  /// Rows for the activations of a tile: patches, the layers of perception unless kernels are
  /// trees, and the inputs of all layers of the update.
  void place_acts() {
    OffsetAllocator rows;
    int inputs_at = rows.take(neighbourhood * channels_);
    for (int l = 0; l < plan().perceive_layers; ++l) {
      Layer& layer = plan().layers[index(l)];
      layer.inputs_at = inputs_at;
      const bool is_last = l + 1 == plan().perceive_layers;
      if (!is_last && plan().tree_outputs == 0) inputs_at = rows.take(layer.gates * channels_);
    }
    for (int u = 0; u < update_layers(); ++u) {
      plan().layers[index(plan().perceive_layers + u)].inputs_at = rows.take(update_inputs(u));
    }
    layout_.constants.acts_rows = rows.count();
  }

  void place_forward() {
    AutomatonConstants& constants = layout_.constants;
    EvenOddMaximum inputs;
    for (int u = 0; u <= update_layers(); ++u) inputs.add(u, update_inputs(u));
    EvenOddMaximum perceived;
    for (int l = 0; l + 1 < plan().perceive_layers && plan().tree_outputs == 0; ++l) {
      perceived.add(l, plan().layers[index(l)].gates * channels_);
    }
    OffsetAllocator rows;
    constants.even_inputs = rows.take(inputs.of[0]);
    // Patches are no longer needed once the first layer of the update has outputs.
    constants.odd_inputs = rows.take(std::max(inputs.of[1], neighbourhood * channels_));
    constants.patch = constants.odd_inputs;
    constants.even_perceived = rows.take(perceived.of[0]);
    constants.odd_perceived = rows.take(perceived.of[1]);
    layout_.forward_rows = rows.count();
  }

  /// Each thread holds one gate of each wide layer of the update and one gate of the narrow layers
  /// after them, whose gates together fit one per thread.
  void hold_gates() {
    constexpr int max_held = 24;  // as in the shader
    AutomatonConstants& constants = layout_.constants;
    int narrow = 0;
    int held = update_layers();
    while (held > 0 && narrow + update_inputs(held) <= layout_.threads) {
      narrow += update_inputs(held--);
    }
    constants.held = held;
    layout_.holds_gates = plan().tree_outputs > 0 && plan().edges_are_in_place() &&
                          plan().update_width() <= layout_.threads && held <= max_held;
  }

  /// Reserves a staging buffer for the inputs of wide layers after the edges, if it fits. Inputs
  /// are then fetched row by row instead of by their reader.
  int stage_inputs(int at) {
    AutomatonConstants& constants = layout_.constants;
    if (!layout_.holds_gates || constants.held == 0) return 0;
    int rows = 0;
    for (int u = 0; u < constants.held; ++u) rows = std::max(rows, update_inputs(u));
    if (rows > 2 * layout_.threads) return 0;
    constants.stage = at;
    constants.stage_rows = rows;
    constants.stages = std::clamp((limits_.shared_rows - at) / rows, 0, 2);
    return constants.stages * rows;
  }

  void place_backward() {
    EvenOddMaximum edges;
    for (int l = plan().perceive_layers; l < layout_.constants.layers; ++l) {
      edges.add(l, plan().edge_rows[index(l)]);
    }
    edges.add(layout_.constants.layers, 1 + channels_);
    const auto inner = index(plan().perceive_layers & 1);
    OffsetAllocator rows;
    std::array<int, 2> edges_at{};
    edges_at[inner] = rows.take(edges.of[inner]);
    layout_.constants.leftover = rows.take(channels_);
    edges_at[1 - inner] = rows.count();
    layout_.constants.even_edges = edges_at[0];
    layout_.constants.odd_edges = edges_at[1];
    // Perception reuses the rows of edges that are no longer needed.
    const int others =
        plan().tree_outputs > 0 ? stage_kernels(rows.count()) : place_perceive_edges(rows.count());
    const int outer = edges.of[1 - inner];
    layout_.backward_rows =
        rows.count() + std::max(outer + stage_inputs(rows.count() + outer), others);
    layout_.holds_gates =
        layout_.holds_gates &&
        std::max(layout_.forward_rows, layout_.backward_rows) <= limits_.shared_rows;
  }

  /// Distributes the kernels over the threads, and stages the gradients of as many kernel groups at
  /// once as fit.
  int stage_kernels(int at) {
    AutomatonConstants& constants = layout_.constants;
    constants.staging = at;
    constants.kernel_groups = constants.kernels;
    while (constants.kernel_groups > 1 &&
           constants.kernel_groups * sum_columns() > layout_.threads) {
      constants.kernel_groups = (constants.kernel_groups + 1) / 2;
    }
    constants.staged_groups = constants.kernel_groups;
    const auto rows = [&] { return constants.staged_groups * neighbourhood * channels_; };
    while (constants.staged_groups > 1 && at + rows() > limits_.shared_rows) {
      constants.staged_groups = (constants.staged_groups + 1) / 2;
    }
    return rows();
  }

  int place_perceive_edges(int at) {
    EvenOddMaximum edges;
    for (int l = 0; l < plan().perceive_layers; ++l) {
      edges.add(l, plan().edge_rows[index(l)] * channels_);
    }
    edges.add(1, channels_);  // the row that is always 0
    layout_.constants.even_perceive_edges = at;
    layout_.constants.odd_perceive_edges = at + edges.of[0];
    layout_.constants.kernel_groups = 1;
    layout_.constants.staged_groups = 1;
    return edges.of[0] + edges.of[1];
  }

  void place_table() {
    AutomatonConstants& constants = layout_.constants;
    OffsetAllocator words;
    words.take(constants.gates);  // origin of the gates
    constants.layer_of = words.take(constants.gates);
    constants.rest = words.take(static_cast<int>(plan().rest.size()));
    constants.input_reads = words.take(2 * static_cast<int>(plan().input_reads.size()));
    constants.patch_reads = words.take(2 * neighbourhood);
    constants.positions = words.take(2 * neighbourhood);
  }

  const AutomatonLimits& limits_;
  int channels_;
  AutomatonLayout layout_;
};

}  // namespace

AutomatonLimits limits_of(const PhysicalDevice& physical) {
  const VkPhysicalDeviceLimits& device = physical.properties.limits;
  AutomatonLimits limits;
  limits.is_cpu = physical.is_cpu;
  constexpr int groups_per_processor = 2;
  constexpr int slots_of_cpu = 16;
  limits.slots = physical.is_cpu ? slots_of_cpu : physical.processors * groups_per_processor;
  constexpr std::uint32_t max_threads = 512;
  constexpr std::uint32_t max_threads_of_cpu = 32;
  limits.threads = static_cast<int>(
      std::min({device.maxComputeWorkGroupInvocations, device.maxComputeWorkGroupSize[0],
                physical.is_cpu ? max_threads_of_cpu : max_threads}));
  limits.shared_rows =
      static_cast<int>(device.maxComputeSharedMemorySize / row_bytes) - other_shared_rows;
  limits.buffer_bytes = device.maxStorageBufferRange;
  // A multiprocessor of a slow GPU computes some hundred million gates per second, a CPU core some
  // ten million.
  constexpr double gates_per_processor = 3e7;
  limits.gates_per_submission = physical.is_cpu ? 4e6 : gates_per_processor * physical.processors;
  return limits;
}

AutomatonLayout automaton_layout(const AutomatonShape& shape, const AutomatonLimits& limits) {
  return Placer(shape, limits).placed();
}

}  // namespace boolgrad::vulkan
