#include "boolgrad/logic/gates.h"

#include <gtest/gtest.h>

#include "boolgrad/autograd/gradcheck.h"
#include "boolgrad/logic/lut.h"
#include "tests/support/random_tensor.h"

namespace boolgrad::logic {
namespace {

class EveryGate : public testing::TestWithParam<int> {
 protected:
  const Gate& gate() const { return gates[static_cast<std::size_t>(GetParam())]; }
};

TEST_P(EveryGate, PolynomialAgreesWithTheTruthTable) {
  EXPECT_EQ(gate().index, GetParam());
  for (const bool a : {false, true}) {
    for (const bool b : {false, true}) {
      const bool expected = ((GetParam() >> (3 - 2 * a - b)) & 1) != 0;
      EXPECT_EQ(gate().on(a, b), expected);
      EXPECT_EQ(gate()(a, b), expected);
    }
  }
}

TEST_P(EveryGate, DerivativesAgreeWithDifferences) {
  const double step = 1e-6;
  for (const double a : {0.0, 0.3, 1.0}) {
    for (const double b : {0.0, 0.7, 1.0}) {
      EXPECT_NEAR(gate().d_da(b), (gate()(a + step, b) - gate()(a - step, b)) / (2 * step), 1e-9);
      EXPECT_NEAR(gate().d_db(a), (gate()(a, b + step) - gate()(a, b - step)) / (2 * step), 1e-9);
    }
  }
}

TEST_P(EveryGate, LutLayerComputesItAndItsDerivative) {
  Tensor table({1, 4}, DType::float64);
  for (int entry = 0; entry < 4; ++entry) {
    table.mutable_values<double>()[static_cast<std::size_t>(entry)] = gate().entry(entry);
  }
  const WiringPtr wiring =
      std::make_shared<const Wiring>(2, Tensor::of<std::int32_t>({0, 1}, {2, 1}));
  const Tensor x = random_tensor({2, 5}, DType::float64, 3, {0, 1});
  const Tensor y = lut_layer(x, table, wiring);
  for (std::int64_t i = 0; i < 5; ++i) EXPECT_NEAR(y.at(i), gate()(x.at(i), x.at(5 + i)), 1e-15);
  const Tensor inputs[] = {x, table};
  const GradcheckResult result = gradcheck(
      [&](std::span<const Tensor> in) { return lut_layer(in[0], in[1], wiring); }, inputs);
  EXPECT_TRUE(result.pass) << result.describe();
}

INSTANTIATE_TEST_SUITE_P(Gates, EveryGate, testing::Range(0, 16));

TEST(Gates, AreIndexedByTheirTruthTables) {
  EXPECT_EQ(gates[1].name, "AND");
  EXPECT_EQ(gates[3].name, "A");
  EXPECT_EQ(gates[6].name, "XOR");
  EXPECT_EQ(gates[7].name, "OR");
  EXPECT_EQ(gates[14].name, "NAND");
}

}  // namespace
}  // namespace boolgrad::logic
