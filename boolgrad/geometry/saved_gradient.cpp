#include "boolgrad/geometry/saved_gradient.h"

#include <vector>

#include "boolgrad/autograd/custom_vjp.h"
#include "boolgrad/core/parallel.h"
#include "boolgrad/geometry/disk.h"
#include "boolgrad/ops/shaping.h"

namespace boolgrad::geometry {
namespace {

// Values of all sets. Residual: their gradients. The loop over sets is parallel, and so may be the
// function, so both one large set and many small ones use all threads.
ForwardResult values_of(const Tensor& disks, const ValueAndGradient& function) {
  Tensor values(batch_shape(disks), DType::float64);
  Tensor gradients(disks.shape(), DType::float64);
  const auto from = disks.values<double>();
  const auto to = gradients.mutable_values<double>();
  const auto results = values.mutable_values<double>();
  const std::size_t numbers = results.empty() ? 0 : from.size() / results.size();
  parallel_for(results.size(), [&](std::size_t i) {
    results[i] = function(from.subspan(i * numbers, numbers), to.subspan(i * numbers, numbers));
  });
  return {.values = {values}, .residuals = {gradients}};
}

std::vector<Tensor> scaled_gradients(const VjpContext& context) {
  const Tensor& gradients = context.residual(0);
  Tensor result(gradients.shape(), DType::float64);
  const auto from = gradients.values<double>();
  const auto to = result.mutable_values<double>();
  const auto upstream = context.gradient().values<double>();
  const std::size_t numbers = upstream.empty() ? 0 : from.size() / upstream.size();
  for (std::size_t set = 0; set < upstream.size(); ++set) {
    for (std::size_t i = set * numbers; i < (set + 1) * numbers; ++i) {
      to[i] = upstream[set] * from[i];
    }
  }
  return {result};
}

}  // namespace

Tensor apply_with_saved_gradient(const char* name, const Tensor& disks,
                                 const ValueAndGradient& function) {
  const Tensor wide = cast(disks, DType::float64);
  check_disk_values(name, wide);
  const TensorFunction applied = custom_vjp(
      name, [&](std::span<const Tensor> inputs) { return values_of(inputs[0], function); },
      scaled_gradients);
  return cast(applied(std::vector{wide})[0], disks.dtype());
}

}  // namespace boolgrad::geometry
