// A cellular automaton learns Conway's Game of Life from all 512 neighbourhoods and then runs it.
//
// Every cell runs the same circuit of soft gates: sixteen perception kernels read its
// neighbourhood, and an update network computes its next state from their outputs. Hardened, the
// circuit becomes a short program on 64-bit words, one bit per cell.
#include <boolgrad/boolgrad.h>

#include <cstdint>
#include <cstdio>

using namespace boolgrad;

namespace {

constexpr int max_steps = 2000;
constexpr double learning_rate = 0.05;

// Cell errors of the hardened rule after one step, over all 512 grids of 3 by 3 cells.
std::int64_t cell_errors(const automata::Rule& rule, const data::AutomatonTask& task) {
  automata::BitGrid state = automata::BitGrid::from(task.starts);
  automata::BitAutomaton(rule).step(state);
  const Tensor reached = state.to_tensor(DType::float32);
  const Tensor expected = cast(task.target, DType::float32);
  return static_cast<std::int64_t>(sum_of_squares(reached, expected).item());
}

}  // namespace

int main() {
  const data::AutomatonTask task = data::life_task();
  const automata::RuleShape shape{
      .channels = 1,
      .kernels = 16,
      .perceive = {8, 4, 2, 1},
      .update = {128, 128, 128, 128, 128, 128, 128, 128, 64, 32, 16, 8, 4, 2}};
  const automata::Rule rule =
      automata::Rule::make(shape, Border::periodic, Parametrisation::softmax16, DType::float32,
                           {logic::Initialisation::pass_through, 5}, 1);
  AdamW optimiser(rule.parameters(), {});
  const Tensor starts = cast(task.starts, DType::float32);
  const Tensor target = cast(task.target, DType::float32).viewed_as({1, 1, 512, 3, 3});

  int steps = 0;
  while (cell_errors(rule, task) > 0 && steps < max_steps) {
    for (int i = 0; i < 10; ++i, ++steps) {
      const Tensor loss = sum_of_squares(automata::rollout(rule, starts, {}, {.steps = 1}), target);
      optimiser.step(grad(loss, rule.parameters()), learning_rate);
    }
  }
  std::printf("%lld gates, %lld cell errors after %d steps\n", static_cast<long long>(rule.gates()),
              static_cast<long long>(cell_errors(rule, task)), steps);

  // A glider crosses a torus of 8 by 8 cells and returns after 32 steps.
  automata::BitGrid glider(1, 1, 8, 8);
  for (const auto& [y, x] : {std::pair{0, 1}, {1, 2}, {2, 0}, {2, 1}, {2, 2}}) {
    glider.set(0, 0, y, x, true);
  }
  automata::BitGrid state = glider;
  automata::BitAutomaton automaton(rule);
  for (int step = 0; step < 32; ++step) automaton.step(state);
  const bool back =
      sum_of_squares(state.to_tensor(DType::float32), glider.to_tensor(DType::float32)).item() == 0;
  std::printf("%lld operations per word of cells; the glider %s back\n",
              static_cast<long long>(automaton.operations()), back ? "is" : "is not");
  return back ? 0 : 1;
}
