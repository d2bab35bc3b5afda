// What the shaders of gate networks read: the host's side of `shaders/network/network.glsl`. Inside
// of `vulkan/`.
#pragma once

#include <cstdint>

#include "boolgrad/backend/vulkan/optimiser/hardening_arguments.h"
#include "boolgrad/backend/vulkan/optimiser/update_arguments.h"

namespace boolgrad::vulkan {

/// Constants that the shaders are compiled with, in the order of their ids.
struct NetworkConstants {
  std::uint32_t threads, arity, parametrisation, loss_kind, lanes, subgroup, head_kind, hardening,
      learns_thresholds;
};

/// How samples are stored: rows of inputs, or features that are bytes or float32.
enum class DataKind : std::int32_t { rows, bytes, floats };

/// Push constants: what a dispatch is for.
struct NetworkPush {
  std::int32_t first;
  std::int32_t samples, vectors;
  std::int32_t inputs, gates;
  std::int32_t in_row, out_row;
  std::int32_t sources, first_reader, readers;
  std::int32_t layer, first_gate, first_quad, first_logit;
  std::int32_t gates_per_row;
  std::int32_t chunks, chunk_vectors;
  std::int32_t quads;
  float factor;
  std::int32_t cases;
  DataKind data_kind;
  std::int32_t features, height, width;
  std::int32_t groups, group_parts, score_set;
  std::int32_t first_part, loss_part, parts;
  std::int32_t all_gates, logits;
};

/// What changes from step to step, or is too much for push constants.
struct NetworkArguments {
  float gamma, score_offset, score_scale, smoothing, mean, low, target_scale, width_share;
  std::int32_t parameters, second_moments;
  HardeningArguments hardening;
  UpdateArguments update;
};

/// Of an input: its feature, the threshold that this must be above, its mask, and what an offset of
/// its threshold is multiplied by.
struct NetworkInput {
  std::int32_t feature;
  float threshold, mask, range;
};

/// The case that a sample of a batch is, and how far it is shifted.
struct BatchCase {
  std::int32_t index, right, down, unused;
};

/// Readers of inputs hold a gate and, in the lowest bits, the slot that it reads with.
constexpr int reader_slot_bits = 3;

/// Bindings of the buffers.
enum NetworkBinding : std::uint8_t {
  network_arguments_binding,
  network_wires_binding,
  network_coefficients_binding,
  network_activations_binding,
  network_output_gradients_binding,
  network_sums_binding,
  network_parameters_binding,
  network_masks_binding,
  network_parameter_gradients_binding,
  network_moments_binding,
  network_parts_binding,
  network_seen_binding,
  network_input_gradients_binding,
  network_data_binding,
  network_inputs_binding,
  network_batch_binding,
  network_targets_binding,
  network_words_binding,
  network_scores_binding,
  network_bindings
};

}  // namespace boolgrad::vulkan
