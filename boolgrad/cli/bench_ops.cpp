// The benchmark "ops": forward and backward of every op, in float32.
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "boolgrad/autograd/tape.h"
#include "boolgrad/cli/bench.h"
#include "boolgrad/cli/op_cases.h"
#include "boolgrad/core/fail.h"
#include "boolgrad/core/random.h"

namespace boolgrad::cli {
namespace {

double largest_error(const OpValues& values, const OpValues& expected) {
  double error = relative_error(values.out, expected.out);
  for (std::size_t i = 0; i < values.gradients.size(); ++i) {
    if (!expected.gradients[i].defined()) continue;
    const double next = relative_error(values.gradients[i], expected.gradients[i]);
    if (!(next <= error)) error = next;  // so that a NaN stays
  }
  return error;
}

BenchmarkRow bench_case(const OpCase& of, int repeat) {
  const OpCase single = rounded_to(of, DType::float32);
  BenchmarkRow row{.name = of.name, .time = {}};
  row.error = largest_error(compute(single), of.expected);
  row.time = measure([&] { compute(single); }, repeat);
  return row;
}

/// Uniform in [low, high), rounded to float32.
Tensor random_tensor(const Shape& shape, const OpDomain& domain, std::uint32_t stream) {
  Tensor result(shape, DType::float32);
  std::uint64_t index = 0;
  for (float& value : result.mutable_values<float>()) {
    const double at = random_uniform({.seed = 1, .stream = stream, .index = index++});
    value = static_cast<float>(domain.low + at * (domain.high - domain.low));
  }
  return result;
}

Tensor random_labels(std::int64_t count, std::uint64_t classes, std::uint32_t stream) {
  Tensor result({count}, DType::int64);
  std::uint64_t index = 0;
  for (std::int64_t& value : result.mutable_values<std::int64_t>()) {
    value = static_cast<std::int64_t>(
        random_below({.seed = 1, .stream = stream, .index = index++}, classes));
  }
  return result;
}

std::vector<Shape> standard_shapes(OpShapes kind) {
  switch (kind) {
    case OpShapes::one: return {{1000, 1000}};
    case OpShapes::broadcast:
    case OpShapes::equal: return {{1000, 1000}, {1000, 1000}};
    case OpShapes::matrices: return {{512, 512}, {512, 512}};
    case OpShapes::channels:
    case OpShapes::labels: return {{1000, 1000}, {1000}};
  }
  return {};
}

/// An op on one million elements, with float64 results as the reference.
OpCase standard_case(const OpEntry& op) {
  OpCase result{.name = std::string(op.name), .op = &op};
  const std::vector<Shape> shapes = standard_shapes(op.shapes);
  for (std::uint32_t i = 0; i < shapes.size(); ++i) {
    const bool labels = op.shapes == OpShapes::labels && i == 1;
    result.inputs.push_back(labels ? random_labels(shapes[i][0], 1000, i)
                                   : random_tensor(shapes[i], op.domains[i], i));
    // A defined tensor requests the gradient.
    result.expected.gradients.push_back(labels ? Tensor() : result.inputs.back());
  }
  {
    const NoGrad no_grad;
    const Tensor out = op.apply(result.inputs, result.options);
    result.upstream = random_tensor(out.shape(), {}, static_cast<std::uint32_t>(shapes.size()));
  }
  result.expected = compute(rounded_to(result, DType::float64));
  return result;
}

}  // namespace

void bench_ops(const BenchOptions& options, const Report& report, nlohmann::json& /*facts*/) {
  if (options.file.empty()) {
    for (const OpEntry& op : op_table()) report(bench_case(standard_case(op), options.repeat));
    return;
  }
  const TensorFile file = load_safetensors(options.file);
  if (!holds_op_cases(file)) {
    fail("bench", "{}: expected inputs and outputs of ops, received other tensors", options.file);
  }
  for (const OpCase& of : read_op_cases(options.file, file)) {
    report(bench_case(of, options.repeat));
  }
}

}  // namespace boolgrad::cli
