#include "boolgrad/ops/arithmetic.h"

#include <string_view>
#include <vector>

#include "boolgrad/autograd/tape.h"
#include "boolgrad/backend/cpu/tensor/map.h"
#include "boolgrad/ops/checks.h"

namespace boolgrad {
namespace {

using cpu::MapKernel;

Tensor forward(std::string_view op, MapKernel f, const Tensor& a, const Tensor& b) {
  const DType dtype = common_floating_dtype(op, {a, b});
  Tensor out(broadcast_shapes(op, a.shape(), b.shape()), dtype);
  cpu::map(f, {a, b}, out);
  return out;
}

// f(inputs) summed to the shape of the operand whose gradient it is.
Tensor summed(MapKernel f, std::initializer_list<Tensor> inputs, const Tensor& upstream,
              const Shape& shape, double factor = 1) {
  Tensor out(shape, upstream.dtype());
  cpu::map_sum(f, inputs, upstream.shape(), out, {factor});
  return out;
}

// The upstream gradient times a factor, summed to `shape`; the same tensor if nothing changes.
Tensor passed(const Tensor& g, const Shape& shape, double factor) {
  if (factor == 1 && g.shape() == shape) return g;
  return summed(factor == 1 ? MapKernel::copy : MapKernel::scale, {g}, g, shape, factor);
}

// An op whose derivatives are the constants 1 and `db`.
Tensor linear(std::string_view op, MapKernel f, const Tensor& a, const Tensor& b, double db) {
  return record(op, {a, b}, forward(op, f, a, b), {},
                [a_shape = a.shape(), b_shape = b.shape(), db](const VjpContext& c) {
                  std::vector<Tensor> gradients(2);
                  if (c.needs[0]) gradients[0] = passed(c.gradient(), a_shape, 1);
                  if (c.needs[1]) gradients[1] = passed(c.gradient(), b_shape, db);
                  return gradients;
                });
}

}  // namespace

Tensor add(const Tensor& a, const Tensor& b) { return linear("add", MapKernel::add, a, b, 1); }

Tensor subtract(const Tensor& a, const Tensor& b) {
  return linear("subtract", MapKernel::subtract, a, b, -1);
}

// d(ab)/da = b, d(ab)/db = a
Tensor multiply(const Tensor& a, const Tensor& b) {
  return record("multiply", {a, b}, forward("multiply", MapKernel::multiply, a, b), {a, b},
                [](const VjpContext& c) {
                  const Tensor& g = c.gradient();
                  const Tensor& a = c.residual(0);
                  const Tensor& b = c.residual(1);
                  std::vector<Tensor> gradients(2);
                  if (c.needs[0]) gradients[0] = summed(MapKernel::multiply, {g, b}, g, a.shape());
                  if (c.needs[1]) gradients[1] = summed(MapKernel::multiply, {g, a}, g, b.shape());
                  return gradients;
                });
}

// d(a/b)/da = 1/b, d(a/b)/db = -a/b^2
Tensor divide(const Tensor& a, const Tensor& b) {
  return record("divide", {a, b}, forward("divide", MapKernel::divide, a, b), {a, b},
                [](const VjpContext& c) {
                  const Tensor& g = c.gradient();
                  const Tensor& a = c.residual(0);
                  const Tensor& b = c.residual(1);
                  std::vector<Tensor> gradients(2);
                  if (c.needs[0]) {
                    gradients[0] = summed(MapKernel::divide_grad_a, {g, b}, g, a.shape());
                  }
                  if (c.needs[1]) {
                    gradients[1] = summed(MapKernel::divide_grad_b, {g, a, b}, g, b.shape());
                  }
                  return gradients;
                });
}

// d(a^b)/da = b a^(b-1), d(a^b)/db = a^b ln a
Tensor power(const Tensor& a, const Tensor& b) {
  const Tensor y = forward("power", MapKernel::power, a, b);
  return record("power", {a, b}, y, {a, b, y}, [](const VjpContext& c) {
    const Tensor& g = c.gradient();
    const Tensor& a = c.residual(0);
    const Tensor& b = c.residual(1);
    const Tensor& y = c.residual(2);
    std::vector<Tensor> gradients(2);
    if (c.needs[0]) gradients[0] = summed(MapKernel::power_grad_a, {g, a, b, y}, g, a.shape());
    if (c.needs[1]) gradients[1] = summed(MapKernel::power_grad_b, {g, a, y}, g, b.shape());
    return gradients;
  });
}

// Piecewise constant: the derivative is 0, which undefined gradients stand for.
Tensor floor_divide(const Tensor& a, const Tensor& b) {
  return record("floor_divide", {a, b}, forward("floor_divide", MapKernel::floor_divide, a, b), {},
                [](const VjpContext& /*c*/) { return std::vector<Tensor>(2); });
}

// d(a mod b)/da = 1, d(a mod b)/db = -floor(a/b)
Tensor modulo(const Tensor& a, const Tensor& b) {
  return record("modulo", {a, b}, forward("modulo", MapKernel::modulo, a, b), {a, b},
                [](const VjpContext& c) {
                  const Tensor& g = c.gradient();
                  const Tensor& a = c.residual(0);
                  const Tensor& b = c.residual(1);
                  std::vector<Tensor> gradients(2);
                  if (c.needs[0]) gradients[0] = passed(g, a.shape(), 1);
                  if (c.needs[1]) {
                    gradients[1] = summed(MapKernel::modulo_grad_b, {g, a, b}, g, b.shape());
                  }
                  return gradients;
                });
}

Tensor scale(const Tensor& a, double factor) {
  Tensor out(a.shape(), common_floating_dtype("scale", {a}));
  cpu::map(MapKernel::scale, {a}, out, {factor});
  return record("scale", {a}, out, {}, [factor](const VjpContext& c) {
    return std::vector{passed(c.gradient(), c.gradient().shape(), factor)};
  });
}

}  // namespace boolgrad
