#include "boolgrad/autograd/tape.h"

#include <gtest/gtest.h>

#include <vector>

#include "boolgrad/autograd/custom_vjp.h"
#include "boolgrad/ops/arithmetic.h"
#include "boolgrad/ops/elementwise.h"
#include "boolgrad/ops/reduction.h"
#include "boolgrad/ops/shaping.h"
#include "tests/support/messages.h"
#include "tests/support/random_tensor.h"

namespace boolgrad {
namespace {

Tensor leaf(double value) { return parameter(Tensor::scalar(value, DType::float64)); }

TEST(Tape, SumsOverAllUses) {
  const Tensor x = leaf(3);
  const Tensor y = add(multiply(x, x), multiply(x, exp(x)));  // x^2 + x e^x
  backward(y);
  EXPECT_DOUBLE_EQ(gradient(x).item(), 2 * 3 + std::exp(3.0) + 3 * std::exp(3.0));
}

TEST(Tape, AddsUpOverSweepsUntilCleared) {
  const Tensor x = leaf(2);
  backward(scale(x, 5));
  backward(scale(x, 7));
  EXPECT_EQ(gradient(x).item(), 12);
  clear_gradient(x);
  EXPECT_FALSE(gradient(x).defined());
}

TEST(Tape, AGradientHandedOutDoesNotChangeLater) {
  const Tensor x = leaf(2);
  backward(scale(x, 5));
  const Tensor kept = gradient(x);
  backward(scale(x, 7));
  EXPECT_EQ(kept.item(), 5);
  EXPECT_EQ(gradient(x).item(), 12);
}

TEST(Tape, TheUpstreamGradientIsNotTouched) {
  const Tensor x = parameter(Tensor::ones({3}, DType::float64));
  const Tensor upstream = Tensor::of<double>({1, 2, 3});
  backward(add(x, x), {.upstream = upstream});
  EXPECT_EQ(upstream.at(2), 3);
  EXPECT_EQ(gradient(x).at(2), 6);
}

TEST(Tape, GradLeavesTheLeavesAlone) {
  const Tensor x = leaf(2);
  const Tensor unused = leaf(1);
  const Tensor middle = multiply(x, x);
  const Tensor y = multiply(middle, x);
  const std::vector<Tensor> gradients = grad(y, {x, middle, unused});
  EXPECT_EQ(gradients[0].item(), 12);
  EXPECT_EQ(gradients[1].item(), 2);
  EXPECT_EQ(gradients[2].item(), 0);
  EXPECT_FALSE(gradient(x).defined());
}

TEST(Tape, ALongChainNeitherOverflowsNorCrawls) {
  constexpr int length = 100000;
  const Tensor x = leaf(1);
  Tensor y = x;
  for (int i = 0; i < length; ++i) y = add(y, x);
  backward(y);
  EXPECT_EQ(gradient(x).item(), length + 1);
}

TEST(Tape, ALongChainIsDroppedWithoutASweep) {
  Tensor y = leaf(1);
  for (int i = 0; i < 200000; ++i) y = scale(y, 1);
  y = Tensor();
  SUCCEED();
}

// Reuse doubles the number of paths at every step: a sweep that followed paths would never end.
TEST(Tape, SharedNodesAreVisitedOnce) {
  const Tensor x = leaf(1);
  Tensor y = x;
  for (int i = 0; i < 60; ++i) y = add(y, y);
  backward(y);
  EXPECT_EQ(gradient(x).item(), 0x1p60);
}

TEST(Tape, NoGradAndDetachRecordNothing) {
  const Tensor x = leaf(3);
  {
    const NoGrad guard;
    EXPECT_FALSE(needs_grad(multiply(x, x)));
    const Recording on(true);
    EXPECT_TRUE(needs_grad(multiply(x, x)));
  }
  EXPECT_TRUE(needs_grad(multiply(x, x)));
  const Tensor y = multiply(x, x.detach());
  backward(y);
  EXPECT_EQ(gradient(x).item(), 3);
}

TEST(Tape, AFreedGraphIsRefused) {
  const Tensor x = leaf(3);
  const Tensor y = multiply(x, x);
  const Tensor z = scale(y, 2);
  backward(y, {.keep_graph = true});
  backward(y);
  expect_error([&] { backward(y); },
               "[backward] expected a graph that is still there, received one freed by an earlier "
               "backward (at multiply); pass keep_graph to the first");
  expect_error([&] { backward(z); },
               "[backward] expected a graph that is still there, received one freed by an earlier "
               "backward (at multiply); pass keep_graph to the first");
  EXPECT_EQ(gradient(x).item(), 12);
}

TEST(Tape, FreesResidualsAsItPasses) {
  const Tensor x = parameter(Tensor::ones({4}, DType::float32));
  Tensor hidden = exp(x);
  const Tensor watch = hidden.detach();
  const Tensor y = sum(hidden);
  hidden = Tensor();
  EXPECT_FALSE(watch.owns_memory_alone());  // exp keeps its output for backward
  backward(y);
  EXPECT_TRUE(watch.owns_memory_alone());
}

TEST(Tape, RefusesWrongUse) {
  const Tensor x = parameter(Tensor::ones({2, 3}, DType::float32));
  const Tensor y = scale(x, 2);
  expect_error([&] { backward(y); },
               "[backward] expected one element or an upstream gradient, received shape [2, 3]");
  expect_error([&] { backward(y, {.upstream = Tensor::ones({3}, DType::float32)}); },
               "[backward] expected an upstream gradient of float32 [2, 3], received float32 [3]");
  expect_error([&] { backward(y.detach()); },
               "[backward] expected a tensor computed from parameters, received one off the tape");
  expect_error([&] { gradient(y); },
               "[gradient] expected a tensor made by parameter(), received another");
  expect_error([] { parameter(Tensor::ones({2}, DType::int32)); },
               "[parameter] expected a floating dtype, received int32");
  expect_error(
      [&] {
        grad(sum(y), {x, x.detach()});
      },
      "[grad] expected inputs that need gradients, received one at 1 that does not");
}

// |x| whose backward picks its branch by an integer label that the forward saved.
TensorFunction labelled_abs() {
  return custom_vjp(
      "labelled_abs",
      [](std::span<const Tensor> in) {
        const auto x = in[0].values<double>();
        Tensor y(in[0].shape(), DType::float64);
        Tensor label(in[0].shape(), DType::int32);
        for (std::size_t i = 0; i < x.size(); ++i) {
          label.mutable_values<std::int32_t>()[i] = x[i] < 0 ? -1 : 1;
          y.mutable_values<double>()[i] = std::abs(x[i]);
        }
        return ForwardResult{{y}, {label}};
      },
      [](const VjpContext& c) {
        const auto label = c.residual(0).values<std::int32_t>();
        const auto g = c.gradient().values<double>();
        Tensor gx(c.gradient().shape(), DType::float64);
        for (std::size_t i = 0; i < g.size(); ++i) gx.mutable_values<double>()[i] = label[i] * g[i];
        return std::vector{gx};
      });
}

TEST(CustomVjp, ReadsIntegerResidualsAndAcceptsBatches) {
  for (const Shape& shape : {Shape{4}, Shape{2, 4}, Shape{2, 1, 4}, Shape{0, 4}, Shape{}}) {
    const Tensor x = parameter(random_tensor(shape, DType::float64, 1, {-2, 2, {0}}));
    const Tensor inputs[] = {x};
    backward(labelled_abs()(inputs)[0], {.upstream = Tensor::ones(shape, DType::float64)});
    for (std::int64_t i = 0; i < x.size(); ++i) {
      EXPECT_EQ(gradient(x).at(i), x.at(i) < 0 ? -1 : 1);
    }
  }
}

TEST(CustomVjp, MayReturnSeveralValues) {
  const TensorFunction both = custom_vjp(
      "square_and_cube",
      [](std::span<const Tensor> in) {
        const Tensor square = multiply(in[0], in[0]);
        return ForwardResult{{square, multiply(square, in[0])}, {in[0]}};
      },
      [](const VjpContext& c) {
        const double x = c.residual(0).item();
        const double g = c.upstream[0].item() * 2 * x + c.upstream[1].item() * 3 * x * x;
        return std::vector{Tensor::scalar(g, DType::float64)};
      });
  const Tensor x = leaf(2);
  const Tensor inputs[] = {x};
  const std::vector<Tensor> y = both(inputs);
  backward(y[1], {.keep_graph = true});  // nothing arrives at the square: zeros do
  EXPECT_EQ(gradient(x).item(), 12);
  clear_gradient(x);
  backward(add(y[0], y[1]));
  EXPECT_EQ(gradient(x).item(), 16);
}

TEST(CustomVjp, RefusesGradientsThatDoNotFit) {
  const auto broken = [](const std::vector<Tensor>& gradients) {
    return custom_vjp(
        "broken",
        [](std::span<const Tensor> in) {
          return ForwardResult{{in[0]}, {}};
        },
        [gradients](const VjpContext&) { return gradients; });
  };
  const Tensor x = parameter(Tensor::ones({2}, DType::float64));
  const Tensor inputs[] = {x};
  const Tensor upstream = Tensor::ones({2}, DType::float64);
  expect_error([&] { backward(broken({})(inputs)[0], {.upstream = upstream}); },
               "[broken] expected 1 gradients from backward, received 0");
  expect_error(
      [&] {
        backward(broken({Tensor::ones({3}, DType::float64)})(inputs)[0], {.upstream = upstream});
      },
      "[broken] expected the gradient of input 0 to be float64 [2], received float64 [3]");
}

TEST(Recomputed, GivesTheSameBits) {
  const TensorFunction function = [](std::span<const Tensor> in) {
    const Tensor hidden = exp(multiply(in[0], in[1]));
    return std::vector{sum(hidden), multiply(hidden, hidden)};
  };
  const Tensor a = random_tensor({5, 3}, DType::float32, 1);
  const Tensor b = random_tensor({3}, DType::float32, 2);
  const auto gradients = [&](const TensorFunction& f) {
    const std::vector<Tensor> in{parameter(a), parameter(b)};
    const std::vector<Tensor> out = f(in);
    return grad(add(out[0], sum(out[1])), in);
  };
  const std::vector<Tensor> plain = gradients(function);
  const std::vector<Tensor> again = gradients(recomputed(function));
  EXPECT_TRUE(same_bits(plain[0], again[0]));
  EXPECT_TRUE(same_bits(plain[1], again[1]));
}

TEST(Recomputed, KeepsOnlyItsInputs) {
  int runs = 0;
  const TensorFunction counted = recomputed([&runs](std::span<const Tensor> in) {
    ++runs;
    return std::vector{exp(exp(in[0]))};
  });
  const Tensor inputs[] = {leaf(0.5)};
  const Tensor y = counted(inputs)[0];
  EXPECT_EQ(runs, 1);
  backward(y);
  EXPECT_EQ(runs, 2);
  EXPECT_DOUBLE_EQ(gradient(inputs[0]).item(), std::exp(0.5) * std::exp(std::exp(0.5)));
}

TEST(Recomputed, RefusesCapturedParameters) {
  const Tensor captured = leaf(2);
  const TensorFunction function = recomputed(
      [captured](std::span<const Tensor> in) { return std::vector{multiply(in[0], captured)}; });
  const Tensor inputs[] = {leaf(3)};
  const Tensor y = function(inputs)[0];
  expect_error([&] { backward(y); },
               "[recomputed] expected every tensor that needs a gradient to be passed as an input, "
               "received one that the function captured (made by parameter)");
}

}  // namespace
}  // namespace boolgrad
