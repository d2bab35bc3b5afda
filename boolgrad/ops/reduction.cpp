#include "boolgrad/ops/reduction.h"

#include <algorithm>
#include <limits>
#include <string_view>
#include <vector>

#include "boolgrad/autograd/tape.h"
#include "boolgrad/backend/cpu/tensor/extremum.h"
#include "boolgrad/backend/cpu/tensor/map.h"
#include "boolgrad/backend/cpu/tensor/permute.h"
#include "boolgrad/core/fail.h"
#include "boolgrad/ops/checks.h"

namespace boolgrad {
namespace {

using cpu::MapKernel;

/// The shapes of a reduction: with the reduced axes as 1, and as the options request.
struct Reduced {
  Reduced(std::string_view op, const Tensor& x, const ReduceOptions& options)
      : axes(resolve_axes(op, options.axes, x.rank())),
        kept(reduced_shape(x.shape(), axes, true)),
        result(reduced_shape(x.shape(), axes, options.keepdims)) {
    for (const std::int64_t axis : axes) count *= x.shape()[static_cast<std::size_t>(axis)];
  }
  Axes axes;
  Shape kept;
  Shape result;
  std::int64_t count = 1;
};

Tensor scaled_sum(std::string_view op, const Tensor& x, const Reduced& reduced, double factor) {
  Tensor total(reduced.kept, common_floating_dtype(op, {x}));
  cpu::map_sum(factor == 1 ? MapKernel::copy : MapKernel::scale, {x}, x.shape(), total, {factor});
  return record(op, {x}, total.viewed_as(reduced.result), {},
                [shape = x.shape(), kept = reduced.kept, factor](const VjpContext& c) {
                  Tensor gx(shape, c.gradient().dtype());
                  cpu::map(MapKernel::scale, {c.gradient().viewed_as(kept)}, gx, {factor});
                  return std::vector{gx};
                });
}

// x with its reduced axes contiguous, viewed as [outer, length, inner]. Adjacent axes need no copy.
Tensor gathered(const Tensor& x, const Axes& axes, cpu::AxisView& view) {
  view = {};
  if (axes.empty()) {
    view.outer = x.size();
    return x;
  }
  const bool neighbours = axes.back() - axes.front() + 1 == static_cast<std::int64_t>(axes.size());
  Axes order;
  for (std::size_t i = 0; i < x.rank(); ++i) {
    const auto axis = static_cast<std::int64_t>(i);
    const bool reduced = std::ranges::binary_search(axes, axis);
    if (!reduced) order.push_back(axis);
    if (reduced) view.length *= x.shape()[i];
    else if (neighbours && axis > axes.back()) view.inner *= x.shape()[i];
    else view.outer *= x.shape()[i];
  }
  if (neighbours) return x;
  order.insert(order.end(), axes.begin(), axes.end());
  Shape shape;
  for (const std::int64_t axis : order) shape.push_back(x.shape()[static_cast<std::size_t>(axis)]);
  Tensor turned(shape, x.dtype());
  cpu::permute(x, order, turned);
  return turned;
}

// g / count: the share of each tied element.
Tensor shares(const Tensor& g, const Tensor& count) {
  Tensor result(g.shape(), g.dtype());
  visit_dtype(g.dtype(), [&](auto zero) {
    using T = decltype(zero);
    const auto ties = count.values<double>();
    const auto from = g.values<T>();
    const auto to = result.mutable_values<T>();
    for (std::size_t i = 0; i < to.size(); ++i) {
      to[i] = convert<T>(convert<double>(from[i]) / ties[i]);
    }
  });
  return result;
}

Tensor extremum(std::string_view op, bool largest, const Tensor& x, const ReduceOptions& options) {
  const DType dtype = common_floating_dtype(op, {x});
  const Reduced reduced(op, x, options);
  Tensor value(reduced.kept, dtype);
  Tensor count(reduced.kept, DType::float64);
  if (reduced.count == 0 && value.size() > 0) {
    fail(op, "expected at least one element to choose from, received shape {}",
         to_string(x.shape()));
  }
  if (value.size() > 0) {
    cpu::AxisView view;
    const Tensor turned = gathered(x, reduced.axes, view);
    cpu::extremum(largest, turned, view, value, count);
  }
  return record(op, {x}, value.viewed_as(reduced.result), {x, value, count},
                [](const VjpContext& c) {
                  const Tensor& x = c.residual(0);
                  const Tensor& value = c.residual(1);
                  const Tensor g = c.gradient().viewed_as(value.shape());
                  Tensor gx(x.shape(), x.dtype());
                  const Tensor share = shares(g, c.residual(2));
                  cpu::map(MapKernel::extremum_grad, {share, x, value}, gx);
                  return std::vector{gx};
                });
}

}  // namespace

Tensor sum(const Tensor& x, const ReduceOptions& options) {
  return scaled_sum("sum", x, Reduced("sum", x, options), 1);
}

Tensor mean(const Tensor& x, const ReduceOptions& options) {
  const Reduced reduced("mean", x, options);
  if (reduced.count == 0) {
    const double nothing = std::numeric_limits<double>::quiet_NaN();
    const Tensor none = Tensor::full(reduced.result, nothing, common_floating_dtype("mean", {x}));
    return record("mean", {x}, none, {},
                  [](const VjpContext& /*c*/) { return std::vector<Tensor>(1); });
  }
  return scaled_sum("mean", x, reduced, 1.0 / static_cast<double>(reduced.count));
}

Tensor max(const Tensor& x, const ReduceOptions& options) {
  return extremum("max", true, x, options);
}

Tensor min(const Tensor& x, const ReduceOptions& options) {
  return extremum("min", false, x, options);
}

}  // namespace boolgrad
