// What the shaders of gate networks read: the host's side of `shaders/network.glsl`. Inside of
// `vulkan/`.
#pragma once

#include <cstdint>

#include "boolgrad/backend/vulkan/optimiser/update_arguments.h"

namespace boolgrad::vulkan {

/// Constants that the shaders are compiled with, in the order of their numbers.
struct NetworkConstants {
  std::uint32_t threads, arity, tables, loss_form, lanes, subgroup;
};

/// Where data come from.
enum class DataForm : std::int32_t { rows, bytes, numbers };

/// Push constants: what a dispatch is for.
struct NetworkPush {
  std::int32_t first;
  std::int32_t samples, vectors;
  std::int32_t inputs, gates;
  std::int32_t in_row, out_row;
  std::int32_t sources, first_reader, readers;
  std::int32_t first_gate, first_quad, first_logit;
  std::int32_t gates_a_row;
  std::int32_t wants_gradients;
  std::int32_t chunks, chunk_vectors;
  std::int32_t quads;
  float factor;
  std::int32_t cases;
  DataForm data_form;
  std::int32_t features, height, width;
  std::int32_t classes, class_parts;
  std::int32_t first_part, loss_part, parts;
  std::int32_t logits;
  std::int32_t table_words;
};

/// What changes from run to run.
struct NetworkNumbers {
  float share, gamma, score_scale, smoothing, mean;
  UpdateArguments update;
};

/// Of an input: its feature, the level that this must be above, and its mask.
struct NetworkInput {
  std::int32_t feature;
  float level, mask, unused;
};

/// The case that a sample is, and how far it is moved.
struct PickedCase {
  std::int32_t number, right, down, unused;
};

/// Of a sample: whether soft outputs are wrong, how many hardened ones, and whether any.
struct NetworkMistakes {
  std::uint32_t soft_case, hard_bits, hard_case, unused;
};

/// Readers of inputs hold a gate and, in the lowest bits, the slot that it reads with.
constexpr int reader_slot_bits = 3;

/// Bindings of the buffers.
enum NetworkBinding : std::uint8_t {
  network_numbers_binding,
  network_wires_binding,
  network_coefficients_binding,
  network_activations_binding,
  network_output_gradients_binding,
  network_sums_binding,
  network_logits_binding,
  network_masks_binding,
  network_logit_gradients_binding,
  network_moments_binding,
  network_parts_binding,
  network_seen_binding,
  network_input_gradients_binding,
  network_data_binding,
  network_inputs_binding,
  network_picked_binding,
  network_targets_binding,
  network_words_binding,
  network_mistakes_binding,
  network_scores_binding,
  network_bindings
};

}  // namespace boolgrad::vulkan
