// How the work of an automaton is divided for a device, and its layout in buffers. Internal to
// `vulkan/`.
#pragma once

#include <cstdint>

#include "boolgrad/backend/device/automaton.h"
#include "boolgrad/backend/plan/automaton_plan.h"
#include "boolgrad/backend/vulkan/automaton/arguments.h"
#include "boolgrad/backend/vulkan/runtime/context.h"

namespace boolgrad::vulkan {

/// Words of cells that a workgroup processes at a time.
constexpr int tile_cells = 4;

/// Workgroup size of shaders that process lists instead of tiles.
constexpr int list_threads = 128;

/// Device limits that determine the tiling.
struct AutomatonLimits {
  bool is_cpu = false;
  int slots = 1;               ///< maximum number of workgroups with their own sums
  int threads = list_threads;  ///< maximum workgroup size
  int shared_rows = 0;         ///< rows of four words in shared memory
  std::uint64_t buffer_bytes = 0;
  double gates_per_submission = 0;  ///< gate evaluations that take about 1/4 s on slow devices
};

AutomatonLimits limits_of(const PhysicalDevice& physical);

/// The layout of a rule. The forward shader, the backward shader and the combined one need
/// different amounts of work memory.
struct AutomatonLayout {
  RulePlan plan;  ///< with `inputs_at` as a row among the activations
  AutomatonConstants constants{};
  int threads = list_threads;
  int forward_rows = 0;
  int backward_rows = 0;
  int sums = 0;  ///< sums per slot
  /// Whether threads can hold their gates of all layers, so that one dispatch takes all steps.
  bool holds_gates = false;
  double gates_of_tile = 0;  ///< over all cells and channels of a tile
};

AutomatonLayout automaton_layout(const AutomatonShape& shape, const AutomatonLimits& limits);

}  // namespace boolgrad::vulkan
