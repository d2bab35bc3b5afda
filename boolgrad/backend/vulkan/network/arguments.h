// Arguments of the shaders for gate networks. Must match `shaders/network/network.glsl`. Internal
// to `vulkan/`.
#pragma once

#include <cstdint>

#include "boolgrad/backend/vulkan/optimiser/hardening_arguments.h"
#include "boolgrad/backend/vulkan/optimiser/update_arguments.h"
#include "boolgrad/options/image_transform.h"

namespace boolgrad::vulkan {

/// Specialisation constants, in the order of their ids.
struct NetworkConstants {
  std::uint32_t threads, arity, parametrisation, loss_kind, lanes, subgroup, head_kind, hardening,
      learns_thresholds, mixes_wires, weighs_outputs, shares_tables, levels;
};

/// How samples are stored: rows of inputs, or features as bytes or float32.
enum class DataKind : std::int32_t { rows, bytes, floats };

/// Push constants of a dispatch.
struct NetworkPush {
  std::int32_t first;
  std::int32_t samples, vectors;
  std::int32_t inputs, gates, tables;
  std::int32_t positions;
  std::int32_t in_row, out_row;
  std::int32_t sources, first_reader, readers;
  std::int32_t layer, first_table, first_quad, first_logit;
  std::int32_t first_sum;
  std::int32_t chunks, chunk_vectors;
  std::int32_t gates_per_row;
  float factor;
  std::int32_t groups, group_parts, score_set;
  std::int32_t first_part, loss_part, parts;
  std::int32_t all_tables;
  std::int32_t candidates;
  std::int32_t first_section;
};

/// Arguments that change from step to step, or that do not fit into push constants.
struct NetworkArguments {
  float gamma, score_scale, smoothing, mean, low, target_scale, width_share, wire_scale,
      teacher_weight, max_exponent;
  std::int32_t parameters, second_moments, first_threshold, first_exponent, only_shifts, cases;
  DataKind data_kind;
  std::int32_t features, height, width;
  HardeningArguments hardening;
  UpdateArguments update;
};

/// An input: its feature, its threshold, its mask, and the scale of its threshold offset.
struct NetworkInput {
  std::int32_t feature;
  float threshold, mask, range;
};

/// A sample of a batch: its index in the data, and its transform. Must match
/// `shaders/network/batch.glsl`.
struct BatchSample {
  std::int32_t index;
  ImageTransform transform;
};

/// A reader of an input is a gate index and, in the lowest bits, which of its inputs reads it.
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
  network_results_binding,
  network_input_gradients_binding,
  network_data_binding,
  network_inputs_binding,
  network_batch_binding,
  network_targets_binding,
  network_words_binding,
  network_scores_binding,
  network_chosen_binding,
  network_weights_binding,
  network_output_weights_binding,
  network_leaf_gradients_binding,
  network_bindings
};

}  // namespace boolgrad::vulkan
