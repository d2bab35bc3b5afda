#include "boolgrad/data/monk.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <numeric>
#include <utility>

#include "boolgrad/core/fail.h"
#include "boolgrad/core/random.h"

namespace boolgrad::data {
namespace {

constexpr std::size_t attributes = 6;
constexpr std::array<int, attributes> values_of = {3, 3, 2, 3, 4, 2};
constexpr std::int64_t robots = 432;
constexpr std::array<std::size_t, 3> training_sizes = {124, 169, 122};
constexpr std::size_t flipped_labels = 6;  // of problem 3
constexpr std::uint64_t sampling_seed = 1991;
constexpr std::uint32_t order_stream = 0x4D6F6E6B;
constexpr std::uint32_t noise_stream = order_stream + 1;

/// Attributes a1 to a6, each from 1.
using Robot = std::array<int, attributes>;

Robot robot_of(std::int64_t number) {
  Robot robot{};
  for (std::size_t i = attributes; i-- > 0;) {
    robot[i] = static_cast<int>(number % values_of[i]) + 1;
    number /= values_of[i];
  }
  return robot;
}

bool is_one(int problem, const Robot& a) {
  if (problem == 1) return a[0] == a[1] || a[4] == 1;
  if (problem == 2) return std::ranges::count(a, 1) == 2;
  return (a[4] == 3 && a[3] == 1) || (a[4] != 4 && a[1] != 3);
}

SampleSet all_robots(int problem) {
  const int width = std::accumulate(values_of.begin(), values_of.end(), 0);
  SampleSet all{Tensor::zeros({robots, width}, DType::uint8), Tensor({robots}, DType::int32)};
  std::uint8_t* to = all.features.mutable_values<std::uint8_t>().data();
  for (std::int64_t number = 0; number < robots; ++number) {
    const Robot robot = robot_of(number);
    for (std::size_t i = 0; i < attributes; ++i) {
      to[robot[i] - 1] = 1;
      to += values_of[i];
    }
    all.labels.mutable_values<std::int32_t>()[static_cast<std::size_t>(number)] =
        is_one(problem, robot) ? 1 : 0;
  }
  return all;
}

/// The first `count` of all robots in a random order.
std::vector<std::int64_t> sampled_robots(std::size_t count, int problem) {
  std::vector<std::int64_t> order(robots);
  std::iota(order.begin(), order.end(), 0);
  for (std::size_t i = 0; i < count; ++i) {
    const std::uint64_t j = random_below({.seed = sampling_seed,
                                          .stream = order_stream,
                                          .step = static_cast<std::uint32_t>(problem),
                                          .index = i},
                                         robots - i);
    std::swap(order[i], order[i + j]);
  }
  order.resize(count);
  return order;
}

void add_label_noise(SampleSet& train) {
  const auto labels = train.labels.mutable_values<std::int32_t>();
  std::vector<std::size_t> order(labels.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  for (std::size_t i = 0; i < flipped_labels; ++i) {
    std::swap(order[i],
              order[i + random_below({.seed = sampling_seed, .stream = noise_stream, .index = i},
                                     order.size() - i)]);
    labels[order[i]] = 1 - labels[order[i]];
  }
}

DataFormat format_of_robots() {
  DataFormat format;
  format.target = "class";
  format.classes = {"0", "1"};
  for (std::size_t i = 0; i < attributes; ++i) {
    Column column{fmt::format("a{}", i + 1), {}};
    for (int value = 1; value <= values_of[i]; ++value) {
      column.categories.push_back(std::to_string(value));
    }
    format.columns.push_back(std::move(column));
  }
  return format;
}

}  // namespace

MonkProblem monk_problem(int number) {
  if (number < 1 || number > 3) fail("monk", "expected problem 1, 2 or 3, received {}", number);
  const SampleSet all = all_robots(number);
  const std::size_t count = training_sizes[static_cast<std::size_t>(number - 1)];
  MonkProblem problem{picked_samples(all, sampled_robots(count, number)), all, format_of_robots()};
  if (number == 3) add_label_noise(problem.train);
  return problem;
}

}  // namespace boolgrad::data
