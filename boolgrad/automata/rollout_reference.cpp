#include "boolgrad/automata/rollout.h"
#include "boolgrad/ops/arithmetic.h"
#include "boolgrad/ops/matrix.h"
#include "boolgrad/ops/shaping.h"

namespace boolgrad::automata {
namespace {

/// Pads the grid by one cell on either side of `axis`.
Tensor with_margin(const Tensor& state, Border border, std::int64_t axis) {
  const Tensor first = slice(state, axis, 0, 1);
  const Tensor last = slice(state, axis, -1, state.shape()[static_cast<std::size_t>(axis)]);
  const Tensor zero = Tensor::zeros(first.shape(), first.dtype());
  const std::vector<Tensor> parts =
      border == Border::periodic ? std::vector{last, state, first} : std::vector{zero, state, zero};
  return concatenate(parts, axis);
}

/// The 3x3 neighbourhoods of all cells of a state [channels, batch, height, width]:
/// [9, channels * cells].
Tensor neighbourhoods(const Tensor& state, Border border) {
  const std::int64_t height = state.shape()[2];
  const std::int64_t width = state.shape()[3];
  const Tensor padded = with_margin(with_margin(state, border, 2), border, 3);
  std::vector<Tensor> shifted;
  for (std::int64_t y = 0; y < 3; ++y) {
    for (std::int64_t x = 0; x < 3; ++x) {
      shifted.push_back(slice(slice(padded, 2, y, y + height), 3, x, x + width));
    }
  }
  return reshape(stack(shifted), {9, -1});
}

Tensor step(const Rule& rule, const Tensor& state) {
  const std::int64_t channels = rule.channels();
  const Tensor own = reshape(state, {channels, -1});
  const std::int64_t cells = own.shape()[1];
  const Tensor perceived = rule.perceive().soft(neighbourhoods(state, rule.border()));
  const Tensor by_channel =
      transpose(reshape(perceived, {perceived.shape()[0], channels, cells}), Axes{1, 0, 2});
  const std::vector<Tensor> inputs{own, reshape(by_channel, {-1, cells})};
  return reshape(rule.update().soft(concatenate(inputs)), state.shape());
}

}  // namespace

Tensor rollout_reference(const Rule& rule, const Tensor& initial, const Tensor& fire,
                         const RolloutOptions& options) {
  Tensor state = initial;
  std::vector<Tensor> last;
  for (std::int64_t t = 0; t < options.steps; ++t) {
    const Tensor next = step(rule, state);
    if (fire.defined()) {
      const Tensor fires = cast(slice(fire, 0, t, t + 1), state.dtype());
      state = add(state, multiply(fires, subtract(next, state)));
    } else {
      state = next;
    }
    if (t >= options.steps - options.returned) last.push_back(state);
  }
  return stack(last);
}

}  // namespace boolgrad::automata
