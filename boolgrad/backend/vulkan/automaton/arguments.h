// Arguments of the automaton shaders. Must match `shaders/automaton/automaton.glsl`. Internal to
// `vulkan/`.
#pragma once

#include <cstdint>

#include "boolgrad/backend/vulkan/optimiser/hardening_arguments.h"
#include "boolgrad/backend/vulkan/optimiser/update_arguments.h"

namespace boolgrad::vulkan {

/// Specialisation constants, in the order of their ids from 1 on.
struct AutomatonConstants {
  int channels, kernels, tree_outputs, perceive_layers, layers, perceive_gates, gates, own_row;
  int parametrisation, loss_kind, periodic;
  int work_rows, acts_rows;
  int even_inputs, odd_inputs, patch, even_perceived, odd_perceived;
  int even_edges, odd_edges, leftover, staging, kernel_groups, even_perceive_edges,
      odd_perceive_edges;
  int layer_of, rest, input_reads, patch_reads, positions;
  int fetched, ahead;
  int held;
  int staged_groups;
  int stage, stage_rows, stages;
  int several_losses, hardening, penalises;
};

/// Push constants of a dispatch.
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
  int loss_steps, loss_at;
  int finish_groups;
};

/// Arguments that change from step to step.
struct AutomatonArguments {
  std::uint32_t seed_low, seed_high;
  std::uint32_t start_stream, fire_stream;
  std::uint32_t draw;
  std::uint32_t sampled_cells;
  std::uint32_t random_starts;
  std::uint32_t fire_mode;
  std::uint32_t fire_always, fire_below;
  std::uint32_t rounds_states;
  std::uint32_t round_always, round_below;
  float gate_penalty;
  HardeningArguments hardening;
  UpdateArguments update;
};

/// Bindings of the buffers.
enum AutomatonBinding : std::uint8_t {
  arguments_binding,
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
  parameters_binding,
  masks_binding,
  gradients_binding,
  moments_binding,
  parts_binding,
  loss_parts_binding,
  results_binding,
  finite_binding,
  around_binding,
  waiting_binding,
  concurrent_waiting_binding,
  automaton_bindings
};

}  // namespace boolgrad::vulkan
