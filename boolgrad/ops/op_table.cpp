#include "boolgrad/ops/op_table.h"

#include <algorithm>

#include "boolgrad/ops/activation.h"
#include "boolgrad/ops/arithmetic.h"
#include "boolgrad/ops/elementwise.h"
#include "boolgrad/ops/matrix.h"
#include "boolgrad/ops/reduction.h"

namespace boolgrad {
namespace {

using Inputs = std::span<const Tensor>;

template <Tensor (*F)(const Tensor&)>
Tensor of_one(Inputs in, const OpOptions& /*o*/) {
  return F(in[0]);
}

template <Tensor (*F)(const Tensor&, const Tensor&)>
Tensor of_two(Inputs in, const OpOptions& /*o*/) {
  return F(in[0], in[1]);
}

template <Tensor (*F)(const Tensor&, const ReduceOptions&)>
Tensor reduction(Inputs in, const OpOptions& o) {
  return F(in[0], {o.axes, o.keepdims});
}

const OpDomain anywhere{};
const OpDomain positive{0.3, 2};
const OpDomain probability{0.05, 0.95};
const OpDomain kink_at_zero{-2, 2, {0}};

std::vector<OpEntry> make_table() {
  using enum OpShapes;
  return {
      {"add", "arithmetic", broadcast, {anywhere, anywhere}, of_two<add>},
      {"subtract", "arithmetic", broadcast, {anywhere, anywhere}, of_two<subtract>},
      {"multiply", "arithmetic", broadcast, {anywhere, anywhere}, of_two<multiply>},
      {"divide", "arithmetic", broadcast, {anywhere, positive}, of_two<divide>},
      {"power", "arithmetic", broadcast, {positive, anywhere}, of_two<power>},
      // Quotients stay between 2.09 and 2.8: no jump is near.
      {"floor_divide", "arithmetic", broadcast, {{2.2, 2.8}, {1, 1.05}}, of_two<floor_divide>},
      {"modulo", "arithmetic", broadcast, {{2.2, 2.8}, {1, 1.05}}, of_two<modulo>},

      {"matmul", "matrix", matrices, {anywhere, anywhere}, of_two<matmul>},
      {"transpose",
       "matrix",
       one,
       {anywhere},
       [](Inputs in, const OpOptions& o) { return transpose(in[0], o.axes); }},

      {"sum", "reduction", one, {anywhere}, reduction<sum>},
      {"mean", "reduction", one, {anywhere}, reduction<mean>},
      {"max", "reduction", one, {anywhere}, reduction<max>},
      {"min", "reduction", one, {anywhere}, reduction<min>},

      {"exp", "elementwise", one, {anywhere}, of_one<exp>},
      {"log", "elementwise", one, {positive}, of_one<log>},
      {"log2", "elementwise", one, {positive}, of_one<log2>},
      {"log10", "elementwise", one, {positive}, of_one<log10>},
      {"sqrt", "elementwise", one, {positive}, of_one<sqrt>},
      {"abs", "elementwise", one, {kink_at_zero}, of_one<abs>},
      {"clip",
       "elementwise",
       one,
       {{-2, 2, {-1, 1}}},
       [](Inputs in, const OpOptions& o) { return clip(in[0], o.low, o.high); }},

      {"relu", "activation", one, {kink_at_zero}, of_one<relu>},
      {"leaky_relu",
       "activation",
       one,
       {kink_at_zero},
       [](Inputs in, const OpOptions& o) { return leaky_relu(in[0], o.alpha); }},
      {"prelu", "activation", channels, {kink_at_zero, anywhere}, of_two<prelu>},
      {"sigmoid", "activation", one, {anywhere}, of_one<sigmoid>},
      {"tanh", "activation", one, {anywhere}, of_one<tanh>},
      {"gelu",
       "activation",
       one,
       {anywhere},
       [](Inputs in, const OpOptions& /*o*/) { return gelu(in[0]); }},
      {"gelu_tanh",
       "activation",
       one,
       {anywhere},
       [](Inputs in, const OpOptions& /*o*/) { return gelu(in[0], GeluKind::tanh); }},
      {"softmax",
       "activation",
       one,
       {anywhere},
       [](Inputs in, const OpOptions& o) { return softmax(in[0], o.axis); }},

      {"sum_of_squares", "loss", equal, {anywhere, anywhere}, of_two<sum_of_squares>},
      {"mean_squares", "loss", equal, {anywhere, anywhere}, of_two<mean_squared_error>},
      {"l4", "loss", equal, {anywhere, anywhere}, of_two<l4>},
      {"binary_cross_entropy",
       "loss",
       equal,
       {probability, probability},
       [](Inputs in, const OpOptions& o) {
         return binary_cross_entropy(in[0], in[1], o.reduction.value_or(Reduction::sum));
       }},
      {"focal",
       "loss",
       equal,
       {probability, probability},
       [](Inputs in, const OpOptions& o) { return focal(in[0], in[1], o.focal); }},
      {"cross_entropy",
       "loss",
       labels,
       {anywhere},
       [](Inputs in, const OpOptions& o) {
         return cross_entropy(in[0], in[1], {o.axis, o.reduction.value_or(Reduction::mean)});
       }},
  };
}

}  // namespace

const std::vector<OpEntry>& op_table() {
  static const std::vector<OpEntry> table = make_table();
  return table;
}

const OpEntry* find_op(std::string_view name) {
  const auto entry = std::ranges::find(op_table(), name, &OpEntry::name);
  return entry == op_table().end() ? nullptr : &*entry;
}

}  // namespace boolgrad
