#include "boolgrad/logic/head.h"

#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <vector>

#include "boolgrad/autograd/gradcheck.h"
#include "boolgrad/autograd/tape.h"
#include "boolgrad/ops/shaping.h"
#include "boolgrad/options/names.h"
#include "tests/support/messages.h"
#include "tests/support/random_tensor.h"

namespace boolgrad::logic {
namespace {

const std::array heads = {Head{HeadKind::classes, 3, 0.7},
                          Head{HeadKind::binary, 2, 1.3},
                          Head{HeadKind::regression, 0, 1, -2, 6},
                          Head{HeadKind::bits, 3, 0.8},
                          Head{HeadKind::bits, 5, 1.1},
                          Head{HeadKind::classes, 3, 4, 0, 1, {0, 1, 3, 0, 2, 1}},
                          Head{HeadKind::bits, 3, 4, 0, 1, {0, 1, 3, 0, 2, 1}},
                          Head{HeadKind::regression, 0, 1, -2, 6, {0, 1, 3, 0, 2, 1}}};

Tensor labels_for(const Head& head) {
  if (head.kind == HeadKind::regression) return Tensor::of<float>({-2, 0, 1.5F, 6});
  const auto last = static_cast<std::int32_t>(head.classes - 1);
  return Tensor::of<std::int32_t>({0, 1, last, head.kind == HeadKind::binary ? 0 : 2});
}

TEST(Head, PassesGradcheck) {
  for (const Head& head : heads) {
    for (const double smoothing : {0.0, 0.1}) {
      const std::array inputs = {random_tensor({6, 4}, DType::float64, 1, {0, 1})};
      const auto result = gradcheck(
          [&](std::span<const Tensor> in) {
            return head_loss(head, in[0], labels_for(head), smoothing);
          },
          inputs);
      EXPECT_TRUE(result.pass) << to_string(head.kind) << ": " << result.describe();
    }
  }
}

TEST(Head, PassesGradcheckWithRespectToWeights) {
  for (const Head& head : heads) {
    const std::array inputs = {random_tensor({6, 4}, DType::float64, 1, {0, 1}),
                               random_tensor({6, 1}, DType::float64, 2, {1, 8})};
    const auto result = gradcheck(
        [&](std::span<const Tensor> in) {
          return head_loss_of_sums(head, sums_of(head, in[0], in[1]), labels_for(head));
        },
        inputs);
    EXPECT_TRUE(result.pass) << to_string(head.kind) << ": " << result.describe();
  }
}

TEST(Head, RoundsTrainedExponents) {
  const Tensor exponents = Tensor::of<float>({-2, 0.4F, 0.6F, 1.5F, 2.4F, 9});
  EXPECT_EQ(rounded_exponents(exponents, 3), (std::vector<std::int32_t>{0, 0, 1, 2, 2, 3}));
  const Tensor weights = power_weights(exponents, 3, DType::float64);
  EXPECT_EQ(weights.shape(), (Shape{6, 1}));
  EXPECT_EQ(weights.dtype(), DType::float64);
  const std::vector<double> expected{1, 1, 2, 4, 4, 8};
  for (std::int64_t i = 0; i < 6; ++i) {
    EXPECT_EQ(weights.at(i), expected[static_cast<std::size_t>(i)]);
  }
}

// Straight-through: ln 2 times the weight, except where an exponent would leave its range.
TEST(Head, PassesGradientsToExponents) {
  const Tensor exponents = parameter(Tensor::of<double>({-0.1, 1.2, 2, 3.1, -0.1, 3.1}));
  const Tensor upstream = Tensor::of<double>({-1, 2, -0.5, 1, 1, -1}, {6, 1});
  const Tensor weights = power_weights(exponents, 3, DType::float64);
  const Tensor gradient = grad(weights, exponents, {.upstream = upstream});
  const std::vector<double> expected{-1, 2 * 2, -0.5 * 4, 8, 0, 0};
  for (std::int64_t i = 0; i < 6; ++i) {
    EXPECT_NEAR(gradient.at(i), std::log(2.0) * expected[static_cast<std::size_t>(i)], 1e-12) << i;
  }
}

TEST(Head, CountsOutputsWithTheirWeights) {
  const Head head{.classes = 2, .exponents = {0, 3, 1, 2}};
  EXPECT_EQ(head.largest_sum(0, 4), 9);
  EXPECT_EQ(head.largest_sum(1, 4), 6);
  const Tensor y = random_tensor({4, 70}, DType::float64, 4, {0, 1});
  const BitMatrix bits = pack_bits(y);
  const GroupSums sums = sums_of(head, unpack_bits(bits, DType::float64));
  EXPECT_EQ(sums.largest.at(0), 9);
  EXPECT_EQ(sums.largest.at(1), 6);
  const Tensor counts = group_counts(bits, 2, head.exponents);
  for (std::int64_t i = 0; i < counts.size(); ++i) EXPECT_EQ(counts.at(i), sums.sums.at(i));
  // The majority is one of the weights.
  const Head vote{.kind = HeadKind::bits, .classes = 4, .exponents = {0, 3, 1, 2}};
  const Tensor votes = Tensor::of<double>({1, 8, 4, 3}, {2, 2});
  EXPECT_EQ(predictions(vote, votes, 4), (std::vector<double>{2, 1}));
  expect_error([&] { group_counts(bits, 2, std::vector<std::int32_t>{1}); },
               "[group_counts] expected 4 exponents, received 1");
  expect_error([&] { group_sums(y, 2, Tensor::ones({4}, DType::float64)); },
               "[group_sums] expected weights [4, 1], received [4]");
}

/// Random probabilities [3, 4].
Tensor teacher_of_three() {
  Tensor q = random_tensor({3, 4}, DType::float64, 9, {0.1, 1});
  const auto values = q.mutable_values<double>();
  for (std::size_t s = 0; s < 4; ++s) {
    const double sum = values[s] + values[4 + s] + values[8 + s];
    for (std::size_t c = 0; c < 3; ++c) values[c * 4 + s] /= sum;
  }
  return q;
}

TEST(Head, PassesGradcheckWithSoftTargets) {
  for (const double weight : {0.3, 1.0}) {
    for (const double smoothing : {0.0, 0.1}) {
      const std::array inputs = {random_tensor({6, 4}, DType::float64, 1, {0, 1})};
      const auto result = gradcheck(
          [&](std::span<const Tensor> in) {
            return head_loss(heads[0], in[0], labels_for(heads[0]), smoothing,
                             {teacher_of_three(), weight});
          },
          inputs);
      EXPECT_TRUE(result.pass) << weight << ": " << result.describe();
    }
  }
}

TEST(Head, MixesTheLossesOfLabelsAndSoftTargets) {
  const Tensor y = random_tensor({6, 4}, DType::float64, 1, {0, 1});
  const Tensor q = teacher_of_three();
  const Tensor labels = labels_for(heads[0]);
  double of_teacher = 0;
  for (std::int32_t c = 0; c < 3; ++c) {  // by linearity in the targets
    for (std::int64_t s = 0; s < 4; ++s) {
      const std::array columns = {slice(y, 1, s, s + 1)};
      const double loss = head_loss(heads[0], columns[0], Tensor::of<std::int32_t>({c})).item();
      of_teacher += q.at(c * 4 + s) * loss / 4;
    }
  }
  const double of_labels = head_loss(heads[0], y, labels, 0.1).item();
  const auto mixed = [&](double weight) {
    return head_loss(heads[0], y, labels, 0.1, {q, weight}).item();
  };
  EXPECT_NEAR(mixed(0.3), 0.7 * of_labels + 0.3 * of_teacher, 1e-12);
  EXPECT_NEAR(mixed(1), of_teacher, 1e-12);
  EXPECT_EQ(mixed(0), of_labels);
  expect_error(
      [&] {
        head_loss(heads[1], y, labels_for(heads[1]), 0, {q, 0.5});
      },
      "[head_loss] expected soft targets only for classes, received a head of another "
      "kind");
}

TEST(Head, ComputesTheCrossEntropyOfScaledSums) {
  const Tensor y = Tensor::of<double>({1, 0.5, 0, 0.25}, {4, 1});
  const Head head{HeadKind::classes, 2, 2};
  const double a = 0.75;   // (1 + 0.5) / 2
  const double b = 0.125;  // (0 + 0.25) / 2
  const double from_first = -std::log(std::exp(a) / (std::exp(a) + std::exp(b)));
  const double from_second = -std::log(std::exp(b) / (std::exp(a) + std::exp(b)));
  const Tensor label = Tensor::of<std::int32_t>({0});
  EXPECT_NEAR(head_loss(head, y, label).item(), from_first, 1e-12);
  EXPECT_NEAR(head_loss(head, y, label, 0.2).item(), 0.9 * from_first + 0.1 * from_second, 1e-12);
  const Head binary{HeadKind::binary, 2, 0.5};
  const double z = (1.75 - 2) / 0.5;
  EXPECT_NEAR(head_loss(binary, y, label).item(), std::log(1 + std::exp(z)), 1e-12);
}

TEST(Head, HasOneGroupPerBit) {
  const auto groups = [](std::int64_t classes) { return Head{HeadKind::bits, classes}.groups(); };
  EXPECT_EQ(groups(2), 1);
  EXPECT_EQ(groups(3), 2);
  EXPECT_EQ(groups(4), 2);
  EXPECT_EQ(groups(5), 3);
  EXPECT_EQ(groups(10), 4);
  EXPECT_EQ(groups(256), 8);
  EXPECT_EQ(groups(257), 9);
}

// A head of bits is one binary head per bit, and equals it for two classes.
TEST(Head, AveragesTheLossesOfBits) {
  const Tensor y = random_tensor({9, 5}, DType::float64, 1, {0, 1});
  const Tensor labels = Tensor::of<std::int32_t>({0, 6, 3, 5, 1});
  const Head binary{HeadKind::binary, 2, 1.3};
  for (const double smoothing : {0.0, 0.1}) {
    double mean = 0;
    for (std::int64_t g = 0; g < 3; ++g) {
      std::vector<std::int32_t> bits;
      for (const std::int32_t label : labels.values<std::int32_t>()) bits.push_back(label >> g & 1);
      const Tensor own = slice(y, 0, 3 * g, 3 * g + 3);
      mean += head_loss(binary, own, Tensor::of(bits), smoothing).item() / 3;
    }
    const Head bits{HeadKind::bits, 7, 1.3};
    EXPECT_NEAR(head_loss(bits, y, labels, smoothing).item(), mean, 1e-12);
    const Tensor two = Tensor::of<std::int32_t>({0, 1, 1, 0, 1});
    const Head both{HeadKind::bits, 2, 1.3};
    EXPECT_EQ(head_loss(both, y, two, smoothing).item(),
              head_loss(binary, y, two, smoothing).item());
  }
}

TEST(Head, PredictsFromSums) {
  const Tensor sums = Tensor::of<double>({1, 2, 2, 2, 1, 3}, {3, 2});
  EXPECT_EQ(predictions({HeadKind::classes, 3}, sums, 12), (std::vector<double>{1, 2}));
  // Bits 0 and 1 of 1, 3, 2 and 0; there are only three classes.
  const Tensor votes = Tensor::of<double>({3, 4, 2, 1, 2, 3, 4, 0}, {2, 4});
  EXPECT_EQ(predictions({HeadKind::bits, 3}, votes, 8), (std::vector<double>{1, 2, 2, 0}));
  EXPECT_EQ(predictions({HeadKind::bits, 4}, votes, 8), (std::vector<double>{1, 3, 2, 0}));
  const Tensor one = Tensor::of<double>({3, 2, 4}, {1, 3});
  EXPECT_EQ(predictions({HeadKind::binary, 2}, one, 4), (std::vector<double>{1, 0, 1}));
  EXPECT_EQ(predictions({HeadKind::regression, 0, 1, -2, 6}, one, 4),
            (std::vector<double>{4, 2, 6}));
}

TEST(Head, AdaptsTheTemperature) {
  EXPECT_DOUBLE_EQ(adapted_temperature(10, 40, 1, 600), 0.97 * 10 + 0.03 * 10);
  EXPECT_DOUBLE_EQ(adapted_temperature(10, 12, 1.5, 600), 0.97 * 10 + 0.03 * 2);
  EXPECT_DOUBLE_EQ(adapted_temperature(10, 40, 1, 30), 5);  // at most a sixth
  EXPECT_DOUBLE_EQ(adapted_temperature(0.01, 0, 1, 30), 0.01);
  EXPECT_DOUBLE_EQ(standard_deviation(Tensor::of<float>({1, 3, 1, 3}, {2, 2})), 1);
}

TEST(Head, CountsBits) {
  const Tensor y = random_tensor({6, 70}, DType::float64, 4, {0, 1});
  const BitMatrix bits = pack_bits(y);
  const Tensor counts = group_counts(bits, 3);
  const Tensor sums = group_sums(unpack_bits(bits, DType::float64), 3);
  ASSERT_EQ(counts.shape(), (Shape{3, 70}));
  for (std::int64_t i = 0; i < counts.size(); ++i) EXPECT_EQ(counts.at(i), sums.at(i));
  expect_error([&] { group_counts(bits, 4); },
               "[group_counts] expected a multiple of 4 outputs, received 6");
  expect_error([&] { group_sums(y, 4); },
               "[group_sums] expected [outputs, samples] of a multiple of 4 outputs, received "
               "[6, 70]");
}

}  // namespace
}  // namespace boolgrad::logic
