#include "boolgrad/data/data_set.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <vector>

#include "boolgrad/data/monk.h"
#include "tests/support/messages.h"

namespace boolgrad::data {
namespace {

SampleSet numbered(const std::vector<std::int32_t>& labels) {
  SampleSet samples{Tensor({std::ssize(labels), 1}, DType::float32), Tensor::of(labels)};
  float next = 0;
  for (float& value : samples.features.mutable_values<float>()) value = next++;
  return samples;
}

TEST(DataSet, SplitsEveryClassInTheSameProportion) {
  std::vector<std::int32_t> labels(100, 0);
  std::fill(labels.begin() + 60, labels.end(), 1);
  const SampleSplit split = split_samples(numbered(labels), 0.25, 7, 1);
  EXPECT_EQ(split.kept.count(), 75);
  EXPECT_EQ(split.taken.count(), 25);
  const auto taken = split.taken.labels.values<std::int32_t>();
  EXPECT_EQ(std::ranges::count(taken, 1), 10);
  std::vector<float> all;
  for (const SampleSet* part : {&split.kept, &split.taken}) {
    const auto values = part->features.values<float>();
    EXPECT_TRUE(std::ranges::is_sorted(values));
    all.insert(all.end(), values.begin(), values.end());
  }
  ASSERT_EQ(split.kept_rows.size(), 75U);
  for (std::size_t i = 0; i < 75; ++i) {
    EXPECT_EQ(split.kept.features.values<float>()[i], static_cast<float>(split.kept_rows[i]));
  }
  std::ranges::sort(all);
  for (std::size_t i = 0; i < all.size(); ++i) EXPECT_EQ(all[i], static_cast<float>(i));
}

TEST(DataSet, SplitsDependOnTheSeed) {
  const SampleSet samples = numbered(std::vector<std::int32_t>(200, 0));
  const auto places = [&](std::uint64_t seed) {
    const SampleSet taken = split_samples(samples, 0.5, seed, 1).taken;
    const auto values = taken.features.values<float>();
    return std::vector<float>(values.begin(), values.end());
  };
  EXPECT_EQ(places(1), places(1));
  EXPECT_NE(places(1), places(2));
}

TEST(DataSet, RejectsClassesThatAreNotInTheTrainingData) {
  EXPECT_EQ(count_classes(numbered({0, 2, 1}), "train"), 3);
  expect_error(
      [] {
        count_classes(numbered({0, 2, 0}), "the training labels");
      },
      "[data] expected every class from 0 to 2 in the training labels, received none of "
      "class 1");
  expect_error(
      [] {
        check_classes(numbered({0, 1, 5}), 3, "the test labels");
      },
      "[data] expected classes of the training data, 0 to 2, in the test labels, received "
      "5 at sample 2");
}

std::int64_t ones(const SampleSet& samples) {
  return std::ranges::count(samples.labels.values<std::int32_t>(), 1);
}

// Shares of ones as published: 216, 142 and 228 of 432.
TEST(Monk, HasTheDefinedRobots) {
  const std::vector<std::int64_t> of_all = {216, 142, 228};
  const std::vector<std::int64_t> sizes = {124, 169, 122};
  for (int number = 1; number <= 3; ++number) {
    const MonkProblem problem = monk_problem(number);
    const auto at = static_cast<std::size_t>(number - 1);
    EXPECT_EQ(problem.test.count(), 432);
    EXPECT_EQ(problem.test.feature_count(), 17);
    EXPECT_EQ(ones(problem.test), of_all[at]);
    EXPECT_EQ(problem.train.count(), sizes[at]);
    EXPECT_EQ(feature_names(problem.format, 17).back(), "a6 = 2");
  }
}

/// Training robots whose label differs from that of the same robot in the test set.
std::int64_t wrong_labels(const MonkProblem& problem) {
  std::int64_t wrong = 0;
  const auto robot = [](const SampleSet& set, std::size_t at) {
    return set.features.values<std::uint8_t>().subspan(at * 17, 17);
  };
  for (std::size_t i = 0; i < static_cast<std::size_t>(problem.train.count()); ++i) {
    std::size_t same = 0;
    while (!std::ranges::equal(robot(problem.train, i), robot(problem.test, same))) ++same;
    wrong += problem.train.labels.values<std::int32_t>()[i] !=
                     problem.test.labels.values<std::int32_t>()[same]
                 ? 1
                 : 0;
  }
  return wrong;
}

TEST(Monk, HasNoiseInTheThirdProblemOnly) {
  EXPECT_EQ(wrong_labels(monk_problem(1)), 0);
  EXPECT_EQ(wrong_labels(monk_problem(2)), 0);
  EXPECT_EQ(wrong_labels(monk_problem(3)), 6);
  expect_error([] { monk_problem(4); }, "[monk] expected problem 1, 2 or 3, received 4");
}

}  // namespace
}  // namespace boolgrad::data
