// Argument checks of the networks of all devices. Messages start with the name of the backend.
// Internal to `backend/`.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

#include "boolgrad/backend/device/network.h"

namespace boolgrad {

/// Checks that the parametrisation supports the arities and that the head divides the outputs.
void check_layers(std::string_view backend, std::span<const LutWires> layers,
                  const NetworkSpec& spec);

/// Checks that `tensor` is float32.
void check_float32(std::string_view backend, const Tensor& tensor, const char* what);

/// The shape of the targets of `samples` samples.
Shape target_shape(std::int64_t outputs, std::int64_t samples, const NetworkSpec& spec);

/// Checks the arguments of `DeviceNetwork::set_cases`.
void check_cases(std::string_view backend, const Tensor& inputs, const Tensor& targets,
                 std::int64_t input_count, std::int64_t outputs, const NetworkSpec& spec);

/// Checks the arguments of `DeviceNetwork::set_samples`.
void check_samples(std::string_view backend, const FeatureSamples& samples, const Tensor& targets,
                   std::int64_t inputs, std::int64_t outputs, const NetworkSpec& spec);

/// Checks that parameters, or their moments, have these shapes.
void check_of_layers(std::string_view backend, std::span<const Tensor> tensors,
                     std::span<const Shape> shapes);

/// Checks the masks of layers of `tables[i]` tables, and of the inputs.
void check_masks(std::string_view backend, std::span<const Tensor> masks,
                 std::span<const std::int64_t> tables, const Tensor& input_mask,
                 std::int64_t inputs);

/// Checks that `given` has as many slots and candidates as `own`, the candidates of a layer.
void check_candidates(std::string_view backend, std::size_t layer, const CandidateWires& own,
                      const CandidateWires& given);

/// The training data available to a step.
struct StepData {
  std::int64_t samples = 0;
  bool has_images = false;
};

/// Checks a step with `batch` samples of a network with layers of `tables` tables.
void check_step(std::string_view backend, const NetworkStepArguments& step, std::int64_t batch,
                const StepData& data, std::span<const std::int64_t> tables);

}  // namespace boolgrad
