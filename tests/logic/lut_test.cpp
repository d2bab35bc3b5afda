#include "boolgrad/logic/lut.h"

#include <gtest/gtest.h>
#include <rapidcheck.h>
#include <rapidcheck/gtest.h>

#include "boolgrad/autograd/gradcheck.h"
#include "boolgrad/autograd/tape.h"
#include "boolgrad/core/parallel.h"
#include "boolgrad/ops/reduction.h"
#include "tests/support/messages.h"
#include "tests/support/op_cases.h"
#include "tests/support/random_tensor.h"

namespace boolgrad::logic {
namespace {

const OpDomain probability{0, 1};

struct Layer {
  WiringPtr wiring;
  Tensor x;
  Tensor tables;
};

Layer random_layer(int arity, std::int64_t inputs, std::int64_t gates, std::int64_t samples,
                   DType dtype, std::uint64_t seed) {
  // Unrestricted random wires: a gate may read one input twice.
  Tensor wires({arity, gates}, DType::int32);
  Choices choose(seed);
  for (std::int32_t& wire : wires.mutable_values<std::int32_t>()) {
    wire = static_cast<std::int32_t>(choose.below(inputs));
  }
  return {std::make_shared<const Wiring>(inputs, wires),
          random_tensor({inputs, samples}, dtype, seed + 1, probability),
          random_tensor({gates, std::int64_t{1} << arity}, dtype, seed + 2, probability)};
}

void expect_near(const Tensor& actual, const Tensor& expected, double tolerance) {
  ASSERT_EQ(actual.shape(), expected.shape());
  for (std::int64_t i = 0; i < actual.size(); ++i) {
    if (!(std::abs(actual.at(i) - expected.at(i)) <= tolerance)) {
      FAIL() << "element " << i << ": " << actual.at(i) << " against " << expected.at(i);
    }
  }
}

class EveryArity : public testing::TestWithParam<int> {};

TEST_P(EveryArity, AgreesWithDifferencesOverRandomShapes) {
  EXPECT_TRUE(rc::check("lut_layer passes gradcheck", [](std::uint64_t seed) {
    Choices choose(seed);
    const Layer layer = random_layer(GetParam(), choose.between(1, 5), choose.between(1, 3),
                                     choose.between(1, 4), DType::float64, seed);
    const Tensor inputs[] = {layer.x, layer.tables};
    const GradcheckResult result = gradcheck(
        [&](std::span<const Tensor> in) { return lut_layer(in[0], in[1], layer.wiring); }, inputs);
    RC_LOG() << result.describe();
    RC_ASSERT(result.pass);
  }));
}

// Sample counts around the sizes of tiles and vectors.
TEST_P(EveryArity, AgreesWithTheReference) {
  for (const std::int64_t samples : {1, 7, 16, 17, 63, 64, 65, 200, 300}) {
    for (const DType dtype : {DType::float32, DType::float64}) {
      const Layer layer = random_layer(GetParam(), 9, 13, samples, dtype, 5);
      const Tensor x = parameter(layer.x);
      const Tensor tables = parameter(layer.tables);
      const Tensor fast = lut_layer(x, tables, layer.wiring);
      const Tensor plain = lut_layer_reference(x, tables, layer.wiring);
      const double tolerance = dtype == DType::float32 ? 1e-4 : 1e-12;
      expect_near(fast, plain, tolerance);
      const Tensor upstream = random_tensor(fast.shape(), dtype, 9);
      const std::vector<Tensor> fast_gradients = grad(fast, {x, tables}, {.upstream = upstream});
      const std::vector<Tensor> plain_gradients = grad(plain, {x, tables}, {.upstream = upstream});
      expect_near(fast_gradients[0], plain_gradients[0], tolerance);
      expect_near(fast_gradients[1], plain_gradients[1], tolerance * 10);
      // Without input gradients the kernel takes the sums in a separate pass.
      const Tensor alone =
          grad(lut_layer(layer.x, tables, layer.wiring), {tables}, {.upstream = upstream})[0];
      expect_near(alone, plain_gradients[1], tolerance * 10);
    }
  }
}

TEST_P(EveryArity, HardGatesAreSoftGatesOnBits) {
  Layer layer = random_layer(GetParam(), 8, 40, 130, DType::float64, 3);
  Tensor hard({40, std::int64_t{1} << GetParam()}, DType::uint8);
  for (std::size_t i = 0; i < static_cast<std::size_t>(hard.size()); ++i) {
    const bool on = layer.tables.values<double>()[i] > 0.5;
    hard.mutable_values<std::uint8_t>()[i] = on ? 1 : 0;
    layer.tables.mutable_values<double>()[i] = on ? 1 : 0;
  }
  const BitMatrix bits = pack_bits(layer.x);
  const BitMatrix out = hard_lut_layer(bits, hard, *layer.wiring);
  const Tensor soft = lut_layer(unpack_bits(bits, DType::float64), layer.tables, layer.wiring);
  expect_near(soft, unpack_bits(out, DType::float64), 0);
  EXPECT_EQ(out.words.back() >> (130 - 128), 0U);  // bits beyond the last sample are 0
}

TEST_P(EveryArity, IsDeterministicForAnyNumberOfThreads) {
  const int before = thread_count();
  for (const DType dtype : {DType::float32, DType::float64}) {
    const Layer layer = random_layer(GetParam(), 50, 70, 1000, dtype, 5);
    const auto evaluate = [&](int threads) {
      set_thread_count(threads);
      const Tensor x = parameter(layer.x);
      const Tensor tables = parameter(layer.tables);
      return grad(sum(lut_layer(x, tables, layer.wiring)), {x, tables});
    };
    const std::vector<Tensor> alone = evaluate(1);
    for (const int threads : {2, 7}) {
      const std::vector<Tensor> together = evaluate(threads);
      EXPECT_TRUE(same_bits(alone[0], together[0]));
      EXPECT_TRUE(same_bits(alone[1], together[1]));
    }
  }
  set_thread_count(before);
}

INSTANTIATE_TEST_SUITE_P(Arity, EveryArity, testing::Range(1, 7));

// f(x, x) = c0 + (c1 + c2) x + c3 x^2: the derivative is the sum of both partial derivatives.
TEST(LutLayer, ARepeatedWireSumsBothDerivatives) {
  const WiringPtr wiring =
      std::make_shared<const Wiring>(1, Tensor::of<std::int32_t>({0, 0}, {2, 1}));
  const double x = 0.3;
  const Tensor input = parameter(Tensor::of<double>({x}, {1, 1}));
  const Tensor table = parameter(Tensor::of<double>({0.9, 0.2, 0.4, 0.7}, {1, 4}));
  const double c1 = 0.2 - 0.9;
  const double c2 = 0.4 - 0.9;
  const double c3 = 0.7 - 0.2 - 0.4 + 0.9;
  const Tensor y = lut_layer(input, table, wiring);
  EXPECT_NEAR(y.item(), 0.9 + (c1 + c2) * x + c3 * x * x, 1e-15);
  const std::vector<Tensor> gradients = grad(y, {input, table});
  EXPECT_NEAR(gradients[0].item(), c1 + c2 + 2 * c3 * x, 1e-15);
  const double weights[] = {(1 - x) * (1 - x), x * (1 - x), (1 - x) * x, x * x};
  for (std::int64_t i = 0; i < 4; ++i) EXPECT_NEAR(gradients[1].at(i), weights[i], 1e-15);
}

TEST(LutLayer, AnUnreadInputHasZeroGradient) {
  const WiringPtr wiring =
      std::make_shared<const Wiring>(3, Tensor::of<std::int32_t>({0, 2}, {2, 1}));
  const Tensor x = parameter(random_tensor({3, 20}, DType::float32, 1, probability));
  const Tensor tables = random_tensor({1, 4}, DType::float32, 2, probability);
  const Tensor gradient = grad(sum(lut_layer(x, tables, wiring)), {x})[0];
  for (std::int64_t i = 20; i < 40; ++i) EXPECT_EQ(gradient.at(i), 0);
}

TEST(LutLayers, EqualSingleLayersInSequence) {
  for (const int arity : {2, 4}) {
    const Layer first = random_layer(arity, 10, 30, 333, DType::float32, 1);
    const Layer second = random_layer(arity, 30, 20, 333, DType::float32, 2);
    const Layer third = random_layer(arity, 20, 5, 333, DType::float32, 3);
    const std::vector<Tensor> tables{parameter(first.tables), parameter(second.tables),
                                     parameter(third.tables)};
    const std::vector<WiringPtr> wirings{first.wiring, second.wiring, third.wiring};
    const Tensor together = lut_layers(first.x, tables, wirings);
    Tensor apart = first.x;
    for (std::size_t i = 0; i < 3; ++i) apart = lut_layer(apart, tables[i], wirings[i]);
    EXPECT_TRUE(same_bits(together.detach(), apart.detach()));
    {
      const NoGrad guard;
      EXPECT_TRUE(same_bits(lut_layers(first.x, tables, wirings), apart.detach()));
    }
    const std::vector<Tensor> gradients = grad(sum(together), tables);
    const std::vector<Tensor> one_by_one = grad(sum(apart), tables);
    for (std::size_t i = 0; i < 3; ++i) expect_near(gradients[i], one_by_one[i], 1e-4);
  }
}

TEST(LutLayer, RejectsInvalidArguments) {
  const WiringPtr wiring = random_wiring({4, 3}, 1, 0);
  const Tensor tables = Tensor::zeros({3, 4}, DType::float32);
  expect_error(
      [&] {
        lut_layer(Tensor::zeros({5, 2}, DType::float32), tables, wiring);
      },
      "[lut_layer] expected 4 input features, received 5");
  expect_error([&] { lut_layer(Tensor::zeros({4}, DType::float32), tables, wiring); },
               "[lut_layer] expected inputs of shape [features, samples], received [4]");
  expect_error(
      [&] {
        lut_layer(Tensor::zeros({4, 2}, DType::float32), Tensor::zeros({3, 8}, DType::float32),
                  wiring);
      },
      "[lut_layer] expected tables of shape [3, 4], received [3, 8]");
  expect_error(
      [&] {
        lut_layer(Tensor::zeros({4, 2}, DType::float16), Tensor::zeros({3, 4}, DType::float16),
                  wiring);
      },
      "[lut_layer] expected float32 or float64, received float16");
  expect_error(
      [&] { lut_layers(tables, {}, {}); },
      "[lut_layers] expected as many tables as wirings and at least one, received 0 and 0");
}

TEST(Bits, PackAndUnpack) {
  for (const std::int64_t samples : {1, 63, 64, 65, 200}) {
    const Tensor x = random_tensor({3, samples}, DType::float32, 1, probability);
    const BitMatrix bits = pack_bits(x);
    const Tensor back = unpack_bits(bits, DType::uint8);
    for (std::int64_t i = 0; i < x.size(); ++i) EXPECT_EQ(back.at(i), x.at(i) > 0.5 ? 1 : 0);
  }
}

}  // namespace
}  // namespace boolgrad::logic
