// Random graphs of ops against forward-mode differentiation of a plain evaluator.
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <utility>
#include <vector>

#include "boolgrad/autograd/tape.h"
#include "boolgrad/ops/activation.h"
#include "boolgrad/ops/arithmetic.h"
#include "boolgrad/ops/matrix.h"
#include "boolgrad/ops/reduction.h"
#include "boolgrad/ops/shaping.h"
#include "tests/fuzz/byte_source.h"
#include "tests/fuzz/targets.h"

namespace boolgrad::fuzz {
namespace {

/// A matrix of values and of their derivatives in one direction.
struct Dual {
  std::size_t rows = 0;
  std::size_t columns = 0;
  std::vector<double> value;
  std::vector<double> slope;

  Dual(std::size_t height, std::size_t width)
      : rows(height), columns(width), value(height * width), slope(height * width) {}
};

/// A matrix on the tape and in the plain evaluator.
struct Node {
  Tensor tensor;
  Dual dual;
};

/// f(a, b) with broadcasting; `f` writes value and slope of one element.
template <class Function>
Dual broadcast(const Dual& a, const Dual& b, const Function& f) {
  Dual result(std::max(a.rows, b.rows), std::max(a.columns, b.columns));
  const auto index = [](const Dual& x, std::size_t i, std::size_t j) {
    return (x.rows == 1 ? 0 : i) * x.columns + (x.columns == 1 ? 0 : j);
  };
  for (std::size_t i = 0; i < result.rows; ++i) {
    for (std::size_t j = 0; j < result.columns; ++j) {
      const std::size_t at = i * result.columns + j;
      const std::size_t in_a = index(a, i, j);
      const std::size_t in_b = index(b, i, j);
      const auto [value, slope] = f(a.value[in_a], a.slope[in_a], b.value[in_b], b.slope[in_b]);
      result.value[at] = value;
      result.slope[at] = slope;
    }
  }
  return result;
}

bool broadcasts(const Dual& a, const Dual& b) {
  return (a.rows == b.rows || a.rows == 1 || b.rows == 1) &&
         (a.columns == b.columns || a.columns == 1 || b.columns == 1);
}

using ValueAndSlope = std::pair<double, double>;

ValueAndSlope sum_of(double a, double da, double b, double db) { return {a + b, da + db}; }
ValueAndSlope difference_of(double a, double da, double b, double db) { return {a - b, da - db}; }
ValueAndSlope product_of(double a, double da, double b, double db) {
  return {a * b, da * b + a * db};
}

/// f(a); `f` gives value and derivative.
template <class Function>
Dual each(const Dual& a, const Function& f) {
  Dual result = a;
  for (std::size_t i = 0; i < a.value.size(); ++i) {
    const auto [value, derivative] = f(a.value[i]);
    result.value[i] = value;
    result.slope[i] = derivative * a.slope[i];
  }
  return result;
}

ValueAndSlope tanh_of(double x) { return {std::tanh(x), 1 - std::tanh(x) * std::tanh(x)}; }
ValueAndSlope sigmoid_of(double x) {
  const double y = 1 / (1 + std::exp(-x));
  return {y, y * (1 - y)};
}

Dual transposed(const Dual& a) {
  Dual result(a.columns, a.rows);
  for (std::size_t i = 0; i < a.rows; ++i) {
    for (std::size_t j = 0; j < a.columns; ++j) {
      result.value[j * a.rows + i] = a.value[i * a.columns + j];
      result.slope[j * a.rows + i] = a.slope[i * a.columns + j];
    }
  }
  return result;
}

/// The sum over rows.
Dual summed(const Dual& a) {
  Dual result(1, a.columns);
  for (std::size_t i = 0; i < a.value.size(); ++i) {
    result.value[i % a.columns] += a.value[i];
    result.slope[i % a.columns] += a.slope[i];
  }
  return result;
}

Dual product(const Dual& a, const Dual& b) {
  Dual result(a.rows, b.columns);
  for (std::size_t i = 0; i < a.rows; ++i) {
    for (std::size_t j = 0; j < b.columns; ++j) {
      const std::size_t at = i * b.columns + j;
      for (std::size_t k = 0; k < a.columns; ++k) {
        const auto [value, slope] =
            product_of(a.value[i * a.columns + k], a.slope[i * a.columns + k],
                       b.value[k * b.columns + j], b.slope[k * b.columns + j]);
        result.value[at] += value;
        result.slope[at] += slope;
      }
    }
  }
  return result;
}

Dual stacked(const Dual& a, const Dual& b) {
  Dual result(a.rows + b.rows, a.columns);
  std::ranges::copy(b.value, std::ranges::copy(a.value, result.value.begin()).out);
  std::ranges::copy(b.slope, std::ranges::copy(a.slope, result.slope.begin()).out);
  return result;
}

Dual first_row(const Dual& a) {
  Dual result(1, a.columns);
  std::copy_n(a.value.begin(), a.columns, result.value.begin());
  std::copy_n(a.slope.begin(), a.columns, result.slope.begin());
  return result;
}

Node leaf(ByteSource& source) {
  constexpr std::size_t largest_side = 3;
  Dual dual(1 + source.below(largest_side), 1 + source.below(largest_side));
  for (double& value : dual.value) value = source.value();
  for (double& slope : dual.slope) slope = source.value();
  const Shape shape{static_cast<std::int64_t>(dual.rows), static_cast<std::int64_t>(dual.columns)};
  return {parameter(Tensor::of(dual.value, shape)), std::move(dual)};
}

/// The next node of a graph; operands that do not fit the op give a tanh.
Node next_node(ByteSource& source, const std::vector<Node>& nodes) {
  const std::size_t op = source.below(9);
  const Node& a = nodes[source.below(nodes.size())];
  const Node& b = nodes[source.below(nodes.size())];
  const bool fit = broadcasts(a.dual, b.dual);
  if (op == 0 && fit) return {a.tensor + b.tensor, broadcast(a.dual, b.dual, sum_of)};
  if (op == 1 && fit) return {a.tensor - b.tensor, broadcast(a.dual, b.dual, difference_of)};
  if (op == 2 && fit) return {a.tensor * b.tensor, broadcast(a.dual, b.dual, product_of)};
  if (op == 3) return {sigmoid(a.tensor), each(a.dual, sigmoid_of)};
  if (op == 4) return {transpose(a.tensor), transposed(a.dual)};
  if (op == 5) return {sum(a.tensor, {.axes = Axes{0}, .keepdims = true}), summed(a.dual)};
  if (op == 6 && a.dual.columns == b.dual.rows) {
    return {matmul(a.tensor, b.tensor), product(a.dual, b.dual)};
  }
  if (op == 7 && a.dual.columns == b.dual.columns && a.dual.rows + b.dual.rows <= 8) {
    const std::vector<Tensor> parts{a.tensor, b.tensor};
    return {concatenate(parts, 0), stacked(a.dual, b.dual)};
  }
  if (op == 8) return {slice(a.tensor, 0, 0, 1), first_row(a.dual)};
  return {tanh(a.tensor), each(a.dual, tanh_of)};
}

/// Values stay small, so that rounding does.
void bound(Node& node) {
  constexpr double largest = 16;
  const auto is_large = [](double x) { return std::abs(x) > largest; };
  if (std::ranges::none_of(node.dual.value, is_large)) return;
  node = {tanh(node.tensor), each(node.dual, tanh_of)};
}

}  // namespace

void differentiate_graph(Bytes bytes) {
  ByteSource source(bytes);
  std::vector<Node> nodes;
  const std::size_t leaves = 1 + source.below(4);
  for (std::size_t i = 0; i < leaves; ++i) nodes.push_back(leaf(source));
  constexpr std::size_t max_nodes = 64;
  while (!source.empty() && nodes.size() < max_nodes) {
    nodes.push_back(next_node(source, nodes));
    bound(nodes.back());
  }
  const Node& last = nodes.back();
  const Tensor total = sum(last.tensor);
  std::vector<Tensor> parameters;
  for (std::size_t i = 0; i < leaves; ++i) parameters.push_back(nodes[i].tensor);
  const std::vector<Tensor> gradients = grad(total, parameters);

  constexpr double tolerance = 1e-9;
  double derivative = 0;
  double size = 1;
  for (std::size_t i = 0; i < leaves; ++i) {
    const auto gradient = gradients[i].values<double>();
    for (std::size_t j = 0; j < gradient.size(); ++j) {
      derivative += gradient[j] * nodes[i].dual.slope[j];
      size += std::abs(gradient[j] * nodes[i].dual.slope[j]);
    }
  }
  double expected = 0;
  for (std::size_t j = 0; j < last.dual.slope.size(); ++j) {
    expected += last.dual.slope[j];
    size += std::abs(last.dual.slope[j]);
    const double error =
        std::abs(last.tensor.at(static_cast<std::int64_t>(j)) - last.dual.value[j]);
    require(error <= tolerance, "ops compute what the plain evaluator does");
  }
  require(std::abs(derivative - expected) <= tolerance * size,
          "the gradient agrees with forward-mode differentiation");
}

}  // namespace boolgrad::fuzz
