#include "boolgrad/logic/gate_sink.h"

#include <gtest/gtest.h>
#include <rapidcheck.h>

#include <algorithm>
#include <bit>
#include <vector>

#include "boolgrad/logic/gate_arithmetic.h"
#include "boolgrad/logic/knockout.h"
#include "tests/support/messages.h"
#include "tests/support/op_cases.h"
#include "tests/support/random_words.h"

namespace boolgrad::logic {
namespace {

/// Evaluates each gate for 64 samples at once. A signal is the index of a word.
class Evaluator final : public GateSink {
 public:
  explicit Evaluator(std::vector<std::uint64_t> inputs) : values_(std::move(inputs)) {}

  Signal constant(bool value) override { return add(value ? ~std::uint64_t{0} : 0); }

  Signal gate(std::span<const Signal> inputs, std::uint64_t truth) override {
    ++gates_;
    std::uint64_t result = 0;
    for (unsigned s = 0; s < 64; ++s) {
      unsigned entry = 0;
      for (std::size_t j = 0; j < inputs.size(); ++j) {
        entry |= static_cast<unsigned>(values_[inputs[j]] >> s & 1) << j;
      }
      result |= (truth >> entry & 1) << s;
    }
    return add(result);
  }

  std::vector<Signal> inputs() const {
    std::vector<Signal> signals;
    for (Signal i = 0; i < values_.size(); ++i) signals.push_back(i);
    return signals;
  }
  std::uint64_t value(Signal signal) const { return values_[signal]; }
  std::int64_t gates() const { return gates_; }

 private:
  Signal add(std::uint64_t value) {
    values_.push_back(value);
    return static_cast<Signal>(values_.size() - 1);
  }

  std::vector<std::uint64_t> values_;
  std::int64_t gates_ = 0;
};

/// The value of a number for sample s.
std::uint64_t number_at(const Evaluator& sink, const SignalNumber& digits, unsigned s) {
  std::uint64_t number = 0;
  for (std::size_t i = 0; i < digits.size(); ++i) number |= (sink.value(digits[i]) >> s & 1) << i;
  return number;
}

TEST(GateSink, ReceivesEveryGateOfANetworkOnce) {
  EXPECT_TRUE(rc::check("the gates compute the hard network", [](std::uint64_t seed) {
    Choices choose(seed);
    const auto arity = static_cast<int>(choose.between(1, 6));
    Network network(choose.between(6, 10), Parametrisation::sigmoid, DType::float32);
    for (const std::int64_t gates : {20, 12, 5}) {
      const auto layer = static_cast<std::uint32_t>(network.layers().size());
      network.add_layer(
          random_wiring({network.outputs(), std::max<std::int64_t>(gates, arity), arity}, seed,
                        layer),
          initial_logits(Parametrisation::sigmoid, std::max<std::int64_t>(gates, arity), arity,
                         DType::float32, {Initialisation::gaussian, 1}, seed, layer));
    }
    network.set_input_mask(block_knockout(network.inputs(), 1, 2, DType::float32));
    network.set_mask(1, block_knockout(12, choose.below(9), 3, DType::float32));
    const BitMatrix x{network.inputs(), 64,
                      random_words(static_cast<std::size_t>(network.inputs()), seed)};
    Evaluator sink(x.words);
    std::vector<std::uint64_t> outputs;
    for (const Signal signal : emit(network, sink.inputs(), sink)) {
      outputs.push_back(sink.value(signal));
    }
    RC_ASSERT(outputs == network.hard(x).words);
    RC_ASSERT(sink.gates() == 20 + 12 + network.outputs());
  }));
}

TEST(GateSink, RejectsTheWrongNumberOfInputs) {
  Evaluator sink({0, 0});
  expect_error(
      [&] { emit(Network(3, Parametrisation::sigmoid, DType::float32), sink.inputs(), sink); },
      "[emit] expected 3 inputs, received 2");
}

TEST(GateArithmetic, SumsComparesAndFindsTheLargest) {
  for (const std::size_t groups : {2U, 3U, 5U, 11U}) {
    for (const std::size_t size : {1U, 2U, 7U, 12U}) {
      Evaluator sink(random_words(groups * size, groups * 100 + size));
      const std::vector<Signal> bits = sink.inputs();
      const std::vector<SignalNumber> sums =
          emit_group_sums(bits, static_cast<std::int64_t>(groups), sink);
      const Signal greater = emit_greater(sums[1], sums[0], sink);
      const SignalNumber largest = emit_argmax(sums, sink);
      EXPECT_EQ(largest.size(), static_cast<std::size_t>(std::bit_width(groups - 1)));
      for (unsigned s = 0; s < 64; ++s) {
        std::vector<std::uint64_t> expected(groups, 0);
        for (std::size_t i = 0; i < bits.size(); ++i) {
          expected[i / size] += sink.value(bits[i]) >> s & 1;
        }
        for (std::size_t g = 0; g < groups; ++g) {
          EXPECT_EQ(number_at(sink, sums[g], s), expected[g]);
        }
        EXPECT_EQ((sink.value(greater) >> s & 1) != 0, expected[1] > expected[0]);
        EXPECT_EQ(
            number_at(sink, largest, s),
            static_cast<std::uint64_t>(std::ranges::max_element(expected) - expected.begin()));
      }
    }
  }
}

TEST(GateArithmetic, SumsBitsWithWeights) {
  for (const std::int32_t last : {0, 1, 3, 6}) {
    Evaluator sink(random_words(14, 3));
    const std::vector<Signal> bits = sink.inputs();
    std::vector<std::int32_t> exponents(14);
    for (std::size_t i = 0; i < 14; ++i) exponents[i] = static_cast<std::int32_t>(i * i % 5);
    exponents[6] = last;
    const std::vector<SignalNumber> sums = emit_group_sums(bits, 2, sink, exponents);
    for (unsigned s = 0; s < 64; ++s) {
      std::vector<std::uint64_t> expected(2, 0);
      for (std::size_t i = 0; i < 14; ++i) {
        expected[i / 7] += (sink.value(bits[i]) >> s & 1) << exponents[i];
      }
      for (std::size_t g = 0; g < 2; ++g) EXPECT_EQ(number_at(sink, sums[g], s), expected[g]);
    }
  }
  Evaluator sink({0, 0});
  expect_error([&] { emit_group_sums(sink.inputs(), 1, sink, std::vector<std::int32_t>{1}); },
               "[group_sums] expected 2 exponents, received 1");
}

TEST(GateArithmetic, RejectsInvalidGroupsAndSingleNumbers) {
  Evaluator sink({0, 0, 0});
  const std::vector<Signal> bits = sink.inputs();
  expect_error([&] { emit_group_sums(bits, 2, sink); },
               "[group_sums] expected a number of groups that divides 3 outputs, received 2");
  expect_error([&] { emit_argmax({{0}}, sink); },
               "[argmax] expected two or more numbers, received 1");
}

}  // namespace
}  // namespace boolgrad::logic
