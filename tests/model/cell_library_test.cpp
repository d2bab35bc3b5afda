#include "boolgrad/model/cell_library.h"

#include <gtest/gtest.h>

#include "tests/support/messages.h"
#include "tests/support/scratch.h"

namespace boolgrad {
namespace {

TEST(CellLibrary, ReadsGatesAndTheirPins) {
  const auto cells =
      read_cell_library("synth",
                        "# GATE no 1 y=a;\nGATE zero 0 y=CONST0;\n"
                        "GATE mux2 3.00 y=(a*!s)+(b*s); PIN * NONINV 1 9 1 0 1 0\n"
                        "GATE x2 2.33 z = (p_1*!q)+(!p_1*q);\nPIN * INV 1 9 1 0 1 0\n",
                        "test.genlib");
  ASSERT_EQ(cells.size(), 3U);
  EXPECT_EQ(cells[0].inputs, std::vector<std::string>{});
  EXPECT_EQ(cells[1].area, 3.0);
  EXPECT_EQ(cells[1].inputs, (std::vector<std::string>{"a", "s", "b"}));
  EXPECT_EQ(cells[2].output, "z");
  EXPECT_EQ(cells[2].inputs, (std::vector<std::string>{"p_1", "q"}));
  EXPECT_EQ(black_boxes({cells[0], cells[2]}),
            "(* blackbox *) module zero (output y);\nendmodule\n"
            "(* blackbox *) module x2 (input p_1, input q, output z);\nendmodule\n");
}

TEST(CellLibrary, RefusesOtherText) {
  const auto read = [](const char* text) { read_cell_library("synth", text, "t.genlib"); };
  expect_error([&] { read("GATE inv x y=!a;\n"); },
               "[synth] t.genlib:1: expected GATE NAME AREA OUTPUT=FUNCTION;, received 'GATE inv x "
               "y=!a;'");
  for (const char* text : {"\nGATE inv\n", "\nGATE inv 1 y;\n", "\nGATE inv -1 y=a;\n",
                           "\nGATE 3x 1 y=a;\n", "\nGATE inv nan y=a;\n", "\nGATE inv 1 =a;\n"}) {
    EXPECT_THROW(read(text), Error) << text;
  }
  expect_error([&] { read(""); },
               "[synth] t.genlib: expected gates in genlib format, received none");
}

TEST(CellLibrary, TheShippedOneIsInUnitsOfANand) {
  const std::string file = BOOLGRAD_SOURCE_DIR "/libraries/cells.genlib";
  bool has_nand = false;
  for (const LibraryCell& cell :
       read_cell_library("synth", testing_support::read_bytes(file), file)) {
    EXPECT_LE(cell.area, 3.0) << cell.name;
    if (cell.name == "nand2") {
      has_nand = true;
      EXPECT_EQ(cell.area, 1.0);
    }
  }
  EXPECT_TRUE(has_nand);
}

}  // namespace
}  // namespace boolgrad
