#include "boolgrad/circuit/bits/runner.h"

#include <gtest/gtest.h>
#include <rapidcheck.h>

#include <algorithm>
#include <vector>

#include "boolgrad/circuit/group_sums.h"
#include "boolgrad/core/parallel.h"
#include "tests/support/exported_netlists.h"
#include "tests/support/instruction_sets.h"
#include "tests/support/messages.h"

namespace boolgrad::circuit {
namespace {

using testing_support::with_every_instruction_set;

std::vector<std::uint8_t> random_bytes(std::size_t count, std::uint64_t seed) {
  std::vector<std::uint8_t> bytes;
  for (const std::uint64_t word : random_words(count, seed)) bytes.push_back(word & 1);
  return bytes;
}

/// All outputs, evaluated one sample at a time: [samples, outputs].
std::vector<std::uint8_t> expected_outputs(const Netlist& netlist,
                                           const std::vector<std::uint8_t>& bytes,
                                           std::size_t samples) {
  const std::size_t inputs = netlist.inputs.size();
  std::vector<std::uint8_t> outputs;
  for (std::size_t s = 0; s < samples; ++s) {
    const std::vector<std::uint64_t> words(
        bytes.begin() + static_cast<std::ptrdiff_t>(s * inputs),
        bytes.begin() + static_cast<std::ptrdiff_t>((s + 1) * inputs));
    for (const std::uint64_t word : evaluate(netlist, words)) {
      outputs.push_back(static_cast<std::uint8_t>(word & 1));
    }
  }
  return outputs;
}

std::vector<std::int32_t> sums_of(const std::vector<std::uint8_t>& outputs, std::size_t group) {
  std::vector<std::int32_t> sums;
  for (std::size_t i = 0; i < outputs.size(); i += group) {
    sums.push_back(static_cast<std::int32_t>(
        std::count(outputs.begin() + static_cast<std::ptrdiff_t>(i),
                   outputs.begin() + static_cast<std::ptrdiff_t>(i + group), 1)));
  }
  return sums;
}

std::vector<std::int32_t> first_largest_of(const std::vector<std::int32_t>& sums,
                                           std::size_t classes) {
  std::vector<std::int32_t> indices;
  for (std::size_t i = 0; i < sums.size(); i += classes) {
    const auto begin = sums.begin() + static_cast<std::ptrdiff_t>(i);
    indices.push_back(static_cast<std::int32_t>(
        std::max_element(begin, begin + static_cast<std::ptrdiff_t>(classes)) - begin));
  }
  return indices;
}

TEST(CircuitRunner, AgreesWithTheNetlist) {
  EXPECT_TRUE(rc::check("bytes and bits, sums and classes", [](std::uint64_t seed) {
    const auto classes = *rc::gen::inRange<std::size_t>(1, 6);
    const auto group = *rc::gen::inRange<std::size_t>(1, 40);
    const auto samples = *rc::gen::inRange<std::size_t>(0, 700);
    const auto inputs = *rc::gen::inRange<std::size_t>(1, 90);
    const Netlist netlist =
        random_netlist({.inputs = inputs, .gates = 120, .outputs = classes * group}, seed);
    const CircuitRunner runner(netlist, {.classes = static_cast<std::int64_t>(classes)});
    const std::vector<std::uint8_t> bytes = random_bytes(samples * inputs, seed);
    const ByteSamples in{bytes, static_cast<std::int64_t>(samples)};
    const std::vector<std::uint8_t> expected = expected_outputs(netlist, bytes, samples);

    std::vector<std::uint8_t> outputs(expected.size(), 7);
    runner.run(in, outputs);
    RC_ASSERT(outputs == expected);

    const logic::BitMatrix bits = packed(in, static_cast<std::int64_t>(inputs));
    const std::vector<std::int32_t> sums = sums_of(expected, group);
    std::vector<std::int32_t> results(sums.size(), -1);
    runner.group_sums(in, results);
    RC_ASSERT(results == sums);
    std::fill(results.begin(), results.end(), -1);
    runner.group_sums(bits, results);
    RC_ASSERT(results == sums);

    const std::vector<std::int32_t> largest = first_largest_of(sums, classes);
    results.assign(samples, -1);
    runner.classify(in, results);
    RC_ASSERT(results == largest);
    results.assign(samples, -1);
    runner.classify(bits, results);
    RC_ASSERT(results == largest);
  }));
}

TEST(CircuitRunner, CountsOutputsWithTheirWeights) {
  constexpr std::size_t group = 83;
  constexpr std::size_t classes = 3;
  constexpr std::size_t samples = 700;
  const Netlist netlist =
      random_netlist({.inputs = 20, .gates = 500, .outputs = group * classes}, 3);
  const std::vector<std::uint8_t> bytes = random_bytes(samples * 20, 4);
  const std::vector<std::uint8_t> outputs = expected_outputs(netlist, bytes, samples);
  for (const int max : {0, 1, 3, 6}) {
    std::vector<std::int32_t> exponents(group * classes);
    for (std::size_t i = 0; i < exponents.size(); ++i) {
      exponents[i] = static_cast<std::int32_t>(i * 7 % 11) % (max + 1);
    }
    exponents[0] = max;
    std::vector<std::int32_t> expected(samples * classes, 0);
    for (std::size_t s = 0; s < samples; ++s) {
      for (std::size_t o = 0; o < exponents.size(); ++o) {
        expected[s * classes + o / group] += outputs[s * exponents.size() + o] << exponents[o];
      }
    }
    const CircuitRunner runner(netlist, {.classes = classes, .exponents = exponents});
    std::vector<std::int32_t> results(expected.size());
    runner.group_sums({bytes, samples}, results);
    EXPECT_EQ(results, expected) << max;
    results.resize(samples);
    runner.classify({bytes, samples}, results);
    EXPECT_EQ(results, first_largest_of(expected, classes)) << max;
  }
  // A group of few outputs, whose sums have few digits.
  const CircuitRunner few(random_netlist({.inputs = 4, .gates = 9, .outputs = 2}, 3),
                          {.classes = 2, .exponents = {1, 0}});
  std::vector<std::int32_t> results(2);
  const std::vector<std::uint8_t> one(4, 1);
  few.group_sums({one, 1}, results);
  EXPECT_TRUE(results[0] == 0 || results[0] == 2);
  EXPECT_LE(results[1], 1);
  expect_error([&] { CircuitRunner(netlist, {.classes = classes, .exponents = {1}}); },
               "[runner] expected 249 exponents, received 1");
}

TEST(CircuitRunner, CountsManyOutputs) {
  constexpr std::size_t group = 801;
  constexpr std::size_t classes = 10;
  constexpr std::size_t samples = 1500;
  const Netlist netlist =
      random_netlist({.inputs = 30, .gates = 3000, .outputs = group * classes}, 3);
  const std::vector<std::uint8_t> bytes = random_bytes(samples * 30, 4);
  const std::vector<std::int32_t> sums = sums_of(expected_outputs(netlist, bytes, samples), group);
  const CircuitRunner runner(netlist, {.classes = classes});
  const auto expect_right = [&](const auto& where) {
    std::vector<std::int32_t> results(sums.size());
    runner.group_sums({bytes, samples}, results);
    EXPECT_EQ(results, sums) << where;
    results.resize(samples);
    runner.classify({bytes, samples}, results);
    EXPECT_EQ(results, first_largest_of(sums, classes)) << where;
  };
  const int before = thread_count();
  for (const int threads : {1, 3}) {
    set_thread_count(threads);
    expect_right(threads);
  }
  set_thread_count(before);
  with_every_instruction_set(expect_right);
}

TEST(CircuitRunner, PrefersTheFirstClassOnTies) {
  // Three classes with equal sums, and three of which only the last two are equal.
  Netlist netlist = random_netlist({.inputs = 1, .gates = 0, .outputs = 3}, 0);
  netlist.output_nets = {0, 0, 0};
  std::vector<std::int32_t> results(2);
  CircuitRunner(netlist, {.classes = 3}).classify({std::vector<std::uint8_t>{0, 1}, 2}, results);
  EXPECT_EQ(results, (std::vector<std::int32_t>{0, 0}));
  netlist.gates = {{.truth = 0}};
  netlist.output_nets = {netlist.gate(0), 0, 0};
  CircuitRunner(netlist, {.classes = 3}).classify({std::vector<std::uint8_t>{0, 1}, 2}, results);
  EXPECT_EQ(results, (std::vector<std::int32_t>{0, 1}));
}

TEST(CircuitRunner, CountsConstantAndInputOutputs) {
  Netlist netlist = random_netlist({.inputs = 2, .gates = 0, .outputs = 6}, 0);
  netlist.gates = {{.truth = 1}, {.truth = 0b01, .inputs = {1}, .arity = 1}, {.truth = 0}};
  netlist.output_nets = {2, 2, 3, 4, 0, 1};
  const std::vector<std::uint8_t> bytes{0, 0, 1, 0, 0, 1, 1, 1};
  std::vector<std::int32_t> sums(8);
  CircuitRunner(netlist, {.classes = 2}).group_sums({bytes, 4}, sums);
  EXPECT_EQ(sums, (std::vector<std::int32_t>{3, 0, 3, 1, 2, 1, 2, 2}));
}

TEST(CircuitRunner, RunsWithoutInputsOrSamples) {
  Netlist netlist;
  netlist.outputs = {"always"};
  netlist.gates = {{.truth = 1}};
  netlist.output_nets = {0};
  const CircuitRunner runner(netlist, {.classes = 1});
  std::vector<std::uint8_t> outputs(3);
  runner.run(ByteSamples{{}, 3}, outputs);
  EXPECT_EQ(outputs, (std::vector<std::uint8_t>{1, 1, 1}));
  std::vector<std::int32_t> sums(3);
  runner.group_sums(ByteSamples{{}, 3}, sums);
  EXPECT_EQ(sums, (std::vector<std::int32_t>{1, 1, 1}));
  runner.classify(ByteSamples{{}, 0}, {});
}

TEST(CircuitRunner, RejectsInvalidArguments) {
  const Netlist netlist = random_netlist({.inputs = 4, .gates = 9, .outputs = 6}, 1);
  expect_error([&] { CircuitRunner(netlist, {.classes = 4}); },
               "[runner] expected a number of classes that divides 6 outputs, received 4");
  expect_error([&] { CircuitRunner(netlist, {.classes = -1}); },
               "[runner] expected a number of classes that divides 6 outputs, received -1");
  const CircuitRunner runner(netlist, {.classes = 3});
  const std::vector<std::uint8_t> bytes(8);
  std::vector<std::int32_t> room(3);
  expect_error(
      [&] {
        runner.classify({bytes, 3}, room);
      },
      "[runner] expected 3 samples of 4 bytes, received 8 bytes");
  expect_error(
      [&] {
        runner.group_sums({bytes, 2}, room);
      },
      "[runner] expected a buffer for 3 results per sample and 2 samples, received one for 3 "
      "results");
  expect_error(
      [&] {
        runner.run(logic::BitMatrix{3, 5, {0, 0, 0}});
      },
      "[runner] expected samples of 4 inputs in 4 words, received 3 in 3");
  expect_error(
      [&] {
        CircuitRunner(netlist).classify({bytes, 2}, std::span(room).first(2));
      },
      "[runner] expected a runner with classes, received one without");
}

TEST(CircuitRunner, AgreesWithGroupSumsAsGates) {
  constexpr std::size_t samples = 2000;
  const Netlist netlist = random_netlist({.inputs = 24, .gates = 900, .outputs = 390}, 8);
  const std::vector<std::uint8_t> bytes = random_bytes(samples * 24, 9);
  std::vector<std::int32_t> classes(samples);
  CircuitRunner(netlist, {.classes = 13}).classify({bytes, samples}, classes);
  std::vector<std::uint8_t> digits(samples * 4);
  CircuitRunner(with_argmax(netlist, 13)).run({bytes, samples}, digits);
  for (std::size_t s = 0; s < samples; ++s) {
    const std::uint8_t* own = digits.data() + 4 * s;
    EXPECT_EQ(classes[s], own[0] + 2 * own[1] + 4 * own[2] + 8 * own[3]) << s;
  }
}

}  // namespace
}  // namespace boolgrad::circuit
