#include "boolgrad/data/boolean_task.h"

#include <gtest/gtest.h>

#include <optional>
#include <string>
#include <utility>

#include "tests/support/messages.h"

namespace boolgrad::data {
namespace {

/// The bits of one case as text, lowest first.
std::string column(const Tensor& bits, std::int64_t c) {
  std::string text;
  for (std::int64_t i = 0; i < bits.shape()[0]; ++i) {
    text += bits.at(i * bits.shape()[1] + c) == 0 ? '0' : '1';
  }
  return text;
}

/// The outputs of `kind` for inputs written lowest bit first.
std::string outputs(const std::string& kind, const std::string& inputs) {
  const BooleanTask task =
      boolean_task(parse_task_kind(kind).value(), static_cast<int>(inputs.size()));
  for (std::int64_t c = 0; c < task.cases(); ++c) {
    if (column(task.inputs, c) == inputs) return column(task.targets, c);
  }
  return "no such case";
}

TEST(BooleanTask, CasesCountUpWithTheLowestBitFirst) {
  const BooleanTask task = boolean_task(TaskKind::copy, 3);
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

TEST(BooleanTask, ComputesBitwiseFunctions) {
  EXPECT_EQ(outputs("and", "11001010"), "1000");
  EXPECT_EQ(outputs("xor", "11001010"), "0110");
}

TEST(BooleanTask, ComputesFunctionsOfOneNumber) {
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
  EXPECT_EQ(static_cast<std::size_t>(TaskKind::table), std::size(expected));
  for (const auto& [name, count] : expected) {
    const BooleanTask task = boolean_task(parse_task_kind(name).value(), 8);
    EXPECT_EQ(task.output_count(), count) << name;
    EXPECT_EQ(task.cases(), 256) << name;
  }
}

TEST(BooleanTask, SupportsTwentyBits) {
  const BooleanTask task = boolean_task(TaskKind::parity, 16);
  EXPECT_EQ(task.cases(), 65536);
  EXPECT_EQ(column(task.targets, 65535), "0");
  EXPECT_EQ(column(task.targets, 65534), "1");
}

TEST(BooleanTask, RejectsInvalidNumbersOfBits) {
  expect_error([] { boolean_task(TaskKind::add, 7); },
               "[task] expected an even number of bits for the two halves of add, received 7");
  expect_error([] { boolean_task(TaskKind::copy, 0); },
               "[task] expected copy of 1 to 20 bits, received 0");
  expect_error([] { boolean_task(TaskKind::bitwise_xor, 22); },
               "[task] expected xor of 1 to 20 bits, received 22");
}

TEST(TaskKind, IsParsedFromItsName) {
  for (const TaskKind kind : all_task_kinds()) EXPECT_EQ(parse_task_kind(to_string(kind)), kind);
  EXPECT_EQ(to_string(TaskKind::bitwise_and), "and");
  for (const char* name : {"multipy", "", "Add", "bitwise_and"}) {
    EXPECT_EQ(parse_task_kind(name), std::nullopt) << name;
  }
}

TEST(TaskKind, BelongsToAFamily) {
  EXPECT_EQ(family_of(TaskKind::multiply), TaskFamily::circuit);
  EXPECT_EQ(family_of(TaskKind::table), TaskFamily::circuit);
  EXPECT_EQ(family_of(TaskKind::life), TaskFamily::automaton);
  EXPECT_EQ(family_of(TaskKind::picture), TaskFamily::automaton);
  EXPECT_EQ(family_of(TaskKind::idx), TaskFamily::classifier);
  EXPECT_EQ(family_of(TaskKind::monk3), TaskFamily::classifier);
}

}  // namespace
}  // namespace boolgrad::data
