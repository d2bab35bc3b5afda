#include "boolgrad/logic/gate_penalty.h"

#include <gtest/gtest.h>

#include <span>
#include <vector>

#include "boolgrad/autograd/gradcheck.h"
#include "tests/support/random_tensor.h"

namespace boolgrad::logic {
namespace {

double count(const std::vector<double>& table) {
  return two_input_gates({Tensor::of(table, {1, static_cast<std::int64_t>(table.size())})}).item();
}

TEST(GatePenalty, CountsGatesOfTwoInputs) {
  EXPECT_EQ(count({0, 1, 0, 1}), 0) << "a buffer";
  EXPECT_EQ(count({1, 1, 1, 1}), 0) << "a constant";
  EXPECT_EQ(count({0, 0, 0, 1}), 0.25) << "AND";
  EXPECT_EQ(count({0, 1, 1, 0}), 1) << "XOR";
}

TEST(GatePenalty, CountsPairsOfInputs) {
  EXPECT_EQ(count({0, 1, 0, 1, 0, 1, 0, 1}), 0) << "a buffer of three";
  EXPECT_EQ(count({0, 1, 1, 0, 0, 1, 1, 0}), 1) << "an XOR that ignores its third input";
  EXPECT_EQ(count({0, 1, 1, 0, 1, 0, 0, 1}), 3) << "a parity of three has three pairs";
  EXPECT_EQ(count({0, 0, 0, 0, 0, 0, 0, 1}), 3.0 / 16) << "a conjunction of three";
}

TEST(GatePenalty, AddsUpLayers) {
  const Tensor sums = Tensor::of<double>({0, 1, 1, 0, 0, 0, 0, 1}, {2, 4});
  const Tensor parity = Tensor::of<double>({0, 1, 1, 0, 1, 0, 0, 1}, {1, 8});
  EXPECT_EQ(two_input_gates({sums, parity}).item(), 1 + 0.25 + 3);
}

TEST(GatePenalty, HasExactGradients) {
  for (const std::int64_t entries : {4, 16}) {
    const std::vector<Tensor> tables{random_tensor({3, entries}, DType::float64, 1)};
    const GradcheckResult result =
        gradcheck([](std::span<const Tensor> x) { return two_input_gates({x[0]}); }, tables);
    EXPECT_TRUE(result.pass) << result.describe();
  }
}

}  // namespace
}  // namespace boolgrad::logic
