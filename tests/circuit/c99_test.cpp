#include "boolgrad/circuit/formats/c99.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <optional>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "boolgrad/automata/bit_automaton.h"
#include "boolgrad/automata/rule_netlist.h"
#include "boolgrad/circuit/group_sums.h"
#include "tests/support/convolution_networks.h"
#include "tests/support/exported_netlists.h"
#include "tests/support/life_rule.h"
#include "tests/support/scratch.h"
#include "tests/support/tools.h"

namespace boolgrad::circuit {
namespace {

using testing_support::require_tool;
using testing_support::run_tool;
using testing_support::ScratchFolder;
using testing_support::ToolResult;
using testing_support::write_bytes;

std::string array(const std::string& name, const std::vector<std::uint64_t>& words) {
  std::string text = fmt::format("static const uint64_t {}[] = {{", name);
  for (const std::uint64_t word : words) text += fmt::format("UINT64_C({:#x}), ", word);
  return text + "0};\n";
}

std::vector<std::uint64_t> numbers_in(const std::string& text) {
  std::vector<std::uint64_t> numbers;
  for (std::size_t at = 0; at < text.size(); at = text.find('\n', at) + 1) {
    numbers.push_back(std::stoull(text.substr(at, text.find('\n', at) - at), nullptr, 16));
  }
  return numbers;
}

class C99Test : public testing::TestWithParam<const char*> {
 protected:
  void SetUp() override { require_tool(GetParam(), GetParam()); }

  /// Compiles and runs a program that includes the header.
  template <class Circuit>
  std::vector<std::uint64_t> run(const Circuit& circuit, const std::string& program) const {
    write_bytes(scratch_ / "circuit.h", to_c(circuit));
    write_bytes(scratch_ / "main.c",
                "#include \"circuit.h\"\n#include <inttypes.h>\n#include <stdio.h>\n" + program);
    const std::string folder = scratch_.path().string();
    const ToolResult compiled = run_tool(
        fmt::format("{} -std=c99 -O1 -Wall -Wextra -Wpedantic -Werror {}/main.c -o {}/main",
                    GetParam(), folder, folder));
    EXPECT_EQ(compiled.code, 0) << compiled.output << program;
    const ToolResult result = run_tool(folder + "/main");
    EXPECT_EQ(result.code, 0) << result.output;
    return compiled.code == 0 ? numbers_in(result.output) : std::vector<std::uint64_t>{};
  }

  template <class Circuit>
  std::vector<std::uint64_t> evaluated(const Circuit& circuit,
                                       const std::vector<std::uint64_t>& words) const {
    return run(circuit, array("words", words) +
                            "int main(void) {\n  uint64_t out[RANDOM_OUTPUTS + 1];\n"
                            "  random_eval(words, out);\n"
                            "  for (int i = 0; i < RANDOM_OUTPUTS; ++i)\n"
                            "    printf(\"%\" PRIx64 \"\\n\", out[i]);\n}\n");
  }

  /// The state after some steps. Only cells in `fire` step, unless it is empty.
  std::vector<std::uint64_t> stepped(const Netlist& netlist,
                                     const std::vector<std::uint64_t>& state,
                                     const std::vector<std::uint64_t>& fire, int steps,
                                     std::int64_t height, std::int64_t width) const {
    const std::size_t count = state.size();
    return run(netlist,
               array("start", state) + array("fire", fire) +
                   fmt::format("int main(void) {{\n  uint64_t a[{0}], b[{0}];\n"
                               "  for (int i = 0; i < {0}; ++i) a[i] = start[i];\n"
                               "  for (int s = 0; s < {1}; ++s) {{\n"
                               "    random_step(a, b, {2}, {3}, {4});\n"
                               "    for (int i = 0; i < {0}; ++i) a[i] = b[i];\n  }}\n"
                               "  (void)fire;\n"
                               "  for (int i = 0; i < {0}; ++i) printf(\"%\" PRIx64 \"\\n\", "
                               "a[i]);\n}}\n",
                               count, steps, fire.empty() ? "NULL" : "fire", height, width));
  }

  ScratchFolder scratch_;
};

TEST_P(C99Test, AgreesWithTheNetlist) {
  for (std::uint64_t seed = 0; seed < 4; ++seed) {
    const Netlist netlist = random_netlist({.inputs = 9, .gates = 80, .outputs = 12}, seed);
    const std::vector<std::uint64_t> words = random_words(9, seed);
    EXPECT_EQ(evaluated(netlist, words), evaluate(netlist, words));
  }
}

TEST_P(C99Test, ComputesSumsThresholdsAndClasses) {
  const Netlist netlist = random_netlist({.inputs = 9, .gates = 80, .outputs = 30}, 6);
  const std::vector<std::uint64_t> words = random_words(9, 6);
  for (const Netlist& counted :
       {with_group_sums(netlist, 3), with_thresholds(netlist, 3, 4), with_argmax(netlist, 3)}) {
    EXPECT_EQ(evaluated(counted, words), evaluate(counted, words));
  }
}

TEST_P(C99Test, ComputesEveryTableOfTwoAndSomeOfThreeInputs) {
  Netlist netlist = random_netlist({.inputs = 3, .gates = 0, .outputs = 0}, 0);
  for (std::uint64_t truth = 0; truth < 16 + 256; ++truth) {
    const bool two = truth < 16;
    netlist.gates.push_back({.truth = two ? truth : truth - 16,
                             .inputs = {0, 1, 2},
                             .arity = static_cast<std::uint8_t>(two ? 2 : 3)});
    netlist.outputs.push_back(fmt::format("y{}", truth));
    netlist.output_nets.push_back(netlist.gate(truth));
  }
  const std::vector<std::uint64_t> words{0xAA, 0xCC, 0xF0};
  EXPECT_EQ(evaluated(netlist, words), evaluate(netlist, words));
}

TEST_P(C99Test, SharedKernelsAgreeWithTheNetwork) {
  int found = 0;
  for (std::uint64_t seed = 0; found < 12; ++seed) {
    const logic::Network network = random_convolution_network(seed);
    std::optional<SharedCircuit> circuit = shared_circuit_of(network);
    if (!circuit) continue;
    circuit->name = "random";
    const std::vector<std::uint64_t> words = random_words(circuit->inputs.size(), seed);
    const std::vector<std::uint64_t> expected = network.hard({network.inputs(), 64, words}).words;
    const bool is_simplified = found++ % 3 != 0;
    EXPECT_EQ(evaluated(is_simplified ? simplified(*circuit) : *circuit, words), expected) << seed;
  }
}

TEST_P(C99Test, AcceptsAnyName) {
  Netlist netlist;
  netlist.name = "2 */ odd\nname";
  netlist.outputs = {"*/ #error"};
  netlist.gates = {{.truth = 1}};
  netlist.output_nets = {0};
  EXPECT_EQ(run(checked(netlist),
                "int main(void) { uint64_t out[1]; _2____odd_name_eval(NULL, out);\n"
                "printf(\"%\" PRIx64 \"\\n\", out[0]); }\n"),
            std::vector<std::uint64_t>{~0ULL});
}

/// The state [channel][row][word] of a grid, without halo rows.
std::vector<std::uint64_t> packed(const automata::BitGrid& grid) {
  std::vector<std::uint64_t> words;
  for (std::int64_t c = 0; c < grid.channels(); ++c) {
    const auto channel = grid.channel(c);
    const std::size_t row = grid.row_words();
    words.insert(words.end(), channel.begin() + static_cast<std::ptrdiff_t>(row),
                 channel.end() - static_cast<std::ptrdiff_t>(row));
  }
  return words;
}

TEST_P(C99Test, StepsLifeLikeTheSimulator) {
  for (const std::int64_t width : {3, 5, 64, 130}) {
    automata::BitGrid grid(1, 1, 7, width);
    const std::vector<std::uint64_t> noise = random_words(7 * 130, 5);
    for (std::int64_t i = 0; i < 7 * width; ++i) {
      grid.set(0, 0, i / width, i % width, (noise[static_cast<std::size_t>(i)] & 1) != 0);
    }
    const std::vector<std::uint64_t> start = packed(grid);
    Netlist netlist = harden(life_rule());
    netlist.name = "random";
    automata::BitAutomaton automaton(life_rule());
    for (int step = 0; step < 9; ++step) automaton.step(grid);
    EXPECT_EQ(stepped(netlist, start, {}, 9, 7, width), packed(grid)) << width;
  }
}

bool cell(const std::vector<std::uint64_t>& state, std::int64_t row, std::int64_t words,
          std::int64_t x) {
  return (state[static_cast<std::size_t>(row * words + x / 64)] >> (x % 64) & 1) != 0;
}

struct Place {
  std::int64_t height;
  std::int64_t width;
};

/// Input `index` of the rule at a cell.
bool seen(const NetlistState& rule, const std::vector<std::uint64_t>& state, const Place& size,
          const Place& at, std::int64_t index) {
  std::int64_t y = at.height + index % 9 / 3 - 1;
  std::int64_t x = at.width + index % 3 - 1;
  const bool outside = y < 0 || x < 0 || y >= size.height || x >= size.width;
  if (outside && rule.border == Border::zero) return false;
  y = (y + size.height) % size.height;
  x = (x + size.width) % size.width;
  return cell(state, index / 9 * size.height + y, (size.width + 63) / 64, x);
}

/// One step, cell by cell.
std::vector<std::uint64_t> next_of(const Netlist& netlist, const std::vector<std::uint64_t>& state,
                                   const std::vector<std::uint64_t>& fire, const Place& size) {
  std::vector<std::uint64_t> next = state;
  const std::int64_t words = (size.width + 63) / 64;
  for (std::int64_t i = 0; i < size.height * size.width; ++i) {
    const Place at{i / size.width, i % size.width};
    if (!fire.empty() && !cell(fire, at.height, words, at.width)) continue;
    std::vector<std::uint64_t> inputs;
    for (std::int64_t k = 0; k < 9 * netlist.state->channels; ++k) {
      inputs.push_back(seen(*netlist.state, state, size, at, k) ? 1 : 0);
    }
    const std::vector<std::uint64_t> outputs = evaluate(netlist, inputs);
    for (std::int64_t c = 0; c < netlist.state->channels; ++c) {
      std::uint64_t& to =
          next[static_cast<std::size_t>((c * size.height + at.height) * words + at.width / 64)];
      const std::uint64_t bit = std::uint64_t{1} << (at.width % 64);
      to = (outputs[static_cast<std::size_t>(c)] & 1) != 0 ? to | bit : to & ~bit;
    }
  }
  return next;
}

TEST_P(C99Test, StepsAnyChannelsBordersAndSizes) {
  const std::vector<std::tuple<Border, std::int64_t, Place>> cases = {
      {Border::zero, 1, {1, 1}},      {Border::periodic, 1, {1, 1}}, {Border::zero, 3, {4, 70}},
      {Border::periodic, 3, {4, 70}}, {Border::zero, 2, {2, 128}},   {Border::periodic, 2, {2, 2}},
  };
  for (const auto& [border, channels, size] : cases) {
    const Netlist netlist = random_automaton(channels, border, 11);
    const std::int64_t words = (size.width + 63) / 64;
    std::vector<std::uint64_t> state =
        random_words(static_cast<std::size_t>(channels * size.height * words), 2);
    for (std::size_t i = 0; i < state.size(); ++i) {
      const bool last = (static_cast<std::int64_t>(i) + 1) % words == 0;
      if (last) state[i] &= ~0ULL >> (63 - (size.width - 1) % 64);
    }
    const auto fire = random_words(static_cast<std::size_t>(size.height * words), 3);
    for (const bool all : {true, false}) {
      const auto mask = all ? std::vector<std::uint64_t>{} : fire;
      std::vector<std::uint64_t> expected = state;
      for (int step = 0; step < 3; ++step) expected = next_of(netlist, expected, mask, size);
      EXPECT_EQ(stepped(netlist, state, mask, 3, size.height, size.width), expected)
          << size.height << "x" << size.width << (all ? "" : " asynchronous");
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Compilers, C99Test, testing::Values("gcc", "clang"));

}  // namespace
}  // namespace boolgrad::circuit
