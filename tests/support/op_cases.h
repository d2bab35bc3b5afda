// Random shapes, options and inputs for every op of the table.
#pragma once

#include <vector>

#include "boolgrad/ops/op_table.h"
#include "tests/support/random_tensor.h"

namespace boolgrad {

struct OpCase {
  std::vector<Shape> shapes;
  OpOptions options;
};

/// A sequence of random integers.
class Choices {
 public:
  explicit Choices(std::uint64_t seed) : seed_(seed) {}
  std::int64_t below(std::int64_t bound) {
    return static_cast<std::int64_t>(random_below({.seed = seed_, .stream = 1, .index = next_++},
                                                  static_cast<std::uint64_t>(bound)));
  }
  std::int64_t between(std::int64_t low, std::int64_t high) { return low + below(high - low + 1); }

 private:
  std::uint64_t seed_;
  std::uint64_t next_ = 0;
};

inline Shape random_shape(Choices& choose, std::int64_t least_rank, std::int64_t max_rank) {
  Shape shape;
  const std::int64_t rank = choose.between(least_rank, max_rank);
  for (std::int64_t i = 0; i < rank; ++i) shape.push_back(choose.between(1, 4));
  return shape;
}

/// A shape that broadcasts to `full`: leading axes may be missing, others may be 1.
inline Shape broadcastable(Choices& choose, const Shape& full) {
  const auto missing = choose.between(0, static_cast<std::int64_t>(full.size()));
  Shape shape(full.begin() + missing, full.end());
  for (std::int64_t& size : shape) {
    if (choose.below(3) == 0) size = 1;
  }
  return shape;
}

/// Random shapes and options for an op, small enough for central differences.
inline OpCase random_case(const OpEntry& op, std::uint64_t seed) {
  Choices choose(seed);
  OpCase result;
  switch (op.shapes) {
    case OpShapes::one: {
      const bool along_axis = op.name == "softmax";
      const Shape shape = random_shape(choose, along_axis ? 1 : 0, 3);
      const auto rank = static_cast<std::int64_t>(shape.size());
      result.shapes = {shape};
      if (along_axis) result.options.axis = choose.between(-rank, rank - 1);
      if (op.family == "reduction" && choose.below(4) > 0) {
        Axes axes;
        for (std::int64_t axis = 0; axis < rank; ++axis) {
          if (choose.below(2) == 0) axes.push_back(choose.below(2) == 0 ? axis : axis - rank);
        }
        result.options.axes = axes;
        result.options.keepdims = choose.below(2) == 0;
      }
      if (op.name == "transpose" && choose.below(2) == 0) {
        Axes axes;
        for (std::int64_t axis = 0; axis < rank; ++axis) {
          axes.insert(axes.begin() + choose.between(0, axis), axis);
        }
        result.options.axes = axes;
      }
      break;
    }
    case OpShapes::broadcast: {
      const Shape full = random_shape(choose, 0, 4);
      const bool first_full = choose.below(2) == 0;
      result.shapes = {first_full ? full : broadcastable(choose, full),
                       choose.below(3) == 0 ? full : broadcastable(choose, full)};
      break;
    }
    case OpShapes::equal: {
      const Shape shape = random_shape(choose, 0, 3);
      result.shapes = {shape, shape};
      if (choose.below(2) == 0) result.options.reduction = Reduction::mean;
      if (choose.below(2) == 0) result.options.focal = {1.5, 0.25, Reduction::mean};
      break;
    }
    case OpShapes::matrices: {
      const std::int64_t m = choose.between(1, 4);
      const std::int64_t k = choose.between(1, 4);
      const std::int64_t n = choose.between(1, 4);
      const Shape batch = random_shape(choose, 0, 2);
      Shape a = broadcastable(choose, batch);
      Shape b = broadcastable(choose, batch);
      a.insert(a.end(), {m, k});
      b.insert(b.end(), {k, n});
      const std::int64_t kind = choose.below(6);
      if (kind == 0) a = {k};
      if (kind == 1) b = {k};
      if (kind == 2) a = b = {k};
      result.shapes = {a, b};
      break;
    }
    case OpShapes::channels: {
      const Shape shape = random_shape(choose, 2, 4);
      result.shapes = {shape, choose.below(2) == 0 ? Shape{1} : Shape{shape[1]}};
      break;
    }
    case OpShapes::labels: {
      const Shape shape = random_shape(choose, 1, 3);
      const std::int64_t axis = choose.below(static_cast<std::int64_t>(shape.size()));
      result.options.axis = axis;
      if (choose.below(2) == 0) result.options.reduction = Reduction::sum;
      Shape samples = shape;
      samples.erase(samples.begin() + axis);
      result.shapes = {shape, samples};
      break;
    }
  }
  return result;
}

/// The inputs of a case in a floating dtype; labels are int64.
inline std::vector<Tensor> case_inputs(const OpEntry& op, const OpCase& op_case, DType dtype,
                                       std::uint64_t seed) {
  std::vector<Tensor> inputs;
  for (std::size_t i = 0; i < op.domains.size(); ++i) {
    inputs.push_back(random_tensor(op_case.shapes[i], dtype, seed * 2 + i, op.domains[i]));
  }
  if (op.shapes == OpShapes::labels) {
    const Shape& logits = op_case.shapes[0];
    const auto rank = static_cast<std::int64_t>(logits.size());
    const std::int64_t axis =
        op_case.options.axis < 0 ? op_case.options.axis + rank : op_case.options.axis;
    const std::int64_t classes = logits[static_cast<std::size_t>(axis)];
    Tensor labels(op_case.shapes[1], DType::int64);
    std::uint64_t index = 0;
    for (std::int64_t& label : labels.mutable_values<std::int64_t>()) {
      label = static_cast<std::int64_t>(random_below({.seed = seed, .stream = 2, .index = index++},
                                                     static_cast<std::uint64_t>(classes)));
    }
    inputs.push_back(labels);
  }
  return inputs;
}

}  // namespace boolgrad
