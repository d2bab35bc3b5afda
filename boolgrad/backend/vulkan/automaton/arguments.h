// What the shaders of automata read: the host's side of `shaders/automaton.glsl`. Inside of
// `vulkan/`.
#pragma once

#include <cstdint>

#include "boolgrad/backend/vulkan/optimiser/update_arguments.h"

namespace boolgrad::vulkan {

/// Constants that the shaders are compiled with, in the order of their numbers from 1 on.
struct AutomatonConstants {
  int channels, kernels, tree_outputs, perceive_layers, layers, perceive_gates, gates, own_row;
  int softmax, loss_form, periodic;
  int work_rows, acts_rows;
  int even_inputs, odd_inputs, patch, even_perceived, odd_perceived;
  int even_edges, odd_edges, leftover, staging, kernel_groups, even_perceive_edges,
      odd_perceive_edges;
  int layer_of, rest, input_reads, patch_reads, places;
  int fetched, ahead;
  int held;
  int staged_groups;
  int stage, stage_rows, stages;
};

/// Push constants: what a dispatch is for.
struct AutomatonPush {
  int step, steps;
  int cells, all_cells;
  int width, height, grid_cells;
  int first_tile, end_tile;
  int slots;
  int from, to, last;
  int read_from, read_to;
  int kept;
  int begins_sums;
  int loss_channels;
  float gamma;
  int parts;
  int finish_groups;
};

/// What changes from run to run.
struct AutomatonNumbers {
  std::uint32_t seed_low, seed_high;
  std::uint32_t start_stream, fire_stream, hard_stream;
  std::uint32_t draw;
  std::uint32_t drawn_cells;
  std::uint32_t random_starts;
  std::uint32_t fire_mode;
  std::uint32_t fire_always, fire_below;
  std::uint32_t hard_form;
  float share;
  std::uint32_t share_always, share_below;
  std::uint32_t gate_below_high, gate_below_low;
  UpdateArguments update;
};

/// Bindings of the buffers.
enum AutomatonBinding : std::uint8_t {
  numbers_binding,
  wires_binding,
  table_binding,
  coefficients_binding,
  states_binding,
  fire_binding,
  target_binding,
  acts_binding,
  read_binding,
  sums_binding,
  scratch_binding,
  logits_binding,
  masks_binding,
  gradients_binding,
  moments_binding,
  parts_binding,
  loss_parts_binding,
  seen_binding,
  finite_binding,
  around_binding,
  waiting_binding,
  waiting_beside_binding,
  automaton_bindings
};

}  // namespace boolgrad::vulkan
