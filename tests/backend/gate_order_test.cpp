#include "boolgrad/backend/plan/gate_order.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>

#include "boolgrad/backend/plan/lut_wires.h"
#include "boolgrad/logic/wiring.h"

namespace boolgrad {
namespace {

using Indices = std::vector<std::int32_t>;

Indices sorted(Indices indices) {
  std::ranges::sort(indices);
  return indices;
}

Indices in_order(std::int32_t begin, std::int32_t end) {
  Indices indices(static_cast<std::size_t>(end - begin));
  std::iota(indices.begin(), indices.end(), begin);
  return indices;
}

bool share_input(const logic::Wiring& wiring, std::int32_t first, std::int32_t second) {
  for (int i = 0; i < 2; ++i) {
    for (int j = 0; j < 2; ++j) {
      if (wiring.source(first, i) == wiring.source(second, j)) return true;
    }
  }
  return false;
}

TEST(GateOrder, ContainsEveryGateAndInputOnce) {
  for (const logic::WiringSize& size :
       {logic::WiringSize{5, 40}, logic::WiringSize{64, 64}, logic::WiringSize{100, 7},
        logic::WiringSize{1, 3}, logic::WiringSize{2, 1}}) {
    const logic::WiringPtr wiring = logic::random_wiring(size, 1, 0);
    const LutWires wires = wiring->view();
    const Indices gates = order_gates(wires, 0, size.gates);
    EXPECT_EQ(sorted(gates), in_order(0, static_cast<std::int32_t>(size.gates)));
    EXPECT_EQ(sorted(order_inputs(wires, gates)),
              in_order(0, static_cast<std::int32_t>(size.inputs)));
  }
}

TEST(GateOrder, MayCoverARangeOfGates) {
  const logic::WiringPtr wiring = logic::random_wiring({30, 60}, 1, 0);
  EXPECT_EQ(sorted(order_gates(wiring->view(), 20, 45)), in_order(20, 45));
}

// If every input is read twice, the gates form cycles, of which a random wiring has few.
TEST(GateOrder, ConsecutiveGatesShareAnInput) {
  constexpr std::int64_t width = 2000;
  const logic::WiringPtr wiring = logic::random_wiring({width, width}, 1, 0);
  const Indices gates = order_gates(wiring->view(), 0, width);
  int leaps = 0;
  for (std::size_t i = 1; i < gates.size(); ++i) {
    leaps += share_input(*wiring, gates[i - 1], gates[i]) ? 0 : 1;
  }
  EXPECT_LT(leaps, 12);
}

TEST(GateOrder, InputsFollowTheGates) {
  // Gates 0 to 3 form the cycle 0-2-1-3 of inputs. No gate reads input 4.
  const Indices wires{0, 1, 2, 3, 2, 3, 1, 0};
  const logic::Wiring wiring(5, Tensor::of(wires, {2, 4}));
  const Indices gates = order_gates(wiring.view(), 0, 4);
  EXPECT_EQ(gates, (Indices{0, 2, 1, 3}));
  EXPECT_EQ(order_inputs(wiring.view(), gates), (Indices{0, 2, 1, 3, 4}));
}

}  // namespace
}  // namespace boolgrad
