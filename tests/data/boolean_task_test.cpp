#include "boolgrad/data/boolean_task.h"

#include <gtest/gtest.h>

#include <string>
#include <utility>

#include "tests/support/messages.h"

namespace boolgrad {
namespace {

/// The bits of one case, lowest first, as text.
std::string column(const Tensor& bits, std::int64_t c) {
  std::string text;
  for (std::int64_t i = 0; i < bits.shape()[0]; ++i) {
    text += bits.at(i * bits.shape()[1] + c) == 0 ? '0' : '1';
  }
  return text;
}

/// The outputs of `kind` for inputs written lowest bit first.
std::string outputs(const std::string& kind, const std::string& inputs) {
  const BooleanTask task = boolean_task(kind, static_cast<int>(inputs.size()));
  for (std::int64_t c = 0; c < task.cases(); ++c) {
    if (column(task.inputs, c) == inputs) return column(task.targets, c);
  }
  return "no such case";
}

TEST(BooleanTask, CasesCountUpWithTheLowestBitFirst) {
  const BooleanTask task = boolean_task("copy", 3);
  EXPECT_EQ(task.name, "copy");
  EXPECT_EQ(task.cases(), 8);
  EXPECT_EQ(task.input_count(), 3);
  EXPECT_EQ(task.inputs.dtype(), DType::uint8);
  EXPECT_EQ(column(task.inputs, 0), "000");
  EXPECT_EQ(column(task.inputs, 1), "100");
  EXPECT_EQ(column(task.inputs, 6), "011");
}

TEST(BooleanTask, MultipliesTheTwoHalves) {
  EXPECT_EQ(outputs("multiply",
                    "1010"
                    "1100"),
            "11110000");                                   // 5 * 3 = 15
  EXPECT_EQ(outputs("multiply", "11111111"), "10000111");  // 15 * 15 = 225
  EXPECT_EQ(outputs("multiply", "11"), "10");
}

TEST(BooleanTask, AddsWithCarry) {
  EXPECT_EQ(outputs("add", "10101100"), "00010");  // 5 + 3 = 8
  EXPECT_EQ(outputs("add", "11111000"), "00001");  // 15 + 1 = 16
  EXPECT_EQ(outputs("add", "11"), "01");
}

TEST(BooleanTask, TakesHalvesBitByBit) {
  EXPECT_EQ(outputs("and", "11001010"), "1000");
  EXPECT_EQ(outputs("xor", "11001010"), "0110");
}

TEST(BooleanTask, TakesTheWholeInput) {
  EXPECT_EQ(outputs("parity", "1011"), "1");
  EXPECT_EQ(outputs("parity", "11110"), "0");
  EXPECT_EQ(outputs("reverse", "11010"), "01011");
  EXPECT_EQ(outputs("copy", "10011"), "10011");
  EXPECT_EQ(outputs("gray", "110"), "010");     // 3 -> 2
  EXPECT_EQ(outputs("gray", "0001"), "0011");   // 8 -> 12
  EXPECT_EQ(outputs("popcount", "101"), "01");  // 2
  EXPECT_EQ(outputs("popcount", "1111111"), "111");
  EXPECT_EQ(outputs("popcount", "11111111"), "0001");
}

TEST(BooleanTask, HasAsManyOutputsAsTheValuesNeed) {
  const std::pair<const char*, std::int64_t> expected[] = {
      {"multiply", 8}, {"add", 5},  {"and", 4},  {"xor", 4},     {"parity", 1},
      {"reverse", 8},  {"copy", 8}, {"gray", 8}, {"popcount", 4}};
  EXPECT_EQ(boolean_task_names().size(), std::size(expected));
  for (const auto& [kind, count] : expected) {
    EXPECT_EQ(boolean_task(kind, 8).output_count(), count) << kind;
    EXPECT_EQ(boolean_task(kind, 8).cases(), 256) << kind;
  }
}

TEST(BooleanTask, GoesUpToManyBits) {
  const BooleanTask task = boolean_task("parity", 16);
  EXPECT_EQ(task.cases(), 65536);
  EXPECT_EQ(column(task.targets, 65535), "0");
  EXPECT_EQ(column(task.targets, 65534), "1");
}

TEST(BooleanTask, RefusesWhatItCannotWriteOut) {
  expect_error([] { boolean_task("multipy", 8); },
               "[task] expected one of multiply, add, and, xor, parity, reverse, copy, gray or "
               "popcount, received 'multipy'");
  expect_error([] { boolean_task("add", 7); },
               "[task] expected an even number of bits for the two halves of add, received 7");
  expect_error([] { boolean_task("copy", 0); }, "[task] expected copy of 1 to 20 bits, received 0");
  expect_error([] { boolean_task("xor", 22); }, "[task] expected xor of 1 to 20 bits, received 22");
}

}  // namespace
}  // namespace boolgrad
