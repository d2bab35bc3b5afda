#include "boolgrad/geometry/pair_area.h"

#include <vector>

#include "boolgrad/autograd/custom_vjp.h"
#include "boolgrad/backend/cpu/geometry/disk_pairs.h"
#include "boolgrad/core/error.h"
#include "boolgrad/ops/shaping.h"

namespace boolgrad::geometry {
namespace {

constexpr const char* name = "disk_pair_area";

std::size_t count_of(const Tensor& strata) { return static_cast<std::size_t>(strata.size()); }

// Value: the areas. Residuals: the disks and the strata.
ForwardResult pair_area_forward(std::span<const Tensor> inputs) {
  const Tensor& disks = inputs[0];
  Tensor areas(batch_shape(disks), DType::float64);
  Tensor strata(batch_shape(disks), DType::int32);
  const bool valid = cpu::disk_pair_areas(disks.values<double>().data(), count_of(strata),
                                          areas.mutable_values<double>().data(),
                                          strata.mutable_values<std::int32_t>().data());
  if (!valid) check_disk_values(name, disks);
  return {.values = {areas}, .residuals = {disks, strata}};
}

std::vector<Tensor> pair_area_backward(const VjpContext& context) {
  const Tensor& disks = context.residual(0);
  const Tensor& strata = context.residual(1);
  Tensor gradient(disks.shape(), DType::float64);
  cpu::disk_pair_gradients(disks.values<double>().data(), strata.values<std::int32_t>().data(),
                           context.gradient().values<double>().data(), count_of(strata),
                           gradient.mutable_values<double>().data());
  return {gradient};
}

}  // namespace

Tensor disk_pair_area(const Tensor& disks) {
  static const TensorFunction area = custom_vjp(name, pair_area_forward, pair_area_backward);
  check_disk_shape(name, disks, 2);
  return cast(area(std::vector{cast(disks, DType::float64)})[0], disks.dtype());
}

Tensor disk_pair_strata(const Tensor& disks) {
  check_disk_shape("disk_pair_strata", disks, 2);
  const Tensor wide = cast(disks.detach(), DType::float64);
  check_disk_values("disk_pair_strata", wide);
  return pair_area_forward(std::vector{wide}).residuals[1];
}

}  // namespace boolgrad::geometry
