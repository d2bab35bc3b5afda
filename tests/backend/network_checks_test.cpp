#include "boolgrad/backend/device/network_checks.h"

#include <gtest/gtest.h>

#include <array>

#include "boolgrad/backend/plan/lut_wires.h"
#include "boolgrad/logic/wiring.h"
#include "tests/support/messages.h"

namespace boolgrad {
namespace {

TEST(CheckLayers, RefusesPoolingThatOnlyTheCpuHas) {
  const logic::WiringPtr gates = logic::random_wiring({.inputs = 4, .gates = 4}, 1, 0);
  const Tensor wires = Tensor::of<std::int32_t>({0, 1, 2, 3}, {2, 2});
  const NetworkSpec spec{.batch = 1};
  const auto check = [&](bool first_wins) {
    const logic::WiringPtr pooling = logic::Wiring::pooling(4, wires, first_wins);
    check_layers("vulkan", std::array{gates->view(), pooling->view()}, spec);
  };
  EXPECT_NO_THROW(check(false));
  expect_error([&] { check(true); },
               "[vulkan] pooling that gives the gradient to the first maximum is supported on cpu "
               "only");
}

}  // namespace
}  // namespace boolgrad
