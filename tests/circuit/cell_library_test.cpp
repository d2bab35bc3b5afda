#include "boolgrad/circuit/cells/cell_library.h"

#include <gtest/gtest.h>

#include <string>

#include "tests/support/messages.h"

namespace boolgrad::circuit {
namespace {

const char* const required = "GATE inv 1 y=!a;\nGATE nand2 2 y=!(a*b);\n";

/// The table of the cell behind the two that every library has.
unsigned truth_of(const std::string& expression) {
  const CellLibrary library =
      cell_library_from_genlib(required + ("GATE own 1 y=" + expression + ";"), "own.genlib");
  return library.cells.at(2).truth;
}

void expect_refused(const std::string& text, const std::string& message) {
  expect_error([&] { cell_library_from_genlib(text, "own.genlib"); },
               "[genlib] own.genlib" + message);
}

TEST(CellLibrary, ReadsTheShippedLibrary) {
  const CellLibrary library = read_cell_library(BOOLGRAD_SOURCE_DIR "/libraries/cells.genlib");
  EXPECT_EQ(library.cells.size(), 23U);
  EXPECT_EQ(library.left_out, 0);
  EXPECT_EQ(library.nand2_area(), 1);
  EXPECT_EQ(library.inverter_area(), 1);
  const Cell& mux = library.cells.back();
  EXPECT_EQ(mux.name, "mux2");
  EXPECT_EQ(mux.area, 3);
  EXPECT_EQ(mux.inputs, (std::vector<std::string>{"a", "s", "b"}));
  EXPECT_EQ(mux.truth & 0xFF, 0b11100010);
}

TEST(CellLibrary, ReadsExpressions) {
  constexpr unsigned a = 0xAAAA;
  constexpr unsigned b = 0xCCCC;
  constexpr unsigned c = 0xF0F0;
  EXPECT_EQ(truth_of("a*b+!c"), (a & b) | (~c & 0xFFFF));
  EXPECT_EQ(truth_of("a b | c'"), (a & b) | (~c & 0xFFFF));
  EXPECT_EQ(truth_of("!(a & b)(c)"), ~(a & b) & c);
  EXPECT_EQ(truth_of("a ^ b * c"), a ^ (b & c));
  EXPECT_EQ(truth_of("!!a"), a);
  EXPECT_EQ(truth_of("a''"), a);
  EXPECT_EQ(truth_of("CONST0"), 0U);
  EXPECT_EQ(truth_of("CONST1 * (a + b)"), a | b);
}

TEST(CellLibrary, SkipsPinsCommentsLatchesAndLargeCells) {
  const CellLibrary library = cell_library_from_genlib(
      "# a library\nGATE \"inv\" 1.5 O=!a;\n  PIN * INV 1 999 1 0\n 1 0\n"
      "GATE nand2 2.5e0 O=!(a*b);  PIN a INV 1 999 1 0 1 0 PIN b INV 1 999 1 0 1 0\n"
      "LATCH dff 4 Q=D; PIN D NONINV 1 999 1 0 1 0\nSEQ Q ANY RISING_EDGE\n"
      "GATE and5 3 O=a*b*c*d*e; # PIN\n",
      "own.genlib");
  ASSERT_EQ(library.cells.size(), 2U);
  EXPECT_EQ(library.cells[0].name, "inv");
  EXPECT_EQ(library.left_out, 2);
  EXPECT_EQ(library.nand2_area(), 2.5);
}

TEST(CellLibrary, FindsTheSmallestCellForAnyOrderOfInputs) {
  const CellLibrary library = cell_library_from_genlib(
      std::string(required) + "GATE big 3 y=!a*b;\nGATE small 2 y=b*!a;\nGATE same 2 y=!a*b;\n",
      "own");
  EXPECT_EQ(library.smallest(0x4444, 2), 3U);
  EXPECT_EQ(library.smallest(0x2222, 2), 3U);
  EXPECT_FALSE(library.smallest(0x8888, 2));
}

TEST(CellLibrary, RefusesWhatItCannotRead) {
  expect_refused("GATE inv 1 y=!a;\nCELL x", ":2: expected GATE, LATCH or PIN, received 'CELL'");
  expect_refused("GATE", ":1: expected the name of a cell, received the end of the file");
  expect_refused("GATE inv", ":1: expected an area, received the end of the file");
  expect_refused("GATE inv -1 y=a;", ":1: expected an area of 0 or more, received '-1'");
  expect_refused("GATE inv nan y=a;", ":1: expected an area of 0 or more, received 'nan'");
  expect_refused("GATE inv 1x y=a;", ":1: expected an area of 0 or more, received '1x'");
  expect_refused("GATE inv 1 =a;", ":1: expected the name of an output, received '=a;'");
  expect_refused("GATE inv 1 y a;", ":1: expected '=', received 'a;'");
  expect_refused("GATE inv 1 y=!(a\n;", ":2: expected ')', received ';'");
  expect_refused("GATE inv 1 y=a*;", ":1: expected an input, '!' or '(', received ';'");
  expect_refused("GATE inv 1 y=a", ":1: expected ';', received the end of the file");
  expect_refused(
      "GATE deep 1 y=" + std::string(300, '!') + "a;",
      ":1: expected an expression of at most 200 levels, received '" + std::string(40, '!') + "'");
}

TEST(CellLibrary, RequiresAnInverterAndANand) {
  expect_refused("", ": expected a cell '!a' (an inverter), received none");
  expect_refused("GATE inv 1 y=!a;\nGATE nor2 1 y=!(a+b);",
                 ": expected a cell '!(a*b)' (a NAND), received none");
  expect_refused("GATE inv 0 y=!a;", ": expected an area above 0 of the cell inv, received 0");
  expect_error([] { read_cell_library("/nonexistent.genlib"); },
               "[genlib] cannot read /nonexistent.genlib: No such file or directory");
}

}  // namespace
}  // namespace boolgrad::circuit
