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
  EXPECT_DOUBLE_EQ(grad(y, x).item(), 2 * 3 + std::exp(3.0) + 3 * std::exp(3.0));
}

TEST(Tape, GradientsDoNotAccumulate) {
  const Tensor x = leaf(2);
  const Tensor first = grad(scale(x, 5), x);
  EXPECT_EQ(grad(scale(x, 7), x).item(), 7);
  EXPECT_EQ(first.item(), 5);
}

TEST(Tape, DoesNotChangeTheUpstreamGradient) {
  const Tensor x = parameter(Tensor::ones({3}, DType::float64));
  const Tensor upstream = Tensor::of<double>({1, 2, 3});
  EXPECT_EQ(grad(add(x, x), x, {.upstream = upstream}).at(2), 6);
  EXPECT_EQ(upstream.at(2), 3);
}

TEST(Tape, DifferentiatesWithRespectToParametersIntermediatesAndUnusedInputs) {
  const Tensor x = leaf(2);
  const Tensor unused = leaf(1);
  const Tensor middle = multiply(x, x);
  const Tensor y = multiply(middle, x);
  const std::vector<Tensor> gradients = grad(y, {x, middle, unused});
  EXPECT_EQ(gradients[0].item(), 12);
  EXPECT_EQ(gradients[1].item(), 2);
  EXPECT_EQ(gradients[2].item(), 0);
}

TEST(Tape, HandlesLongChains) {
  constexpr int length = 100000;
  const Tensor x = leaf(1);
  Tensor y = x;
  for (int i = 0; i < length; ++i) y = add(y, x);
  EXPECT_EQ(grad(y, x).item(), length + 1);
}

TEST(Tape, ReleasesLongChainsWithoutABackwardPass) {
  Tensor y = leaf(1);
  for (int i = 0; i < 200000; ++i) y = scale(y, 1);
  y = Tensor();
  SUCCEED();
}

// Reuse doubles the number of paths at every step: a pass that followed paths would not terminate.
TEST(Tape, SharedNodesAreVisitedOnce) {
  const Tensor x = leaf(1);
  Tensor y = x;
  for (int i = 0; i < 60; ++i) y = add(y, y);
  EXPECT_EQ(grad(y, x).item(), 0x1p60);
}

TEST(Tape, NoGradAndDetachRecordNothing) {
  const Tensor x = leaf(3);
  {
    const NoGrad guard;
    EXPECT_FALSE(needs_grad(multiply(x, x)));
    const GradMode on(true);
    EXPECT_TRUE(needs_grad(multiply(x, x)));
  }
  EXPECT_TRUE(needs_grad(multiply(x, x)));
  const Tensor y = multiply(x, x.detach());
  EXPECT_EQ(grad(y, x).item(), 3);
}

TEST(Tape, RejectsAFreedGraph) {
  const Tensor x = leaf(3);
  const Tensor y = multiply(x, x);
  const Tensor z = scale(y, 2);
  EXPECT_EQ(grad(y, x, {.keep_graph = true}).item(), 6);
  EXPECT_EQ(grad(y, x).item(), 6);
  const char* message =
      "[grad] the graph was freed by an earlier call (at multiply); set keep_graph in that call";
  expect_error([&] { grad(y, x); }, message);
  expect_error([&] { grad(z, x); }, message);
}

TEST(Tape, FreesResidualsDuringTheBackwardPass) {
  const Tensor x = parameter(Tensor::ones({4}, DType::float32));
  Tensor hidden = exp(x);
  const Tensor watch = hidden.detach();
  const Tensor y = sum(hidden);
  hidden = Tensor();
  EXPECT_FALSE(watch.owns_memory_alone());  // exp keeps its output for its derivative
  grad(y, x);
  EXPECT_TRUE(watch.owns_memory_alone());
}

TEST(Tape, RejectsInvalidArguments) {
  const Tensor x = parameter(Tensor::ones({2, 3}, DType::float32));
  const Tensor y = scale(x, 2);
  expect_error([&] { grad(y, x); },
               "[grad] expected one element or an upstream gradient, received shape [2, 3]");
  expect_error([&] { grad(y, x, {.upstream = Tensor::ones({3}, DType::float32)}); },
               "[grad] expected an upstream gradient of float32 [2, 3], received float32 [3]");
  expect_error([&] { grad(y.detach(), x); },
               "[grad] expected an output that depends on parameters, received one that does not");
  expect_error([] { parameter(Tensor::ones({2}, DType::int32)); },
               "[parameter] expected a floating dtype, received int32");
  expect_error(
      [&] {
        grad(sum(y), {x, x.detach()});
      },
      "[grad] expected inputs that need gradients, but input 1 does not");
}

// |x| whose backward pass selects its branch by an integer label saved in the forward pass.
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
    const Tensor slopes =
        grad(labelled_abs()(inputs)[0], x, {.upstream = Tensor::ones(shape, DType::float64)});
    for (std::int64_t i = 0; i < x.size(); ++i) {
      EXPECT_EQ(slopes.at(i), x.at(i) < 0 ? -1 : 1);
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
  // The square is unused: its upstream gradient is zero.
  EXPECT_EQ(grad(y[1], x, {.keep_graph = true}).item(), 12);
  EXPECT_EQ(grad(add(y[0], y[1]), x).item(), 16);
}

TEST(CustomVjp, RejectsGradientsOfAnotherShape) {
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
  expect_error([&] { grad(broken({})(inputs)[0], x, {.upstream = upstream}); },
               "[broken] expected 1 gradients from the VJP, received 0");
  expect_error(
      [&] {
        grad(broken({Tensor::ones({3}, DType::float64)})(inputs)[0], x, {.upstream = upstream});
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
  const Tensor slope = grad(y, inputs[0]);
  EXPECT_EQ(runs, 2);
  EXPECT_DOUBLE_EQ(slope.item(), std::exp(0.5) * std::exp(std::exp(0.5)));
}

TEST(Recomputed, RejectsCapturedParameters) {
  const Tensor captured = leaf(2);
  const TensorFunction function = recomputed(
      [captured](std::span<const Tensor> in) { return std::vector{multiply(in[0], captured)}; });
  const Tensor inputs[] = {leaf(3)};
  const Tensor y = function(inputs)[0];
  expect_error([&] { grad(y, inputs[0]); },
               "[recomputed] expected every tensor that needs a gradient as an input, but the "
               "function captured one (computed by parameter)");
}

}  // namespace
}  // namespace boolgrad
