#include "boolgrad/backend/plan/gate_order.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>

#include "boolgrad/logic/wiring.h"

namespace boolgrad {
namespace {

using Numbers = std::vector<std::int32_t>;

Numbers sorted(Numbers numbers) {
  std::ranges::sort(numbers);
  return numbers;
}

Numbers in_order(std::int32_t begin, std::int32_t end) {
  Numbers numbers(static_cast<std::size_t>(end - begin));
  std::iota(numbers.begin(), numbers.end(), begin);
  return numbers;
}

bool share_an_input(const Wiring& wiring, std::int32_t first, std::int32_t second) {
  for (int i = 0; i < 2; ++i) {
    for (int j = 0; j < 2; ++j) {
      if (wiring.source(first, i) == wiring.source(second, j)) return true;
    }
  }
  return false;
}

TEST(LutWalk, TakesEveryGateAndInputOnce) {
  for (const WiringSize& size : {WiringSize{5, 40}, WiringSize{64, 64}, WiringSize{100, 7},
                                 WiringSize{1, 3}, WiringSize{2, 1}}) {
    const WiringPtr wiring = random_wiring(size, 1, 0);
    const LutWires wires = wiring->view();
    const Numbers gates = walk_of_gates(wires, 0, size.gates);
    EXPECT_EQ(sorted(gates), in_order(0, static_cast<std::int32_t>(size.gates)));
    EXPECT_EQ(sorted(walk_of_inputs(wires, gates)),
              in_order(0, static_cast<std::int32_t>(size.inputs)));
  }
}

TEST(LutWalk, KeepsToAStretchOfGates) {
  const WiringPtr wiring = random_wiring({30, 60}, 1, 0);
  EXPECT_EQ(sorted(walk_of_gates(wiring->view(), 20, 45)), in_order(20, 45));
}

// Where each input is read twice the gates lie on cycles; of a random wiring there are few.
TEST(LutWalk, GoesFromGateToGateByAnInputTheyShare) {
  constexpr std::int64_t width = 2000;
  const WiringPtr wiring = random_wiring({width, width}, 1, 0);
  const Numbers gates = walk_of_gates(wiring->view(), 0, width);
  int leaps = 0;
  for (std::size_t i = 1; i < gates.size(); ++i) {
    leaps += share_an_input(*wiring, gates[i - 1], gates[i]) ? 0 : 1;
  }
  EXPECT_LT(leaps, 12);
}

TEST(LutWalk, InputsFollowTheGates) {
  // Gates 0 to 3 form the cycle 0-2-1-3 of inputs; nobody reads input 4.
  const Numbers wires{0, 1, 2, 3, 2, 3, 1, 0};
  const Wiring wiring(5, Tensor::of(wires, {2, 4}));
  const Numbers gates = walk_of_gates(wiring.view(), 0, 4);
  EXPECT_EQ(gates, (Numbers{0, 2, 1, 3}));
  EXPECT_EQ(walk_of_inputs(wiring.view(), gates), (Numbers{0, 2, 1, 3, 4}));
}

}  // namespace
}  // namespace boolgrad
