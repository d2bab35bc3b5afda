#include "boolgrad/autograd/custom_vjp.h"

#include <utility>

#include "boolgrad/autograd/tape_node.h"

namespace boolgrad {
namespace {

std::vector<Tensor> differentiate_again(const TensorFunction& function, const VjpContext& context) {
  const GradMode on(true);
  const std::uint64_t first = next_tape_number();
  std::vector<Tensor> inputs;
  for (std::size_t i = 0; i < context.residuals.size(); ++i) {
    const Tensor& input = context.residuals[i];
    inputs.push_back(context.needs[i] ? parameter(input) : input);
  }
  const std::vector<Tensor> outputs = function(inputs);
  return gradients_within("recomputed", first, outputs, context.upstream, inputs);
}

}  // namespace

TensorFunction custom_vjp(std::string name, CustomForward forward, Vjp backward) {
  return [name = std::move(name), forward = std::move(forward),
          backward = std::move(backward)](std::span<const Tensor> inputs) {
    ForwardResult result;
    {
      const NoGrad guard;
      result = forward(inputs);
    }
    for (Tensor& value : result.values) value = value.detach();
    return record(name, inputs, std::move(result.values), std::move(result.residuals), backward);
  };
}

TensorFunction recomputed(const TensorFunction& function) {
  return custom_vjp(
      "recomputed",
      [function](std::span<const Tensor> inputs) {
        return ForwardResult{function(inputs), {inputs.begin(), inputs.end()}};
      },
      [function](const VjpContext& context) { return differentiate_again(function, context); });
}

}  // namespace boolgrad
