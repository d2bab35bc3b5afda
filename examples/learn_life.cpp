// A cellular automaton learns Conway's Game of Life from all 512 neighbourhoods and then runs it.
//
// Every cell runs the same circuit of soft gates: sixteen kernels look at its neighbourhood, an
// update network makes its next state of what they saw. Hardened, the circuit becomes a short
// program on words of 64 cells each.
#include <fmt/format.h>

#include <cstdint>

#include "boolgrad/autograd/tape.h"
#include "boolgrad/automata/bit_automaton.h"
#include "boolgrad/automata/rollout.h"
#include "boolgrad/data/automaton_task.h"
#include "boolgrad/ops/loss.h"
#include "boolgrad/ops/shaping.h"
#include "boolgrad/optim/adamw.h"

using namespace boolgrad;

namespace {

constexpr int most_steps = 2000;
constexpr double learning_rate = 0.05;

// Cells of the 512 little tori that the hardened rule gets wrong after a step.
std::int64_t wrong_cells(const Rule& rule, const AutomatonTask& task) {
  BitGrid state = BitGrid::from(task.starts);
  BitAutomaton(rule).step(state);
  const Tensor reached = state.to_tensor(DType::float32);
  const Tensor wanted = cast(task.target, DType::float32);
  return static_cast<std::int64_t>(sum_of_squares(reached, wanted).item());
}

}  // namespace

int main() {
  const AutomatonTask task = life_task();
  const RuleShape shape{.channels = 1,
                        .kernels = 16,
                        .perceive = {8, 4, 2, 1},
                        .update = {128, 128, 128, 128, 128, 128, 128, 128, 64, 32, 16, 8, 4, 2}};
  const Rule rule = Rule::make(shape, Border::periodic, Parametrisation::softmax16, DType::float32,
                               {Initialisation::pass_through, 5}, 1);
  AdamW optimiser(rule.parameters(), {});
  const Tensor starts = cast(task.starts, DType::float32);
  const Tensor target = cast(task.target, DType::float32).viewed_as({1, 1, 512, 3, 3});

  int steps = 0;
  while (wrong_cells(rule, task) > 0 && steps < most_steps) {
    for (int i = 0; i < 10; ++i, ++steps) {
      const Tensor loss = sum_of_squares(rollout(rule, starts, {}, {.steps = 1}), target);
      optimiser.step(grad(loss, rule.parameters()), learning_rate);
    }
  }
  fmt::print("{} gates, {} wrong cells after {} steps\n", rule.gates(), wrong_cells(rule, task),
             steps);

  // A glider crosses a torus of 8 by 8 cells: after 32 steps it is back.
  BitGrid glider(1, 1, 8, 8);
  for (const auto& [y, x] : {std::pair{0, 1}, {1, 2}, {2, 0}, {2, 1}, {2, 2}}) {
    glider.set(0, 0, y, x, true);
  }
  BitGrid state = glider;
  BitAutomaton automaton(rule);
  for (int step = 0; step < 32; ++step) automaton.step(state);
  const bool back =
      sum_of_squares(state.to_tensor(DType::float32), glider.to_tensor(DType::float32)).item() == 0;
  fmt::print("{} word operations a cell; the glider {} back\n", automaton.operations(),
             back ? "is" : "is not");
  return back ? 0 : 1;
}
