#include "boolgrad/logic/parametrisation.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>

#include "boolgrad/autograd/gradcheck.h"
#include "boolgrad/autograd/tape.h"
#include "boolgrad/core/random.h"
#include "boolgrad/logic/gates.h"
#include "boolgrad/ops/activation.h"
#include "boolgrad/ops/matrix.h"
#include "boolgrad/ops/shaping.h"
#include "boolgrad/options/names.h"
#include "tests/support/messages.h"
#include "tests/support/random_tensor.h"

namespace boolgrad::logic {
namespace {

// The reference: a softmax, then the weighted tables of the sixteen gates.
Tensor softmax16_reference(const Tensor& logits) {
  Tensor tables({16, 4}, logits.dtype());
  visit_dtype(logits.dtype(), [&](auto zero) {
    using T = decltype(zero);
    for (std::size_t i = 0; i < 64; ++i) {
      tables.mutable_values<T>()[i] =
          convert<T>(gates[i / 4].entry(static_cast<int>(i % 4)) ? 1 : 0);
    }
  });
  return matmul(softmax(logits), tables);
}

// 1 to 40 gates: full vectors of every width and all remainders.
TEST(Softmax16, AgreesWithTheReference) {
  for (std::int64_t gate_count = 1; gate_count <= 40; ++gate_count) {
    const Tensor z = random_tensor({gate_count, 16}, DType::float64, 1, {-4, 4});
    const Tensor upstream = random_tensor({gate_count, 4}, DType::float64, 2);
    const Tensor leaf = parameter(z);
    const Tensor fast = softmax16(leaf);
    const Tensor plain = softmax16_reference(leaf);
    const Tensor fast_gradient = grad(fast, {leaf}, {.upstream = upstream})[0];
    const Tensor plain_gradient = grad(plain, {leaf}, {.upstream = upstream})[0];
    for (std::int64_t i = 0; i < fast.size(); ++i) EXPECT_NEAR(fast.at(i), plain.at(i), 1e-14);
    for (std::int64_t i = 0; i < z.size(); ++i) {
      EXPECT_NEAR(fast_gradient.at(i), plain_gradient.at(i), 1e-14);
    }
  }
}

TEST(Softmax16, IsAccurateInFloat32) {
  const Tensor z = random_tensor({3000, 16}, DType::float32, 1, {-10, 10});
  const Tensor narrow = softmax16(z);
  const Tensor wide = softmax16(cast(z, DType::float64));
  for (std::int64_t i = 0; i < narrow.size(); ++i) EXPECT_NEAR(narrow.at(i), wide.at(i), 5e-7);
}

TEST(Softmax16, PassesGradcheck) {
  const Tensor inputs[] = {random_tensor({5, 16}, DType::float64, 1)};
  const GradcheckResult result =
      gradcheck([](std::span<const Tensor> in) { return softmax16(in[0]); }, inputs);
  EXPECT_TRUE(result.pass) << result.describe();
}

TEST(Softmax16, StaysFiniteForLargeLogits) {
  Tensor z = Tensor::zeros({1, 16}, DType::float32);
  z.mutable_values<float>()[6] = 1e4F;
  const Tensor xor_table = softmax16(z);
  EXPECT_EQ(xor_table.at(0), 0);
  EXPECT_EQ(xor_table.at(1), 1);
  EXPECT_EQ(xor_table.at(2), 1);
  EXPECT_EQ(xor_table.at(3), 0);
}

/// The sum over all sets of inputs, by definition.
double walsh_logit(const Tensor& coefficients, std::int64_t gate, std::int64_t entry) {
  const std::int64_t entries = coefficients.shape()[1];
  double total = 0;
  for (std::int64_t set = 0; set < entries; ++set) {
    double product = coefficients.at(gate * entries + set);
    for (std::int64_t bit = 1; bit < entries; bit *= 2) {
      if ((set & bit) != 0) product *= (entry & bit) != 0 ? 1 : -1;
    }
    total += product;
  }
  return total;
}

TEST(Walsh, SumsCoefficientsOverSetsOfInputs) {
  for (int arity = 1; arity <= max_gate_inputs; ++arity) {
    const std::int64_t entries = std::int64_t{1} << arity;
    const Tensor w = random_tensor({3, entries}, DType::float64, 1, {-2, 2});
    const Tensor z = walsh_logits(w);
    for (std::int64_t i = 0; i < z.size(); ++i) {
      ASSERT_NEAR(z.at(i), walsh_logit(w, i / entries, i % entries), 1e-13);
    }
    const Tensor back = walsh_coefficients(z);
    for (std::int64_t i = 0; i < w.size(); ++i) ASSERT_NEAR(back.at(i), w.at(i), 1e-14);
  }
}

TEST(Walsh, PassesGradcheck) {
  for (int arity = 1; arity <= max_gate_inputs; ++arity) {
    const Tensor inputs[] = {random_tensor({3, std::int64_t{1} << arity}, DType::float64, 1)};
    const GradcheckResult result = gradcheck(
        [](std::span<const Tensor> in) { return soft_tables(Parametrisation::walsh, in[0]); },
        inputs);
    EXPECT_TRUE(result.pass) << result.describe();
  }
}

TEST(Walsh, HardensToTheSignOfItsLogits) {
  const Tensor w = random_tensor({50, 8}, DType::float32, 3, {-2, 2});
  EXPECT_TRUE(same_bits(hard_tables(Parametrisation::walsh, w),
                        hard_tables(Parametrisation::sigmoid, walsh_logits(w))));
  // The coefficient of all inputs is their parity: XNOR for two inputs.
  const Tensor parity =
      hard_tables(Parametrisation::walsh, Tensor::of<float>({0, 0, 0, 1}, {1, 4}));
  const std::vector<int> expected{1, 0, 0, 1};
  for (std::int64_t i = 0; i < 4; ++i) {
    EXPECT_EQ(parity.at(i), expected[static_cast<std::size_t>(i)]);
  }
}

TEST(Walsh, StartsWithTheVarianceOfSigmoidTables) {
  for (const auto kind : {Initialisation::gaussian, Initialisation::residual}) {
    const Tensor z = walsh_logits(
        initial_logits(Parametrisation::walsh, 2000, 4, DType::float64, {kind, 3}, 1, 0));
    double mean = 0;
    double squares = 0;
    for (std::int64_t i = 0; i < z.size(); ++i) {
      // A residual table passes its first input through.
      const double centre = kind == Initialisation::gaussian ? 0 : i % 2 != 0 ? 3 : -3;
      mean += (z.at(i) - centre) / static_cast<double>(z.size());
      squares += (z.at(i) - centre) * (z.at(i) - centre) / static_cast<double>(z.size());
    }
    EXPECT_NEAR(mean, 0, 0.1);
    EXPECT_NEAR(squares, kind == Initialisation::gaussian ? 9 : 1,
                kind == Initialisation::gaussian ? 0.4 : 0.05);
  }
}

TEST(HardTables, TakeTheMostProbableGateOrRound) {
  Tensor z = Tensor::zeros({2, 16}, DType::float32);
  z.mutable_values<float>()[14] = 1;         // NAND
  z.mutable_values<float>()[16 + 2] = 0.5F;  // the first one on a tie
  z.mutable_values<float>()[16 + 9] = 0.5F;
  const Tensor hard = hard_tables(Parametrisation::softmax16, z);
  const std::vector<int> expected{1, 1, 1, 0, 0, 1, 0, 0};
  for (std::int64_t i = 0; i < 8; ++i) EXPECT_EQ(hard.at(i), expected[static_cast<std::size_t>(i)]);
  const Tensor rounded =
      hard_tables(Parametrisation::sigmoid, Tensor::of<double>({-1, 0, 1e-9, 5}, {1, 4}));
  EXPECT_EQ(rounded.at(0), 0);
  EXPECT_EQ(rounded.at(1), 0);  // one half rounds to even
  EXPECT_EQ(rounded.at(2), 1);
  EXPECT_EQ(rounded.at(3), 1);
}

TEST(InitialLogits, PassThroughGivesTheFirstInput) {
  for (const auto kind :
       {Parametrisation::softmax16, Parametrisation::sigmoid, Parametrisation::walsh}) {
    const int arity = 2;
    const Tensor z =
        initial_logits(kind, 3, arity, DType::float32, {Initialisation::pass_through, 10}, 1, 0);
    const Tensor hard = hard_tables(kind, z);
    for (std::int64_t i = 0; i < hard.size(); ++i) EXPECT_EQ(hard.at(i), i % 2);
  }
  const Tensor z = initial_logits(Parametrisation::softmax16, 1, 2, DType::float64,
                                  {Initialisation::pass_through, 10}, 1, 0);
  EXPECT_EQ(z.at(3), 10);
  EXPECT_EQ(z.at(2), 0);
  const Tensor table = initial_logits(Parametrisation::sigmoid, 1, 4, DType::float64,
                                      {Initialisation::pass_through, 3}, 1, 0);
  EXPECT_EQ(table.size(), 16);
  EXPECT_EQ(table.at(6), -3);
  EXPECT_EQ(table.at(7), 3);
}

TEST(InitialLogits, GaussianHasItsDeviationAndDependsOnTheSeed) {
  const auto sample = [](std::uint64_t seed, std::uint32_t layer) {
    return initial_logits(Parametrisation::sigmoid, 1000, 4, DType::float64,
                          {Initialisation::gaussian, 2}, seed, layer);
  };
  const Tensor z = sample(1, 0);
  double squares = 0;
  for (std::int64_t i = 0; i < z.size(); ++i) squares += z.at(i) * z.at(i);
  EXPECT_NEAR(squares / static_cast<double>(z.size()), 4, 0.2);
  EXPECT_TRUE(same_bits(z, sample(1, 0)));
  EXPECT_FALSE(same_bits(z, sample(1, 1)));
  EXPECT_FALSE(same_bits(z, sample(2, 0)));
  const Tensor residual = initial_logits(Parametrisation::softmax16, 100, 2, DType::float64,
                                         {Initialisation::residual, 5}, 1, 0);
  double at_pass = 0;
  for (std::int64_t gate = 0; gate < 100; ++gate) at_pass += residual.at(gate * 16 + 3) / 100;
  EXPECT_NEAR(at_pass, 5, 0.5);
}

TEST(Parametrisation, RejectsInvalidArguments) {
  expect_error(
      [] {
        softmax16(Tensor::zeros({3, 4}, DType::float32));
      },
      "[softmax16] expected logits of shape [gates, 16], received [3, 4]");
  expect_error(
      [] {
        softmax16(Tensor::zeros({3, 16}, DType::float16));
      },
      "[softmax16] expected float32 or float64, received float16");
  expect_error([] { check_arity(Parametrisation::softmax16, 3); },
               "[softmax16] expected gates of 2 inputs, received 3");
  expect_error([] { parametrisation_of("network", "softmax"); },
               "[network] expected softmax16, sigmoid or walsh, received softmax");
  expect_error(
      [] {
        walsh_logits(Tensor::zeros({3, 6}, DType::float32));
      },
      "[walsh] expected float32 or float64 [gates, 2^arity], received float32 [3, 6]");
  expect_error([] { initialisation_of("network", "zero"); },
               "[network] expected gaussian, pass_through or residual, received zero");
}

TEST(TableLogits, GiveTheTablesWithTheStrength) {
  const auto check = [](Parametrisation kind, int arity, const Tensor& tables, DType dtype) {
    const double strength = 4;
    const Tensor logits = table_logits(kind, tables, dtype, strength);
    EXPECT_EQ(logits.shape()[1], logit_count(kind, arity));
    const Tensor soft = soft_tables(kind, logits);
    const Tensor hard = hard_tables(kind, logits);
    for (std::int64_t i = 0; i < tables.size(); ++i) {
      EXPECT_EQ(hard.at(i), tables.at(i));
      EXPECT_NEAR(soft.at(i), 1 / (1 + std::exp(tables.at(i) == 1 ? -strength : strength)), 2e-6);
    }
  };
  for (const int arity : {1, 2, 3, 6}) {
    const std::int64_t entries = std::int64_t{1} << arity;
    Tensor tables({50, entries}, DType::uint8);
    for (std::size_t i = 0; i < tables.values<std::uint8_t>().size(); ++i) {
      tables.mutable_values<std::uint8_t>()[i] =
          static_cast<std::uint8_t>(random_bits({.seed = 1, .index = i})[0] & 1);
    }
    for (const DType dtype : {DType::float32, DType::float64}) {
      check(Parametrisation::sigmoid, arity, tables, dtype);
      check(Parametrisation::walsh, arity, tables, dtype);
      if (arity == 2) check(Parametrisation::softmax16, arity, tables, dtype);
    }
  }
}

TEST(TableLogits, CheckTheirInput) {
  const Tensor tables = Tensor::zeros({1, 4}, DType::uint8);
  const auto logits = [](const Tensor& table, double strength) {
    return table_logits(Parametrisation::softmax16, table, DType::float32, strength);
  };
  expect_error([&] { logits(tables, 0); },
               "[table_logits] expected a strength above 0 and at most 30, received 0");
  expect_error([&] { logits(tables, 31); },
               "[table_logits] expected a strength above 0 and at most 30, received 31");
  expect_error([&] { logits(Tensor::zeros({4}, DType::uint8), 1); },
               "[table_logits] expected tables uint8 [gates, entries], received uint8 [4]");
  expect_error(
      [&] {
        logits(Tensor::zeros({1, 8}, DType::uint8), 1);
      },
      "[softmax16] expected gates of 2 inputs, received 3");
}

}  // namespace
}  // namespace boolgrad::logic
