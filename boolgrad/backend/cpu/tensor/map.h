// Elementwise functions over broadcast inputs, with or without a sum over the result.
//
// `map` and `map_sum` loop over the (collapsed) dimensions and split the work into tasks. The
// functions themselves are row kernels, compiled once per instruction set. The sum is taken while
// the function is evaluated, so the gradient of a broadcast operand needs no full-size temporary.
#pragma once

#include <array>
#include <cstdint>
#include <span>

#include "boolgrad/tensor/tensor.h"

namespace boolgrad::cpu {

/// The elementwise functions. `g` is an upstream gradient, `y` a saved output, `p` the parameters.
enum class MapKernel : std::uint8_t {
  // arithmetic
  copy,           // (a) a
  scale,          // (a; p0) p0 a
  add,            // (a, b)
  subtract,       // (a, b)
  multiply,       // (a, b)
  divide,         // (a, b)
  power,          // (a, b)
  floor_divide,   // (a, b)
  modulo,         // (a, b)
  divide_grad_a,  // (g, b)
  divide_grad_b,  // (g, a, b)
  power_grad_a,   // (g, a, b, y)
  power_grad_b,   // (g, a, y)
  modulo_grad_b,  // (g, a, b)
  extremum_grad,  // (g, x, m) g where x equals m
  // elementwise
  exp,        // (x)
  log,        // (x)
  log2,       // (x)
  log10,      // (x)
  sqrt,       // (x)
  abs,        // (x)
  clip,       // (x; low, high)
  log_grad,   // (g, x; 1 / ln base)
  sqrt_grad,  // (g, y)
  abs_grad,   // (g, x)
  clip_grad,  // (g, x; low, high)
  // activation
  relu,              // (x)
  leaky_relu,        // (x; alpha)
  prelu,             // (x, slope)
  sigmoid,           // (x)
  tanh,              // (x)
  gelu,              // (x)
  gelu_tanh,         // (x)
  relu_grad,         // (g, x)
  leaky_relu_grad,   // (g, x; alpha)
  prelu_grad_x,      // (g, x, slope)
  prelu_grad_slope,  // (g, x)
  sigmoid_grad,      // (g, y, x; p) from y where p0 <= y <= p1, else from x
  tanh_grad,         // (g, y, x; p) from y where -p1 <= y <= p1, else from x
  gelu_grad,         // (g, x)
  gelu_tanh_grad,    // (g, x)
  // loss: y a prediction, t a target, `factor` multiplies each term
  squared_error,         // (y, t; factor)
  quartic_error,         // (y, t; factor)
  cross_entropy,         // (y, t; factor), binary
  focal,                 // (y, t; gamma, weight of t = 1, weight of t = 0, factor)
  squared_error_grad,    // (g, y, t; factor)
  quartic_error_grad,    // (g, y, t; factor)
  cross_entropy_grad,    // (g, y, t; factor)
  cross_entropy_grad_t,  // (g, y; factor)
  focal_grad,            // (g, y, t; gamma, weights, factor)
  focal_grad_t,          // (g, y; gamma, weights, factor)
};

using MapParameters = std::array<double, 4>;

constexpr std::size_t max_map_inputs = 4;

/// out = f(inputs), with each input broadcast to the shape of `out`. All have the same floating
/// dtype. `out` may share the memory of an input of the same shape.
void map(MapKernel f, std::initializer_list<Tensor> inputs, Tensor& out,
         const MapParameters& parameters = {});

/// out = the sum of f(inputs) over every axis along which the broadcast inputs (of shape `full`)
/// are larger than `out`. The order of summation depends only on the shapes.
void map_sum(MapKernel f, std::initializer_list<Tensor> inputs, const Shape& full, Tensor& out,
             const MapParameters& parameters = {});

}  // namespace boolgrad::cpu
