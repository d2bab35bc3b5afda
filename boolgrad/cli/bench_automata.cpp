// The benchmark "automata": training steps of the built-in automata or of a file of reference
// values, and hardened rules on packed bits.
#include <bit>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "boolgrad/autograd/tape.h"
#include "boolgrad/automata/bit_automaton.h"
#include "boolgrad/automata/rollout.h"
#include "boolgrad/automata/simplified_automaton.h"
#include "boolgrad/automata/starts.h"
#include "boolgrad/backend/cpu/runtime/machine_rates.h"
#include "boolgrad/cli/automaton_cases.h"
#include "boolgrad/cli/bench.h"
#include "boolgrad/cli/command.h"
#include "boolgrad/cli/op_cases.h"
#include "boolgrad/cli/shipped.h"
#include "boolgrad/core/fail.h"
#include "boolgrad/core/parallel.h"
#include "boolgrad/data/automaton_task.h"
#include "boolgrad/model/evaluation.h"
#include "boolgrad/model/model.h"
#include "boolgrad/optim/adamw.h"
#include "boolgrad/train/learners/initial_model.h"
#include "boolgrad/train/search/trainer.h"

namespace boolgrad::cli {
namespace {

constexpr double learning_rate = 0.05;

/// Operations of a training step. Forward, a gate costs 3 fused multiply-adds (6 operations).
/// Backward it costs 15: 4 fused multiply-adds for the two slopes, 2 and 3 plain operations for its
/// sums. Recomputation does not count.
double operations_of(const automata::Rule& rule, const automata::RolloutSize& size) {
  double gates = 0;
  for (const logic::WiringPtr& wiring : rule.perceive().wirings()) {
    gates += static_cast<double>(wiring->gates() * rule.channels());
  }
  for (const logic::WiringPtr& wiring : rule.update().wirings()) {
    gates += static_cast<double>(wiring->gates());
  }
  const auto cell_steps = static_cast<double>(size.batch * size.height * size.width * size.steps);
  return gates * cell_steps * (6 + 15);
}

void add_machine(nlohmann::json& facts) {
  const cpu::MachineRates rates = cpu::measure_machine_rates();
  facts["machine"] = {{"gflops", rates.gflops}, {"gigabytes", rates.gigabytes}};
}

/// A built-in experiment without curriculum and search, so that a step is one full-size rollout.
train::Experiment plain_experiment(const std::string& name) {
  train::Experiment experiment =
      train::read_experiment(shipped_folder("experiments") / (name + ".toml"));
  experiment.curriculum = {};
  experiment.search = {};
  return experiment;
}

void bench_experiments(const BenchOptions& options, const Report& report) {
  for (const char* name :
       {"life", "checkerboard", "checkerboard-async", "lizard-torus", "letter-g"}) {
    const train::Experiment experiment = plain_experiment(name);
    train::Trainer trainer(experiment);
    const automata::RolloutSize size =
        rollout_size(make_automaton_task(experiment), experiment.automaton);
    const Timing time = measure([&] { trainer.step(); }, options.repeat);
    report({fmt::format("automata.{}", name), time, 0,
            operations_of(trainer.learner().model().rule(), size)});
  }
}

/// The memory policies, on the sizes of the checkerboard.
void bench_memory(const BenchOptions& options, const Report& report) {
  const train::Experiment experiment = plain_experiment("checkerboard");
  const automata::Rule rule = train::make_rule(experiment);
  const automata::RolloutSize size =
      rollout_size(make_automaton_task(experiment), experiment.automaton);
  const Tensor start =
      Tensor::full({rule.channels(), size.batch, size.height, size.width}, 0.5, rule.dtype());
  for (const Memory& memory : automata::memory_choices(rule, size)) {
    const auto work = [&] {
      const Tensor states =
          automata::rollout(rule, start, {}, {.steps = size.steps, .memory = memory});
      grad(states, rule.parameters(), {.upstream = Tensor::ones(states.shape(), states.dtype())});
    };
    const char* name = memory.policy == MemoryPolicy::everything ? "everything"
                       : memory.policy == MemoryPolicy::states   ? "states"
                                                                 : "some_states";
    BenchmarkRow row{fmt::format("automata.memory.{}", name), measure(work, options.repeat)};
    row.bytes = static_cast<double>(automata::memory_needed(rule, size, memory));
    report(row);
  }
}

/// The largest error of the loss and all gradients.
double error_of(const AutomatonCase& of, const AutomatonValues& values) {
  double error = 0;
  for (const auto& [name, value] : values.named()) {
    const double next = relative_error(value, of.reference(name));
    if (!(next <= error)) error = next;  // so that a NaN stays
  }
  return error;
}

/// A training step on the device, with hard rollout and update, until its loss is read back.
void bench_case_on_device(const BenchOptions& options, const TensorFile& file,
                          const Report& report) {
  for (const std::string& name : automaton_case_names(file)) {
    const AutomatonCase of(options.file, file, name, DType::float32);
    const auto device = of.on(options.device);
    std::int64_t steps = 0;
    const Timing time =
        measure([&] { device->step({}, steps++, learning_rate, true); }, options.repeat);
    BenchmarkRow row{"automata.step", time, 0, operations_of(of.rule(), of.size())};
    row.error = error_of(of, of.values_on(options.device));
    report(row);
  }
}

void bench_case(const BenchOptions& options, const TensorFile& file, const Report& report) {
  for (const std::string& name : automaton_case_names(file)) {
    const AutomatonCase of(options.file, file, name, DType::float32);
    const std::vector<Tensor> parameters = of.rule().parameters();
    AdamW optimiser(parameters, {});
    const double work = operations_of(of.rule(), of.size());
    BenchmarkRow step{"automata.step", {}, error_of(of, of.values()), work};
    step.time = measure([&] { optimiser.step(grad(of.loss(), parameters), learning_rate); },
                        options.repeat);
    report(step);
    report({"automata.forward", measure([&] { of.loss(); }, options.repeat), 0, work * 6 / 21});
    const Tensor loss = of.loss();
    report({"automata.backward",
            measure([&] { grad(loss, parameters, {.keep_graph = true}); }, options.repeat), 0,
            work * 15 / 21});
  }
}

// ---------------------------------------------------------------------------------------------
// Hardened rules

/// Hand-written Game of Life with 64 cells per word, on a torus of 64 n cells per row, as a
/// baseline.
class LifeByHand {
 public:
  explicit LifeByHand(const automata::BitGrid& grid)
      : row_(grid.row_words()), rows_(index(grid.height())) {
    const auto words = grid.channel(0);
    now_.assign(words.begin() + static_cast<std::ptrdiff_t>(row_),
                words.end() - static_cast<std::ptrdiff_t>(row_));
    next_.resize(now_.size());
  }

  void step() {
    constexpr std::size_t rows_per_task = 64;
    parallel_for(task_count(rows_, rows_per_task), [&](std::size_t task) {
      const std::size_t end = std::min(rows_, (task + 1) * rows_per_task);
      for (std::size_t y = task * rows_per_task; y < end; ++y) step_row(y);
    });
    now_.swap(next_);
  }

  std::int64_t differences(const automata::BitGrid& grid) const {
    const auto words = grid.channel(0);
    std::int64_t count = 0;
    for (std::size_t i = 0; i < now_.size(); ++i) count += std::popcount(now_[i] ^ words[row_ + i]);
    return count;
  }

 private:
  static std::size_t index(std::int64_t i) { return static_cast<std::size_t>(i); }

  void step_row(std::size_t y) {
    const std::uint64_t* above = now_.data() + (y + rows_ - 1) % rows_ * row_;
    const std::uint64_t* own = now_.data() + y * row_;
    const std::uint64_t* below = now_.data() + (y + 1) % rows_ * row_;
    for (std::size_t w = 0; w < row_; ++w) {
      const std::size_t before = (w + row_ - 1) % row_;
      const std::size_t after = (w + 1) % row_;
      const auto left = [&](const std::uint64_t* r) { return (r[w] << 1) | (r[before] >> 63); };
      const auto right = [&](const std::uint64_t* r) { return (r[w] >> 1) | (r[after] << 63); };
      // Full adders: three neighbours above, three below, left and right.
      const std::uint64_t a = left(above) ^ above[w];
      const std::uint64_t a0 = a ^ right(above);
      const std::uint64_t a1 = (left(above) & above[w]) | (a & right(above));
      const std::uint64_t b = left(below) ^ below[w];
      const std::uint64_t b0 = b ^ right(below);
      const std::uint64_t b1 = (left(below) & below[w]) | (b & right(below));
      const std::uint64_t c0 = left(own) ^ right(own);
      const std::uint64_t c1 = left(own) & right(own);
      const std::uint64_t ones = a0 ^ b0 ^ c0;
      const std::uint64_t carry = (a0 & b0) | ((a0 ^ b0) & c0);
      // Two or three neighbours: exactly one of the four carries is set.
      const std::uint64_t odd = a1 ^ b1 ^ c1 ^ carry;
      const std::uint64_t many = (a1 & b1) | (c1 & carry) | ((a1 | b1) & (c1 | carry));
      next_[y * row_ + w] = odd & ~many & (ones | own[w]);
    }
  }

  std::size_t row_;
  std::size_t rows_;
  std::vector<std::uint64_t> now_;
  std::vector<std::uint64_t> next_;
};

void bench_model(const BenchOptions& options, const Report& report, nlohmann::json& facts) {
  constexpr std::int64_t side = 2048;
  constexpr int warm_steps = 8;
  const LoadedModel loaded = load_model(options.file);
  const automata::Rule& rule = loaded.model.rule();
  const bool is_life = loaded.spec && loaded.spec->task.kind == data::TaskKind::life;
  const automata::BitGrid start =
      automata::BitGrid::from(automata::random_starts({rule.channels(), 1, side, side}, 1, 0));
  automata::BitAutomaton automaton = automata::simplified_automaton(rule);
  automata::BitGrid state = start;
  LifeByHand by_hand(start);
  for (int step = 0; step < warm_steps; ++step) {
    automaton.step(state);
    by_hand.step();
  }
  BenchmarkRow row{
      "automata.hard", {}, is_life ? static_cast<double>(by_hand.differences(state)) : 0};
  row.time = measure([&] { automaton.step(state); }, options.repeat);
  report(row);
  const auto cells_per_second = [](const Timing& time) {
    return static_cast<double>(side * side) / (time.median_ms * 1e-3);
  };
  facts["cells"] = side * side;
  facts["operations"] = automaton.operations();
  facts["cell_updates_per_second"] = cells_per_second(row.time);
  if (!is_life) return;
  BenchmarkRow hand{"automata.life_by_hand", measure([&] { by_hand.step(); }, options.repeat)};
  report(hand);
  facts["by_hand_per_second"] = cells_per_second(hand.time);
}

}  // namespace

void bench_automata(const BenchOptions& options, const Report& report, nlohmann::json& facts) {
  if (!options.device.is_cpu() && options.file.empty()) {
    fail("bench", "on {} this benchmark needs --file with reference values of an automaton",
         to_string(options.device));
  }
  if (options.file.empty()) {
    bench_experiments(options, report);
    bench_memory(options, report);
    return add_machine(facts);
  }
  const TensorFile file = load_safetensors(options.file);
  if (automata::Rule::is_in(file)) {
    check_device(options.device, on_cuda);
    return options.device.backend == Backend::cuda ? bench_hard_on_cuda(options, report, facts)
                                                   : bench_model(options, report, facts);
  }
  if (!holds_automaton_cases(file)) {
    fail("bench", "{}: not an automaton or reference values of one", options.file);
  }
  if (!options.device.is_cpu()) return bench_case_on_device(options, file, report);
  bench_case(options, file, report);
  add_machine(facts);
}

}  // namespace boolgrad::cli
