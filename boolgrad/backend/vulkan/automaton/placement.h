// How the work of an automaton is cut for a device, and its layout in buffers. Inside of `vulkan/`.
#pragma once

#include <cstdint>

#include "boolgrad/backend/device/automaton.h"
#include "boolgrad/backend/plan/automaton_plan.h"
#include "boolgrad/backend/vulkan/automaton/arguments.h"
#include "boolgrad/backend/vulkan/runtime/context.h"

namespace boolgrad::vulkan {

/// Words of cells that a group of threads takes at a time.
constexpr int tile_cells = 4;

/// Threads of a group that works on a list of items, not on tiles.
constexpr int list_threads = 128;

/// Limits of a device that decide how work is cut.
struct AutomatonLimits {
  bool is_cpu = false;
  int slots = 1;               ///< groups that have sums of their own, at most
  int threads = list_threads;  ///< of a group, at most
  int shared_rows = 0;         ///< of four words
  std::uint64_t buffer_bytes = 0;
  double gates_per_submission =
      0;  ///< gates of cells in a quarter of a second, even on slow devices
};

AutomatonLimits limits_of(const PhysicalDevice& physical);

/// A rule laid out. The work memory of stepping, of going back, and of both in one differ in size.
struct AutomatonLayout {
  RulePlan plan;  ///< with the rows of the inputs of layers among the activations as `inputs_at`
  AutomatonConstants constants{};
  int threads = list_threads;
  int forward_rows = 0;
  int backward_rows = 0;
  int sums = 0;  ///< of a slot
  /// Whether threads can hold their gates of all layers, so that a dispatch takes all steps.
  bool holds_gates = false;
  double gates_of_tile = 0;  ///< of all its cells and channels
};

AutomatonLayout automaton_layout(const AutomatonShape& shape, const AutomatonLimits& limits);

}  // namespace boolgrad::vulkan
