#include "boolgrad/logic/layers/layer.h"

#include <utility>

namespace boolgrad {

LayerResults results_of(DeviceNetwork& program, const NetworkStepArguments& arguments) {
  const double loss = program.gradients(arguments);
  std::vector<Tensor> gradients = program.parameter_gradients();
  NetworkScores scores = program.evaluate();
  return {loss, std::move(gradients), std::move(scores.soft), std::move(scores.hard)};
}

}  // namespace boolgrad
