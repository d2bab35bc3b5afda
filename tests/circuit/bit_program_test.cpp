#include "boolgrad/circuit/bits/bit_program.h"

#include <gtest/gtest.h>
#include <rapidcheck.h>
#include <rapidcheck/gtest.h>

#include <array>
#include <thread>
#include <vector>

#include "tests/support/bit_circuits.h"
#include "tests/support/messages.h"

namespace boolgrad::circuit {
namespace {

using Rows = std::vector<std::vector<std::uint64_t>>;

Rows random_rows(std::int64_t rows, std::size_t words, std::uint64_t seed) {
  Rows result(static_cast<std::size_t>(rows));
  for (std::size_t row = 0; row < result.size(); ++row) {
    for (std::size_t word = 0; word < words; ++word) {
      const PhiloxCounter bits =
          random_bits({.seed = seed, .step = static_cast<std::uint32_t>(row), .index = word});
      result[row].push_back((std::uint64_t{bits[0]} << 32) | bits[1]);
    }
  }
  return result;
}

// Unaligned buffers with guard words on either side.
constexpr std::uint64_t untouched = 0x123456789ABCDEF0;

Rows run(const BitProgram& program, const Rows& inputs, std::size_t words) {
  Rows framed(static_cast<std::size_t>(program.outputs()),
              std::vector<std::uint64_t>(words + 2, untouched));
  std::vector<const std::uint64_t*> from;
  std::vector<std::uint64_t*> to;
  for (const auto& row : inputs) from.push_back(row.data());
  for (auto& row : framed) to.push_back(row.data() + 1);
  program.run(from, to, words);
  Rows outputs;
  for (const auto& row : framed) {
    EXPECT_EQ(row.front(), untouched);
    EXPECT_EQ(row.back(), untouched);
    outputs.emplace_back(row.begin() + 1, row.end() - 1);
  }
  return outputs;
}

Rows evaluated(const BitCircuit& circuit, const Rows& inputs, std::size_t words) {
  Rows outputs(circuit.outputs().size());
  for (std::size_t word = 0; word < words; ++word) {
    std::vector<std::uint64_t> column;
    for (const auto& row : inputs) column.push_back(row[word]);
    const std::vector<std::uint64_t> results = circuit.evaluate(column);
    for (std::size_t o = 0; o < outputs.size(); ++o) outputs[o].push_back(results[o]);
  }
  return outputs;
}

RC_GTEST_PROP(BitProgram, AgreesWithTheCircuit, (std::uint64_t seed)) {
  const auto inputs = *rc::gen::inRange<std::int64_t>(0, 20);
  const auto size = *rc::gen::inRange<std::int64_t>(0, 300);
  const auto outputs = *rc::gen::inRange<std::int64_t>(0, 12);
  const auto words = *rc::gen::inRange<std::size_t>(0, 200);
  const BitCircuit circuit = random_circuit(inputs, size, outputs, seed);
  const BitProgram program(circuit);
  const Rows in = random_rows(inputs, words, seed + 1);
  RC_ASSERT(program.operations() == circuit.gates());
  RC_ASSERT(run(program, in, words) == evaluated(circuit, in, words));
}

TEST(BitProgram, RunsAnyNumberOfWords) {
  const BitCircuit circuit = random_circuit(9, 200, 5, 4);
  const BitProgram program(circuit);
  const Rows in = random_rows(9, 140, 5);
  const Rows expected = evaluated(circuit, in, 140);
  for (std::size_t words = 0; words <= 140; ++words) {
    Rows first = expected;
    for (auto& row : first) row.resize(words);
    ASSERT_EQ(run(program, in, words), first) << words;
  }
}

// Many slots make each slot short.
TEST(BitProgram, RunsCircuitsLargerThanTheCache) {
  for (const std::int64_t inputs : {700, 1400, 5000}) {
    BitCircuit circuit(inputs);
    for (std::int64_t i = 0; i < inputs; ++i) {
      const BitLiteral other = circuit.input((i * 7 + 3) % inputs);
      circuit.add_output(i % 3 == 0 ? circuit.exclusive_or(circuit.input(i), other)
                                    : circuit.conjunction(circuit.input(i), !other));
    }
    const BitProgram program(circuit);
    EXPECT_EQ(program.row_words(), inputs == 700 ? 32 : 16);
    const Rows in = random_rows(inputs, 75, 3);
    EXPECT_EQ(run(program, in, 75), evaluated(circuit, in, 75));
  }
}

// Each function alone: its gates have one reader and fuse into steps of every kind.
TEST(BitProgram, ComputesEveryFunctionOfThreeInputs) {
  const Rows in = random_rows(3, 70, 8);
  for (std::uint64_t truth = 0; truth < 256; ++truth) {
    BitCircuit circuit(3);
    const std::array inputs{circuit.input(0), circuit.input(1), circuit.input(2)};
    circuit.add_output(circuit.table(inputs, truth));
    ASSERT_EQ(run(BitProgram(circuit), in, 70), evaluated(circuit, in, 70)) << truth;
  }
}

TEST(BitProgram, OutputsMayBeInputsConstantsAndDuplicates) {
  BitCircuit circuit(2);
  const BitLiteral both = circuit.conjunction(circuit.input(0), circuit.input(1));
  for (const BitLiteral literal : {circuit.constant(false), circuit.constant(true),
                                   circuit.input(1), !circuit.input(1), both, !both, both}) {
    circuit.add_output(literal);
  }
  const BitProgram program(circuit);
  EXPECT_EQ(program.operations(), 1);
  const Rows in = random_rows(2, 19, 1);
  EXPECT_EQ(run(program, in, 19), evaluated(circuit, in, 19));
}

TEST(BitProgram, FusesGatesWithASingleReader) {
  BitCircuit circuit(4);
  BitLiteral chain = circuit.input(0);
  for (std::int64_t i = 1; i < 4; ++i) chain = circuit.conjunction(chain, !circuit.input(i));
  circuit.add_output(chain);
  EXPECT_EQ(BitProgram(circuit).operations(), 3);
  EXPECT_EQ(BitProgram(circuit).steps(), 2);
  circuit.add_output(circuit.conjunction(circuit.input(0), !circuit.input(1)));
  EXPECT_EQ(BitProgram(circuit).operations(), 3);
  EXPECT_EQ(BitProgram(circuit).steps(), 2);
}

// Pinned to detect drift.
TEST(BitProgram, LifeTakesFewSteps) {
  const BitProgram life(life_circuit());
  EXPECT_EQ(life.operations(), 27);
  EXPECT_EQ(life.steps(), 19);
  EXPECT_EQ(life.slots(), 12);
}

TEST(BitProgram, OmitsDanglingGates) {
  BitCircuit circuit(3);
  circuit.exclusive_or(circuit.input(0), circuit.input(2));
  circuit.add_output(circuit.input(1));
  const BitProgram program(circuit);
  EXPECT_EQ(program.operations(), 0);
  EXPECT_EQ(program.slots(), 1);
}

TEST(BitProgram, IsDeterministicAndThreadSafe) {
  const BitCircuit circuit = random_circuit(9, 300, 3, 6);
  const BitProgram program(circuit);
  const Rows in = random_rows(9, 100, 7);
  const Rows expected = evaluated(circuit, in, 100);
  std::vector<std::thread> threads;
  std::vector<int> agreed(4, 0);
  for (std::size_t t = 0; t < agreed.size(); ++t) {
    threads.emplace_back([&, t] {
      for (int i = 0; i < 20; ++i) agreed[t] += run(program, in, 100) == expected ? 1 : 0;
    });
  }
  for (std::thread& thread : threads) thread.join();
  for (const int count : agreed) EXPECT_EQ(count, 20);
}

TEST(BitProgram, RejectsInvalidArguments) {
  const BitProgram life(life_circuit());
  const std::uint64_t word = 0;
  const std::vector<const std::uint64_t*> from(8, &word);
  expect_error([&] { life.run(from, {}, 1); },
               "[BitProgram] expected 9 inputs and 1 outputs, received 8 and 0");
}

}  // namespace
}  // namespace boolgrad::circuit
