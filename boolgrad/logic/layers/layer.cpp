#include "boolgrad/logic/layers/layer.h"

#include <utility>

#include "boolgrad/core/random.h"

namespace boolgrad::logic {

Tensor example_values(const Shape& shape, std::uint64_t seed) {
  Tensor values(shape, DType::float32);
  RandomAddress at{.seed = seed};
  for (float& value : values.mutable_values<float>()) {
    value = static_cast<float>(random_uniform(at));
    ++at.index;
  }
  return values;
}

LayerResults results_of(DeviceNetwork& program, const NetworkStepArguments& arguments) {
  const double loss = program.gradients(arguments);
  std::vector<Tensor> gradients = program.parameter_gradients();
  NetworkScores scores = program.evaluate();
  return {loss, std::move(gradients), std::move(scores.soft), std::move(scores.hard)};
}

}  // namespace boolgrad::logic
