#include "boolgrad/circuit/cells/cell_mapping.h"

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <rapidcheck.h>

#include <algorithm>
#include <string>
#include <vector>

#include "boolgrad/circuit/formats/blif.h"
#include "boolgrad/circuit/group_sums.h"
#include "boolgrad/circuit/passes/passes.h"
#include "boolgrad/circuit/proof/equivalence.h"
#include "tests/support/built_in_netlists.h"
#include "tests/support/messages.h"
#include "tests/support/netlists.h"
#include "tests/support/scratch.h"
#include "tests/support/tools.h"

namespace boolgrad::circuit {
namespace {

const std::string library_path = BOOLGRAD_SOURCE_DIR "/libraries/cells.genlib";

CellLibrary shipped_library() { return read_cell_library(library_path); }

/// Tables over inputs a, b, ...
Netlist netlist_of(std::size_t inputs, const std::vector<NetlistGate>& gates,
                   const std::vector<Net>& outputs) {
  Netlist netlist;
  for (std::size_t i = 0; i < inputs; ++i) netlist.inputs.push_back(fmt::format("x{}", i));
  for (std::size_t i = 0; i < outputs.size(); ++i) netlist.outputs.push_back(fmt::format("y{}", i));
  netlist.gates = gates;
  netlist.output_nets = outputs;
  return checked(std::move(netlist));
}

std::vector<std::string> names_of(const CellCover& cover, const CellLibrary& library) {
  std::vector<std::string> names;
  for (const std::size_t cell : cover.cells) names.push_back(library.cells[cell].name);
  std::ranges::sort(names);
  return names;
}

/// Whether the gates have the tables of their cells, and the areas of cells add up.
void expect_cells(const CellCover& cover, const CellLibrary& library) {
  ASSERT_EQ(cover.cells.size(), cover.netlist.gates.size());
  double area = 0;
  for (std::size_t g = 0; g < cover.cells.size(); ++g) {
    const Cell& cell = library.cells.at(cover.cells[g]);
    const NetlistGate& gate = cover.netlist.gates[g];
    ASSERT_EQ(gate.arity, cell.inputs.size());
    const unsigned ones = (1U << (1U << gate.arity)) - 1;
    ASSERT_EQ(gate.truth, cell.truth & ones);
    area += cell.area;
  }
  EXPECT_NEAR(cover.area, area, 1e-9);
  EXPECT_EQ(cover.depth, depth(cover.netlist));
}

TEST(CellMapping, PreservesTheFunction) {
  const CellLibrary library = shipped_library();
  const CellLibrary small = cell_library_from_genlib(
      "GATE nand 2 y=!(a*b);\nGATE not 1 y=!a;\nGATE z 0 y=CONST0;\n"
      "GATE o 0 y=CONST1;",
      "small");
  EXPECT_TRUE(rc::check("of random tables", [&](std::uint64_t seed) {
    const Netlist netlist = random_netlist(9, 60, 6, 4, seed);
    for (const CellLibrary* own : {&library, &small}) {
      const CellCover cover = map_to_cells(netlist, *own);
      RC_ASSERT(!difference(netlist, cover.netlist));
      expect_cells(cover, *own);
    }
  }));
}

TEST(CellMapping, MapsAFullAdderToThreeCells) {
  const CellLibrary library = shipped_library();
  const Netlist adder = netlist_of(3,
                                   {{.truth = 0b10010110, .inputs = {0, 1, 2}, .arity = 3},
                                    {.truth = 0b11101000, .inputs = {0, 1, 2}, .arity = 3}},
                                   {3, 4});
  const CellCover cover = map_to_cells(adder, library);
  EXPECT_EQ(names_of(cover, library), (std::vector<std::string>{"maj3", "xor2", "xor2"}));
  EXPECT_NEAR(cover.area, 7.33, 1e-9);
  EXPECT_EQ(cover.depth, 2);
}

TEST(CellMapping, UsesCellsOfEveryArity) {
  const CellLibrary library = shipped_library();
  for (const Cell& cell : library.cells) {
    const std::size_t inputs = cell.inputs.size();
    if (inputs == 0) continue;
    const std::uint64_t ones = (std::uint64_t{1} << (std::uint64_t{1} << inputs)) - 1;
    const Netlist netlist = netlist_of(inputs,
                                       {{.truth = cell.truth & ones,
                                         .inputs = {0, 1, 2, 3},
                                         .arity = static_cast<std::uint8_t>(inputs)}},
                                       {static_cast<Net>(inputs)});
    const CellCover cover = map_to_cells(netlist, library);
    EXPECT_LE(cover.area, cell.area + 1e-9) << cell.name;
    EXPECT_FALSE(difference(netlist, cover.netlist)) << cell.name;
  }
}

TEST(CellMapping, ChoosesThePolarityThatNeedsNoInverter) {
  // !(a*b) is read once and its complement twice: a NAND and an inverter, or an AND and a NAND.
  const CellLibrary library = shipped_library();
  const Netlist both = netlist_of(2,
                                  {{.truth = 0b0111, .inputs = {0, 1}, .arity = 2},
                                   {.truth = 0b1000, .inputs = {0, 1}, .arity = 2}},
                                  {2, 3});
  const CellCover cover = map_to_cells(both, library);
  EXPECT_EQ(names_of(cover, library), (std::vector<std::string>{"inv", "nand2"}));
  // De Morgan: !a * !b is one NOR.
  const Netlist nor = netlist_of(2,
                                 {{.truth = 0b01, .inputs = {0}, .arity = 1},
                                  {.truth = 0b01, .inputs = {1}, .arity = 1},
                                  {.truth = 0b1000, .inputs = {2, 3}, .arity = 2}},
                                 {4});
  EXPECT_EQ(names_of(map_to_cells(nor, library), library), (std::vector<std::string>{"nor2"}));
}

TEST(CellMapping, MapsConstantsInputsAndInverters) {
  const CellLibrary library = shipped_library();
  const Netlist netlist = netlist_of(
      1, {{.truth = 1, .inputs = {}, .arity = 0}, {.truth = 0b01, .inputs = {0}, .arity = 1}},
      {1, 0, 2, 1});
  const CellCover cover = map_to_cells(netlist, library);
  EXPECT_FALSE(difference(netlist, cover.netlist));
  EXPECT_EQ(names_of(cover, library), (std::vector<std::string>{"inv", "one"}));
  EXPECT_EQ(cover.area, 1);
  const CellLibrary without =
      cell_library_from_genlib("GATE nand 2 y=!(a*b);\nGATE not 1 y=!a;", "without");
  const CellCover free = map_to_cells(netlist, without);
  EXPECT_FALSE(difference(netlist, free.netlist));
  EXPECT_EQ(free.area, 1);
}

TEST(CellMapping, PinsBuiltInModels) {
  const CellLibrary library = shipped_library();
  std::vector<std::pair<std::string, std::string>> found;
  for (const char* name : {"add", "multiply", "popcount", "life"}) {
    const Netlist netlist = simplify(built_in_netlist(name));
    const CellCover cover = map_to_cells(netlist, library);
    EXPECT_FALSE(difference(netlist, cover.netlist));
    found.emplace_back(name, fmt::format("{:.2f}", cover.area));
  }
  EXPECT_EQ(
      found,
      (std::vector<std::pair<std::string, std::string>>{
          {"add", "25.66"}, {"multiply", "93.31"}, {"popcount", "44.30"}, {"life", "54.30"}}));
}

TEST(CellMapping, IsLimitedOnLongChains) {
  // Without a limit, recovery visits all gates below for each gate.
  Netlist netlist;
  netlist.inputs.push_back("x0");
  for (Net i = 0; i < 4000; ++i) {
    netlist.inputs.push_back(fmt::format("x{}", i + 1));
  }
  for (Net i = 0; i < 4000; ++i) {
    const Net before = i == 0 ? 0 : netlist.gate(i - 1);
    netlist.gates.push_back({.truth = i % 2 == 0 ? 0b1000U : 0b1110U,
                             .inputs = {before, netlist.input(i + 1)},
                             .arity = 2});
  }
  netlist.outputs = {"y"};
  netlist.output_nets = {netlist.gate(3999)};
  const CellLibrary library = shipped_library();
  const CellCover limited = map_to_cells(netlist, library, {.max_visits_per_gate = 10});
  expect_cells(limited, library);
  EXPECT_FALSE(difference(netlist, limited.netlist));
}

TEST(CellMapping, AgreesWithAbc) {
  if (testing_support::run_tool("command -v yosys-abc").code != 0) {
    GTEST_SKIP() << "yosys-abc is not installed";
  }
  const CellLibrary library = shipped_library();
  std::vector<std::pair<std::string, Netlist>> circuits;
  for (const char* name : {"add", "multiply", "popcount", "life", "checkerboard"}) {
    circuits.emplace_back(name, simplify(built_in_netlist(name)));
  }
  for (std::uint64_t seed = 1; seed <= 3; ++seed) {
    circuits.emplace_back(fmt::format("random {}", seed),
                          simplify(random_netlist(24, 600, 30, 2, seed)));
  }
  // Different outputs: a classifier does not count one twice.
  Netlist wires;
  for (Net i = 0; i < 60; ++i) {
    wires.inputs.push_back(fmt::format("x{}", i));
    wires.outputs.push_back(fmt::format("y{}", i));
    wires.output_nets.push_back(i);
  }
  circuits.emplace_back("argmax", with_argmax(wires, 3, {}, logic::AdderGates::conjunctions));
  const testing_support::ScratchFolder scratch;
  for (const auto& [name, netlist] : circuits) {
    testing_support::write_bytes(scratch / "a.blif", to_blif(netlist));
    const std::string output =
        testing_support::run_tool(
            fmt::format("cd {} && yosys-abc -c 'read_genlib {}; read_blif a.blif; strash; dch; "
                        "map -a; print_stats'",
                        scratch.path().string(), library_path))
            .output;
    const std::size_t at = output.find("area =");
    ASSERT_NE(at, std::string::npos) << output;
    const double abc = std::stod(output.substr(at + 6));
    const double own = map_to_cells(netlist, library).area;
    RecordProperty(name, fmt::format("{:.2f} of {:.2f}", own, abc));
    EXPECT_GE(own, 0.9 * abc) << name;
    EXPECT_LE(own, 1.1 * abc) << name;
  }
}

TEST(CellMapping, RejectsParametersWithoutCuts) {
  expect_error([] { map_to_cells({}, shipped_library(), {.max_cuts = 1}); },
               "[map_to_cells] expected at least 2 cuts and 1 round, received 1 and 4");
}

}  // namespace
}  // namespace boolgrad::circuit
