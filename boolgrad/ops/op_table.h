// The table of all differentiable ops. It drives `boolgrad verify`, the benchmarks and the tests.
#pragma once

#include <functional>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "boolgrad/ops/loss.h"
#include "boolgrad/tensor/tensor.h"

namespace boolgrad {

/// The options of all ops. Each op reads those that it has.
struct OpOptions {
  std::optional<Axes> axes = std::nullopt;            ///< reductions and transpose
  std::int64_t axis = -1;                             ///< softmax and cross_entropy
  bool keepdims = false;                              ///< reductions
  double low = -1;                                    ///< clip
  double high = 1;                                    ///< clip
  double alpha = 0.01;                                ///< leaky_relu
  FocalOptions focal = {};                            ///< focal
  std::optional<Reduction> reduction = std::nullopt;  ///< losses with a choice of reduction
};

/// The relation between the input shapes of an op.
enum class OpShapes : std::uint8_t {
  one,        ///< a single input of any shape
  broadcast,  ///< two inputs that broadcast
  equal,      ///< two inputs of the same shape
  matrices,   ///< two inputs of matmul
  channels,   ///< an input and one slope per channel
  labels,     ///< logits and integer labels
};

/// The range from which tests sample an input, and the kinks that they avoid.
struct OpDomain {
  double low = -2;                 ///< lower end
  double high = 2;                 ///< upper end
  std::vector<double> kinks = {};  ///< points to avoid
};

/// One op of the table.
struct OpEntry {
  std::string_view name;          ///< unique name
  std::string_view family;        ///< group, as in `arithmetic`
  OpShapes shapes;                ///< relation between the input shapes
  std::vector<OpDomain> domains;  ///< one per differentiable input
  std::function<Tensor(std::span<const Tensor>, const OpOptions&)> apply;  ///< evaluates the op
};

/// All ops.
const std::vector<OpEntry>& op_table();

/// The op called `name`, or null.
const OpEntry* find_op(std::string_view name);

}  // namespace boolgrad
