#include "boolgrad/circuit/bits/packing.h"

#include <gtest/gtest.h>
#include <rapidcheck.h>

#include <vector>

#include "boolgrad/core/random.h"
#include "tests/support/instruction_sets.h"
#include "tests/support/messages.h"

namespace boolgrad::circuit {
namespace {

/// Random bytes, about half of them 0.
std::vector<std::uint8_t> random_bytes(std::int64_t count, std::uint64_t seed) {
  std::vector<std::uint8_t> bytes;
  for (std::uint64_t i = 0; i < static_cast<std::uint64_t>(count); ++i) {
    const auto bits = random_bits({.seed = seed, .index = i});
    const unsigned byte = (bits[0] & 1) != 0 ? 1U << (bits[1] % 8) : 0;
    bytes.push_back(static_cast<std::uint8_t>(byte));
  }
  return bytes;
}

TEST(Packing, RoundTripsEveryBit) {
  EXPECT_TRUE(rc::check("any number of samples and features", [](std::uint64_t seed) {
    const auto samples = *rc::gen::inRange<std::int64_t>(0, 1200);
    const auto features = *rc::gen::inRange<std::int64_t>(0, 700);
    const std::vector<std::uint8_t> bytes = random_bytes(samples * features, seed);
    const logic::BitMatrix bits = packed({bytes, samples}, features);
    RC_ASSERT(bits.features == features && bits.samples == samples);
    for (std::int64_t s = 0; s < samples; ++s) {
      for (std::int64_t f = 0; f < features; ++f) {
        RC_ASSERT(bits.at(f, s) == (bytes[static_cast<std::size_t>(s * features + f)] != 0));
      }
    }
    std::vector<std::uint8_t> back(bytes.size(), 7);
    unpack(bits, back);
    for (std::size_t i = 0; i < bytes.size(); ++i) {
      RC_ASSERT(back[i] == (bytes[i] != 0 ? 1 : 0));
    }
  }));
}

TEST(Packing, LeavesBitsBeyondTheLastSampleZero) {
  const std::vector<std::uint8_t> ones(70 * 3, 1);
  const logic::BitMatrix bits = packed({ones, 70}, 3);
  EXPECT_EQ(bits.words, (std::vector<std::uint64_t>{~0ULL, 63, ~0ULL, 63, ~0ULL, 63}));
}

TEST(Packing, AgreesOnEveryInstructionSet) {
  const std::vector<std::uint8_t> bytes = random_bytes(600 * 130, 3);
  const logic::BitMatrix expected = packed({bytes, 600}, 130);
  testing_support::with_every_instruction_set([&](const char* name) {
    EXPECT_EQ(packed({bytes, 600}, 130).words, expected.words) << name;
    std::vector<std::uint8_t> back(bytes.size(), 7);
    unpack(expected, back);
    std::size_t wrong = 0;
    for (std::size_t i = 0; i < bytes.size(); ++i) wrong += back[i] != (bytes[i] != 0 ? 1 : 0);
    EXPECT_EQ(wrong, 0U) << name;
  });
}

TEST(Packing, RejectsOtherSizes) {
  const std::vector<std::uint8_t> bytes(11);
  expect_error(
      [&] {
        packed({bytes, 4}, 3);
      },
      "[packing] expected 4 samples of 3 bytes, received 11 bytes");
  std::vector<std::uint8_t> room(5);
  expect_error(
      [&] {
        unpack({2, 2, {1, 2}}, room);
      },
      "[packing] expected 2 samples of 2 bytes, received 5 bytes");
}

}  // namespace
}  // namespace boolgrad::circuit
