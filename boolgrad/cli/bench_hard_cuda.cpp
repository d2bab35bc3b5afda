// The benchmark "automata" for hardened rules on an NVIDIA GPU.
#include <fmt/format.h>

#include <bit>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "boolgrad/automata/bit_automaton.h"
#include "boolgrad/automata/simplified_automaton.h"
#include "boolgrad/backend/cuda/bits/bit_automaton.h"
#include "boolgrad/cli/bench.h"
#include "boolgrad/core/random.h"
#include "boolgrad/model/model.h"

namespace boolgrad::cli {
namespace {

automata::BitGrid random_grid(std::int64_t channels, std::int64_t side) {
  automata::BitGrid grid(channels, 1, side, side);
  std::uint64_t index = 0;
  for (std::int64_t c = 0; c < channels; ++c) {
    for (std::uint64_t& word : grid.channel(c)) {
      const PhiloxCounter bits = random_bits({.seed = 1, .index = index++});
      word = (std::uint64_t{bits[0]} << 32) | bits[1];
    }
  }
  return grid;
}

/// Hand-written Game of Life: full adders over the neighbours.
circuit::BitCircuit life_by_hand() {
  circuit::BitCircuit circuit(9);
  const auto at = [&](std::int64_t i) { return circuit.input(i); };
  const auto sum = [&](circuit::BitLiteral a, circuit::BitLiteral b) {
    return circuit.exclusive_or(a, b);
  };
  const auto carry = [&](circuit::BitLiteral a, circuit::BitLiteral b, circuit::BitLiteral c) {
    return circuit.disjunction(circuit.conjunction(a, b), circuit.conjunction(sum(a, b), c));
  };
  const circuit::BitLiteral a0 = sum(sum(at(0), at(1)), at(2));
  const circuit::BitLiteral a1 = carry(at(0), at(1), at(2));
  const circuit::BitLiteral b0 = sum(sum(at(6), at(7)), at(8));
  const circuit::BitLiteral b1 = carry(at(6), at(7), at(8));
  const circuit::BitLiteral c0 = sum(at(3), at(5));
  const circuit::BitLiteral c1 = circuit.conjunction(at(3), at(5));
  const circuit::BitLiteral ones = sum(sum(a0, b0), c0);
  const circuit::BitLiteral d1 = carry(a0, b0, c0);
  // Two or three neighbours: exactly one of the four carries is set.
  const circuit::BitLiteral odd = sum(sum(a1, b1), sum(c1, d1));
  const circuit::BitLiteral three = circuit.disjunction(
      circuit.conjunction(circuit.conjunction(a1, b1), circuit.disjunction(c1, d1)),
      circuit.conjunction(circuit.conjunction(c1, d1), circuit.disjunction(a1, b1)));
  circuit.add_output(
      circuit.conjunction(circuit.conjunction(odd, !three), circuit.disjunction(ones, at(4))));
  return circuit;
}

std::int64_t differences(const automata::BitGrid& a, const automata::BitGrid& b) {
  std::int64_t count = 0;
  const std::size_t row = a.row_words();
  for (std::int64_t c = 0; c < a.channels(); ++c) {
    // Without the rows above and below the grid, whose contents are undefined.
    const auto x = a.channel(c).subspan(row, a.channel_words() - 2 * row);
    const auto y = b.channel(c).subspan(row, b.channel_words() - 2 * row);
    for (std::size_t i = 0; i < x.size(); ++i) count += std::popcount(x[i] ^ y[i]);
  }
  return count;
}

struct Case {
  std::string name;
  const circuit::BitProgram& program;
  bool periodic;
  cuda::BitExecution execution;
};

void bench_case(const BenchOptions& options, const Case& of, const automata::BitGrid& start,
                const automata::BitGrid& expected, int warm_steps, const Report& report,
                nlohmann::json& facts) {
  constexpr int steps = 128;
  cuda::BitAutomaton automaton(of.program.code(),
                               {start.channels(), 1, start.height(), start.width(), of.periodic},
                               of.execution);
  automaton.upload(start.words());
  const double wait_ms = milliseconds_of([&] {
    automaton.step_all(1);
    automaton.wait();
  });
  for (int step = 1; step < warm_steps; ++step) automaton.step_all(1);
  automata::BitGrid state = start;
  automaton.download(state.words());
  BenchmarkRow row{of.name, {}, static_cast<double>(differences(state, expected))};
  automaton.milliseconds(steps);
  std::vector<double> times;
  for (int i = 0; i < (options.repeat > 0 ? options.repeat : 7); ++i) {
    times.push_back(automaton.milliseconds(steps) / steps);
  }
  std::ranges::sort(times);
  row.time = {times[times.size() / 2], times.front()};
  const auto cells = static_cast<double>(start.height() * start.width());
  row.bytes = 2 * static_cast<double>(start.channels()) * cells / 8;
  report(row);
  facts["hardened"].push_back({{"name", of.name},
                               {"cells", cells},
                               {"operations", of.program.operations()},
                               {"steps", of.program.steps()},
                               {"slots", of.program.slots()},
                               {"cell_updates_per_second", cells / (row.time.median_ms * 1e-3)},
                               {"first_step_ms", wait_ms}});
}

}  // namespace

void bench_hard_on_cuda(const BenchOptions& options, const Report& report, nlohmann::json& facts) {
  constexpr int warm_steps = 8;
  const LoadedModel loaded = load_model(options.file);
  const automata::Rule& rule = loaded.model.rule();
  const bool is_life = loaded.spec && loaded.spec->task.kind == data::TaskKind::life;
  const bool periodic = rule.border() == Border::periodic;
  const circuit::BitProgram hand(life_by_hand());
  for (const std::int64_t side : {1024, 4096, 16384}) {
    const automata::BitGrid start = random_grid(rule.channels(), side);
    automata::BitAutomaton automaton = automata::simplified_automaton(rule);
    automata::BitGrid expected = start;
    for (int step = 0; step < warm_steps; ++step) automaton.step(expected);
    const auto bench = [&](const char* name, const circuit::BitProgram& program,
                           cuda::BitExecution execution) {
      bench_case(options, {fmt::format("automata.{}.{}", name, side), program, periodic, execution},
                 start, expected, warm_steps, report, facts);
    };
    bench("hard", automaton.program(), cuda::BitExecution::compiled);
    bench("interpreted", automaton.program(), cuda::BitExecution::interpreted);
    if (is_life) bench("by_hand", hand, cuda::BitExecution::compiled);
  }
}

}  // namespace boolgrad::cli
