// What networks of all devices refuse, with the name of the backend in front. Inside of
// `backend/`.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

#include "boolgrad/backend/device/network.h"

namespace boolgrad {

/// Gates that the parametrisation has tables for, and outputs that fall into the head's groups.
void check_layers(std::string_view backend, std::span<const LutWires> layers,
                  const NetworkSpec& spec);

void check_float32(std::string_view backend, const Tensor& tensor, const char* what);

/// The shape of the targets of so many samples.
Shape target_shape(std::int64_t outputs, std::int64_t samples, const NetworkSpec& spec);

/// What `DeviceNetwork::set_cases` takes.
void check_cases(std::string_view backend, const Tensor& inputs, const Tensor& targets,
                 std::int64_t input_count, std::int64_t outputs, const NetworkSpec& spec);

/// What `DeviceNetwork::set_samples` takes.
void check_samples(std::string_view backend, const FeatureSamples& samples, const Tensor& targets,
                   std::int64_t inputs, std::int64_t outputs, const NetworkSpec& spec);

/// Parameters, or moments of them, in these shapes.
void check_of_layers(std::string_view backend, std::span<const Tensor> tensors,
                     std::span<const Shape> shapes);

/// Masks of `gates[i]` gates each, and of the inputs.
void check_masks(std::string_view backend, std::span<const Tensor> masks,
                 std::span<const std::int64_t> gates, const Tensor& input_mask,
                 std::int64_t inputs);

/// What the training data offers to a step.
struct StepData {
  std::int64_t samples = 0;
  bool has_images = false;
};

/// A step of `batch` samples of a network with layers of `gates` gates.
void check_step(std::string_view backend, const NetworkStepArguments& step, std::int64_t batch,
                const StepData& data, std::span<const std::int64_t> gates);

}  // namespace boolgrad
