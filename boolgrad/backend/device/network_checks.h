// What networks of all devices refuse, with the name of the backend in front. Inside of
// `backend/`.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

#include "boolgrad/backend/device/network.h"

namespace boolgrad {

/// Gates that the plan's tables can be of, and outputs that fall into classes.
void check_layers(std::string_view backend, std::span<const LutWires> layers,
                  const NetworkPlan& plan);

void check_float32(std::string_view backend, const Tensor& tensor, const char* what);

/// The shape of the targets of so many cases.
Shape target_shape(std::int64_t outputs, std::int64_t cases, const NetworkPlan& plan);

/// Cases as `DeviceNetwork::set_cases` takes them.
void check_cases(std::string_view backend, const Tensor& inputs, const Tensor& targets,
                 std::int64_t input_count, std::int64_t outputs, const NetworkPlan& plan);

/// Samples as `DeviceNetwork::set_samples` takes them.
void check_samples(std::string_view backend, const BitSamples& samples, const Tensor& targets,
                   std::int64_t inputs, std::int64_t outputs, const NetworkPlan& plan);

/// Tensors of all layers in these shapes.
void check_of_layers(std::string_view backend, std::span<const Tensor> tensors,
                     std::span<const Shape> shapes);

/// Masks of `gates[i]` gates each, and of the inputs.
void check_masks(std::string_view backend, std::span<const Tensor> masks,
                 std::span<const std::int64_t> gates, const Tensor& input_mask,
                 std::int64_t inputs);

/// What a step is taken on, where `cases` are there to pick from.
struct StepCases {
  std::span<const std::int64_t> picked;
  std::span<const ImageShift> moves;
};
void check_step(std::string_view backend, const StepCases& step, std::int64_t batch,
                std::int64_t cases, bool has_pictures);

}  // namespace boolgrad
