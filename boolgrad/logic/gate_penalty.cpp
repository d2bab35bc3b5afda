#include "boolgrad/logic/gate_penalty.h"

#include <cstdint>

#include "boolgrad/ops/arithmetic.h"
#include "boolgrad/ops/reduction.h"
#include "boolgrad/ops/shaping.h"

namespace boolgrad::logic {
namespace {

/// The mean squared changes with an input of all tables, [gates, 1].
Tensor mean_change(const Tensor& tables, int input) {
  const std::int64_t gates = tables.shape()[0];
  const std::int64_t entries = tables.shape()[1];
  const std::int64_t distance = std::int64_t{1} << input;
  const Tensor rows = reshape(tables, {gates * entries / (2 * distance), 2 * distance});
  const Tensor difference =
      subtract(slice(rows, 1, distance, 2 * distance), slice(rows, 1, 0, distance));
  const Tensor squares = reshape(multiply(difference, difference), {gates, entries / 2});
  return mean(squares, {.axes = Axes{1}, .keepdims = true});
}

}  // namespace

Tensor two_input_gates(const std::vector<Tensor>& tables) {
  Tensor total;
  for (const Tensor& table : tables) {
    // The sum over pairs i < j as sums over j of D_j times all D_i before.
    Tensor before;
    for (int input = 0; std::int64_t{1} << input < table.shape()[1]; ++input) {
      const Tensor own = mean_change(table, input);
      if (before.defined()) {
        const Tensor gates = sum(multiply(before, own));
        total = total.defined() ? add(total, gates) : gates;
      }
      before = before.defined() ? add(before, own) : own;
    }
  }
  return total;
}

}  // namespace boolgrad::logic
