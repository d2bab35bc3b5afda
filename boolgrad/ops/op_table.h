// Every differentiable op in one list. It drives `boolgrad verify`, the benchmarks and the tests.
#pragma once

#include <functional>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "boolgrad/ops/loss.h"
#include "boolgrad/tensor/tensor.h"

namespace boolgrad {

/// The options of all ops. Each op reads its own.
struct OpOptions {
  std::optional<Axes> axes = std::nullopt;  ///< of a reduction or a permutation
  std::int64_t axis = -1;                   ///< of softmax and cross_entropy
  bool keepdims = false;
  double low = -1;      ///< of clip
  double high = 1;      ///< of clip
  double alpha = 0.01;  ///< of leaky_relu
  FocalOptions focal = {};
  std::optional<Reduction> reduction = std::nullopt;  ///< of the losses that offer it
};

/// How the shapes of an op's inputs belong together.
enum class OpShapes : std::uint8_t {
  one,        ///< a single input of any shape
  broadcast,  ///< two inputs that broadcast
  equal,      ///< two inputs of one shape
  matrices,   ///< two inputs as matmul takes them
  channels,   ///< an input and a slope a channel
  labels,     ///< logits and integer labels
};

/// Where an input may be drawn from so that no kink or jump is near.
struct OpDomain {
  double low = -2;
  double high = 2;
  std::vector<double> kinks = {};
};

struct OpEntry {
  std::string_view name;
  std::string_view family;
  OpShapes shapes;
  std::vector<OpDomain> domains;  ///< one an input that has a derivative
  std::function<Tensor(std::span<const Tensor>, const OpOptions&)> apply;
};

const std::vector<OpEntry>& op_table();

/// The entry called `name`, or null.
const OpEntry* find_op(std::string_view name);

}  // namespace boolgrad
