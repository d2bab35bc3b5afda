// Hardened automata on a CUDA device, compared with the CPU bit by bit. Skipped without a device.
#include "boolgrad/automata/starts.h"
#include "boolgrad/backend/cuda/bits/bit_automaton.h"

#include <gtest/gtest.h>

#include <bit>
#include <utility>
#include <vector>

#include "boolgrad/automata/bit_automaton.h"
#include "boolgrad/automata/rollout.h"
#include "boolgrad/backend/cuda/runtime/device.h"
#include "boolgrad/data/automaton_task.h"
#include "tests/support/life_rule.h"
#include "tests/support/messages.h"
#include "tests/support/random_tensor.h"

namespace boolgrad {
namespace {

constexpr std::uint64_t fire_seed = 0x1234567890ABCDEF;

struct Scene {
  automata::RuleShape shape;
  automata::RolloutSize size;
  Border border = Border::zero;
  double fire_rate = 1;
};

automata::Rule random_rule(const Scene& scene) {
  return automata::Rule::make(scene.shape, scene.border, Parametrisation::softmax16, DType::float32,
                              {logic::Initialisation::gaussian, 1}, 7);
}

/// A rule that reads all neighbours in all channels, so that it cannot be simplified.
automata::Rule wide_rule(std::int64_t channels, Border border) {
  const auto odd = [](unsigned bits) { return std::popcount(bits) % 2 == 1; };
  logic::Network perceive(9, Parametrisation::sigmoid, DType::float32);
  std::vector<LifeGate> around;
  for (const int n : {0, 1, 2, 3, 5, 6, 7, 8}) around.push_back({{4, n}, odd});
  add_gates(perceive, around);
  logic::Network update(9 * channels, Parametrisation::sigmoid, DType::float32);
  std::vector<LifeGate> gates;
  for (std::int64_t c = 0; c < channels; ++c) {
    std::vector<std::int32_t> sources;
    for (std::int64_t j = 0; j < 6; ++j) {
      sources.push_back(static_cast<std::int32_t>(channels + c * 8 + (c + j) % 8));
    }
    gates.push_back({sources, odd});
  }
  add_gates(update, gates);
  return {border, 1, std::move(perceive), std::move(update)};
}

BitShape shape_of(const automata::BitGrid& grid, Border border) {
  return {grid.channels(), grid.batch(), grid.height(), grid.width(), border == Border::periodic};
}

Tensor state_of(const cuda::BitAutomaton& device, const automata::BitGrid& like) {
  automata::BitGrid grid(like.channels(), like.batch(), like.height(), like.width());
  device.download(grid.words());
  return grid.to_tensor(DType::uint8);
}

/// Damage in a corner, and across a word boundary.
std::vector<automata::Rectangle> damage_of(const automata::BitGrid& grid) {
  return {{0, 0, 1, 1}, {grid.height() / 2, grid.width() / 3, 1, grid.width() / 2}};
}

class CudaBitAutomaton : public testing::TestWithParam<cuda::BitExecution> {
 protected:
  void SetUp() override {
    const std::string why_not = cuda::unavailable();
    if (!why_not.empty()) GTEST_SKIP() << why_not;
  }

  static void expect_agreement(const automata::Rule& rule, const automata::RolloutSize& size,
                               double fire_rate) {
    automata::BitAutomaton host(rule);
    automata::BitGrid state = automata::BitGrid::from(
        automata::random_starts({rule.channels(), size.batch, size.height, size.width}, 1, 1));
    cuda::BitAutomaton device(host.program().code(), shape_of(state, rule.border()), GetParam());
    device.upload(state.words());
    EXPECT_TRUE(same_bits(state_of(device, state), state.to_tensor(DType::uint8)));
    automata::RolloutSize one = size;
    one.steps = 1;
    for (std::uint32_t step = 0; step < size.steps; ++step) {
      if (fire_rate < 1) {
        const automata::BitGrid fires =
            automata::BitGrid::from(automata::fire_masks(one, fire_rate, fire_seed, 3, step));
        host.step(state, &fires);
        device.step_some({fire_rate, fire_seed, 3, step});
      } else {
        host.step(state);
        device.step_all(1);
      }
      ASSERT_TRUE(same_bits(state_of(device, state), state.to_tensor(DType::uint8)))
          << size.height << "x" << size.width << ", step " << step;
      if (step != 1) continue;
      for (const automata::Rectangle& hole : damage_of(state)) {
        if (hole.width == 0) continue;
        state.clear(hole);
        device.clear(hole.top, hole.left, hole.height, hole.width);
      }
    }
    EXPECT_EQ(device.compiled(), GetParam() == cuda::BitExecution::compiled);
  }
};

TEST_P(CudaBitAutomaton, AgreesOnGridsOfAnyWidth) {
  const automata::RuleShape shape{.channels = 2, .kernels = 2, .perceive = {8, 4}, .update = {20}};
  for (const Border border : {Border::zero, Border::periodic}) {
    for (const std::int64_t width : {3, 31, 32, 33, 63, 64, 65, 96, 100, 128, 129}) {
      for (const double rate : {1.0, 0.6}) {
        const Scene scene{shape, {2, 9, width, 4}, border, rate};
        expect_agreement(random_rule(scene), scene.size, rate);
      }
    }
  }
}

TEST_P(CudaBitAutomaton, AgreesOnGridsOfAnyHeight) {
  const automata::RuleShape shape{.channels = 1, .kernels = 2, .perceive = {8, 4}, .update = {20}};
  for (const Border border : {Border::zero, Border::periodic}) {
    for (const std::int64_t height : {3, 4, 5, 6, 7, 8}) {
      const Scene scene{shape, {3, height, 40, 4}, border};
      expect_agreement(random_rule(scene), scene.size, 1);
    }
  }
}

TEST_P(CudaBitAutomaton, AgreesOnTheSmallestGrids) {
  const automata::RuleShape shape{.channels = 3, .kernels = 2, .perceive = {8, 4}, .update = {20}};
  for (const double rate : {1.0, 0.5}) {
    expect_agreement(random_rule({shape, {}, Border::zero}), {1, 1, 1, 4}, rate);
    expect_agreement(random_rule({shape, {}, Border::zero}), {5, 2, 2, 4}, rate);
    expect_agreement(random_rule({shape, {}, Border::periodic}), {1, 3, 3, 4}, rate);
  }
}

TEST_P(CudaBitAutomaton, AgreesForManyChannelsAndGrids) {
  const automata::RuleShape shape{
      .channels = 8, .kernels = 4, .perceive = {8, 4, 2}, .update = {64, 32}};
  const Scene scene{shape, {37, 16, 16, 5}, Border::zero, 0.6};
  expect_agreement(random_rule(scene), scene.size, scene.fire_rate);
}

TEST_P(CudaBitAutomaton, AgreesIfSlotsExceedSharedMemory) {
  const automata::Rule rule = wide_rule(80, Border::periodic);
  ASSERT_GT(automata::BitAutomaton(rule).program().slots(), 460);
  const automata::RolloutSize size{2, 9, 70, 3};
  expect_agreement(rule, size, 1);
  expect_agreement(rule, size, 0.5);
}

TEST_P(CudaBitAutomaton, AgreesForConstantAndIdentityOutputs) {
  circuit::BitCircuit circuit(3 * 9);
  circuit.add_output(circuit.constant(true));
  circuit.add_output(circuit.input(9 + 4));
  circuit.add_output(!circuit.input(3));
  const circuit::BitProgram program(circuit);
  automata::BitGrid start = automata::BitGrid::from(automata::random_starts({3, 1, 5, 45}, 1, 1));
  cuda::BitAutomaton device(program.code(), shape_of(start, Border::periodic), GetParam());
  device.upload(start.words());
  device.step_all(1);
  const automata::BitGrid grid = automata::BitGrid::from(state_of(device, start));
  for (std::int64_t y = 0; y < 5; ++y) {
    for (std::int64_t x = 0; x < 45; ++x) {
      ASSERT_TRUE(grid.at(0, 0, y, x));
      ASSERT_EQ(grid.at(1, 0, y, x), start.at(1, 0, y, x));
      ASSERT_NE(grid.at(2, 0, y, x), start.at(0, 0, y, (x + 44) % 45));
    }
  }
}

TEST_P(CudaBitAutomaton, PlaysLifeForAThousandSteps) {
  automata::BitAutomaton host(life_rule());
  automata::BitGrid state =
      automata::BitGrid::from(automata::random_starts({1, 1, 150, 211}, 5, 1));
  cuda::BitAutomaton device(host.program().code(), shape_of(state, Border::periodic), GetParam());
  device.upload(state.words());
  // Starting from either of the two state buffers.
  for (const int count : {1, 499, 500}) {
    for (int step = 0; step < count; ++step) host.step(state);
    device.step_all(count);
  }
  EXPECT_TRUE(same_bits(state_of(device, state), state.to_tensor(DType::uint8)));
}

TEST_P(CudaBitAutomaton, RejectsGridsThatAreTooLarge) {
  const automata::BitAutomaton host(life_rule());
  expect_error(
      [&] {
        cuda::BitAutomaton(host.program().code(), {1, 1, 1 << 20, 1 << 20, true});
      },
      "[cuda] expected grids smaller than 2147483648 bytes, received 1 channels of 1 grids "
      "1048576x1048576");
}

INSTANTIATE_TEST_SUITE_P(Executions, CudaBitAutomaton,
                         testing::Values(cuda::BitExecution::interpreted,
                                         cuda::BitExecution::compiled),
                         [](const auto& info) {
                           return info.param == cuda::BitExecution::compiled ? "Compiled"
                                                                             : "Interpreted";
                         });

}  // namespace
}  // namespace boolgrad
