#include "boolgrad/ops/loss.h"

#include <algorithm>
#include <string_view>
#include <vector>

#include "boolgrad/autograd/tape.h"
#include "boolgrad/backend/cpu/tensor/map.h"
#include "boolgrad/backend/cpu/tensor/permute.h"
#include "boolgrad/backend/cpu/tensor/softmax.h"
#include "boolgrad/core/fail.h"
#include "boolgrad/ops/checks.h"
#include "boolgrad/ops/shaping.h"

namespace boolgrad {
namespace {

using cpu::MapKernel;
using cpu::MapParameters;

/// The kernels of a loss that is a sum over elements.
struct LossKernels {
  MapKernel value;
  MapKernel gradient;         ///< (g, y, t)
  MapKernel target_gradient;  ///< (g, y), or equal to `gradient` if it is its negative
};

// `parameters[factor]` is the factor that turns the sum into a mean.
Tensor summed_loss(std::string_view op, const LossKernels& kernels, const Tensor& y,
                   const Tensor& target, Reduction reduction, MapParameters parameters,
                   std::size_t factor) {
  const DType dtype = common_floating_dtype(op, {y, target});
  if (y.shape() != target.shape()) {
    fail(op, "expected a target of shape {}, received {}", to_string(y.shape()),
         to_string(target.shape()));
  }
  parameters[factor] = reduction == Reduction::mean ? 1.0 / static_cast<double>(y.size()) : 1.0;
  Tensor total({}, dtype);
  cpu::map_sum(kernels.value, {y, target}, y.shape(), total, parameters);
  return record(op, {y, target}, total, {y, target},
                [kernels, parameters, factor](const VjpContext& c) {
                  const Tensor& g = c.gradient();
                  const Tensor& y = c.residual(0);
                  const Tensor& target = c.residual(1);
                  std::vector<Tensor> gradients(2);
                  if (c.needs[0]) {
                    gradients[0] = Tensor(y.shape(), y.dtype());
                    cpu::map(kernels.gradient, {g, y, target}, gradients[0], parameters);
                  }
                  if (c.needs[1]) {
                    gradients[1] = Tensor(y.shape(), y.dtype());
                    MapParameters negated = parameters;
                    negated[factor] = -negated[factor];
                    if (kernels.target_gradient == kernels.gradient) {
                      cpu::map(kernels.gradient, {g, y, target}, gradients[1], negated);
                    } else {
                      cpu::map(kernels.target_gradient, {g, y}, gradients[1], parameters);
                    }
                  }
                  return gradients;
                });
}

constexpr LossKernels squares{MapKernel::squared_error, MapKernel::squared_error_grad,
                              MapKernel::squared_error_grad};

Shape without_axis(const Shape& shape, std::int64_t axis) {
  return reduced_shape(shape, {axis}, false);
}

// Labels as int64, each checked to be a class.
Tensor checked_labels(const Tensor& logits, const Tensor& labels, std::int64_t axis) {
  if (labels.dtype() != DType::int32 && labels.dtype() != DType::int64) {
    fail("cross_entropy", "expected labels of int32 or int64, received {}",
         to_string(labels.dtype()));
  }
  const Shape samples = without_axis(logits.shape(), axis);
  if (labels.shape() != samples) {
    fail("cross_entropy", "expected labels of shape {}, received {}", to_string(samples),
         to_string(labels.shape()));
  }
  Tensor wide = cast(labels, DType::int64);
  const std::int64_t classes = logits.shape()[static_cast<std::size_t>(axis)];
  const auto values = wide.values<std::int64_t>();
  for (std::size_t i = 0; i < values.size(); ++i) {
    if (values[i] < 0 || values[i] >= classes) {
      fail("cross_entropy", "expected labels below {} classes, received {} at sample {}", classes,
           values[i], i);
    }
  }
  return wide;
}

// Sum over samples of (largest - logit of the label) + log sum, in order, in double.
template <class T>
double total_cross_entropy(const Tensor& logits, const Tensor& labels, const Tensor& largest,
                           const Tensor& log_sum, const cpu::AxisView& view) {
  const auto x = logits.values<T>();
  const auto label = labels.values<std::int64_t>();
  const auto top = largest.values<T>();
  const auto rest = log_sum.values<T>();
  double total = 0;
  for (std::size_t i = 0; i < label.size(); ++i) {
    const auto sample = static_cast<std::int64_t>(i);
    const std::int64_t row = sample / view.inner * view.length + label[i];
    const auto at = static_cast<std::size_t>(row * view.inner + sample % view.inner);
    total +=
        (static_cast<double>(top[i]) - static_cast<double>(x[at])) + static_cast<double>(rest[i]);
  }
  return total;
}

}  // namespace

Tensor sum_of_squares(const Tensor& y, const Tensor& target) {
  return summed_loss("sum_of_squares", squares, y, target, Reduction::sum, {}, 0);
}

Tensor mean_squared_error(const Tensor& y, const Tensor& target) {
  return summed_loss("mean_squared_error", squares, y, target, Reduction::mean, {}, 0);
}

Tensor l4(const Tensor& y, const Tensor& target) {
  return summed_loss(
      "l4",
      {MapKernel::quartic_error, MapKernel::quartic_error_grad, MapKernel::quartic_error_grad}, y,
      target, Reduction::sum, {}, 0);
}

Tensor binary_cross_entropy(const Tensor& y, const Tensor& target, Reduction reduction) {
  return summed_loss(
      "binary_cross_entropy",
      {MapKernel::cross_entropy, MapKernel::cross_entropy_grad, MapKernel::cross_entropy_grad_t}, y,
      target, reduction, {}, 0);
}

Tensor focal(const Tensor& y, const Tensor& target, const FocalOptions& options) {
  if (!(options.gamma >= 0)) {
    fail("focal", "expected gamma of 0 or more, received {}", options.gamma);
  }
  const double one = options.alpha.value_or(1);
  const double zero = options.alpha ? 1 - *options.alpha : 1;
  return summed_loss("focal", {MapKernel::focal, MapKernel::focal_grad, MapKernel::focal_grad_t}, y,
                     target, options.reduction, {options.gamma, one, zero}, 3);
}

// d/dx = softmax(x) - 1 at the label
Tensor cross_entropy(const Tensor& logits, const Tensor& labels,
                     const CrossEntropyOptions& options) {
  const DType dtype = common_floating_dtype("cross_entropy", {logits});
  const std::int64_t axis = resolve_axis("cross_entropy", options.axis, logits.rank());
  const Tensor label = checked_labels(logits, labels, axis);
  const cpu::AxisView view = cpu::axis_view(logits.shape(), axis);
  const Tensor x = cpu::converted(logits, dtype == DType::float64 ? dtype : DType::float32);
  Tensor largest(labels.shape(), x.dtype());
  Tensor log_sum(labels.shape(), x.dtype());
  cpu::log_sum_exp(x, view, largest, log_sum);
  const double factor =
      options.reduction == Reduction::mean ? 1.0 / static_cast<double>(label.size()) : 1.0;
  const double total = x.dtype() == DType::float32
                           ? total_cross_entropy<float>(x, label, largest, log_sum, view)
                           : total_cross_entropy<double>(x, label, largest, log_sum, view);
  // The difference of two float16 logits can exceed the largest float16.
  const double value =
      dtype == DType::float16 ? std::min<double>(total * factor, Float16::largest) : total * factor;
  return record("cross_entropy", {logits, labels}, Tensor::scalar(value, dtype),
                {x, label, largest, log_sum}, [view, factor](const VjpContext& c) {
                  const Tensor& x = c.residual(0);
                  Tensor gx(x.shape(), x.dtype());
                  cpu::cross_entropy_grad(x, c.residual(1), c.residual(2), c.residual(3),
                                          factor * c.gradient().item(), view, gx);
                  return std::vector{cpu::converted(gx, c.gradient().dtype()), Tensor()};
                });
}

Tensor loss_of(const LossOptions& options, const Tensor& y, const Tensor& target) {
  switch (options.kind) {
    case LossKind::squares: return sum_of_squares(y, target);
    case LossKind::l4: return l4(y, target);
    case LossKind::bce: return binary_cross_entropy(y, target);
    case LossKind::focal: return focal(y, target, {.gamma = options.focal_gamma});
  }
  fail("loss", "unknown loss {}", static_cast<int>(options.kind));
}

}  // namespace boolgrad
