// The wires and initial logits of a seed never change, because models are described by their seed.
#include <gtest/gtest.h>

#include <cstdint>
#include <cstring>
#include <span>

#include "boolgrad/backend/plan/lut_wires.h"
#include "boolgrad/core/parallel.h"
#include "boolgrad/logic/parametrisation.h"
#include "boolgrad/logic/wiring.h"

namespace boolgrad::logic {
namespace {

/// A hash of the values.
template <class T>
std::uint64_t checksum(std::span<const T> values) {
  std::uint64_t sum = 0;
  for (const T value : values) {
    std::uint64_t bits = 0;
    std::memcpy(&bits, &value, sizeof(T));
    sum = (sum ^ bits) * 0x9E3779B97F4A7C15;
    sum ^= sum >> 32;
  }
  return sum;
}

std::uint64_t checksum(const WiringPtr& wiring) {
  const LutWires wires = wiring->view();
  std::uint64_t sum = checksum(wires.sources) * 31 + checksum(wires.first_consumer);
  for (const Consumer& consumer : wires.consumers) {
    sum =
        (sum ^ static_cast<std::uint64_t>(consumer.gate * 8 + consumer.slot)) * 0x9E3779B97F4A7C15;
  }
  return sum * 31 + checksum(wires.partners);
}

std::uint64_t checksum(Parametrisation parametrisation, int arity, Initialisation kind) {
  const Tensor logits =
      initial_logits(parametrisation, 9000, arity, DType::float32, {kind, 1.5}, 7, 3);
  return checksum(logits.values<float>());
}

/// The number of threads must not matter.
class PinnedBits : public testing::TestWithParam<int> {
 protected:
  PinnedBits() : before_(thread_count()) { set_thread_count(GetParam()); }
  ~PinnedBits() override { set_thread_count(before_); }

 private:
  int before_;
};

TEST_P(PinnedBits, Wires) {
  EXPECT_EQ(checksum(random_wiring({300000, 280000}, 5, 1)), 0x330EB44D6567A4E1U);
  EXPECT_EQ(checksum(random_wiring({3, 500, 3}, 5, 2)), 0x2B449ADEA069CD2AU);
  EXPECT_EQ(checksum(random_wiring({70, 600, 5, 4}, 5, 3)), 0x2DCEF1375D0F2F24U);
  EXPECT_EQ(checksum(random_wiring({1, 20, 2}, 5, 3)), 0x1E0F5C9DF6230405U);
  EXPECT_EQ(checksum(unique_pairs({200, 15000}, 5, 1)), 0x8F9FDFA548E13012U);
  EXPECT_EQ(checksum(unique_pairs({2, 9}, 5, 1)), 0x1CA1B623A7B80A54U);
  EXPECT_EQ(checksum(adjacent_pairs({300, 20000}, 5, 1)), 0x95EC9BA44C258428U);
  EXPECT_EQ(checksum(moore_wiring(6, 5, 1)), 0x77F6C0943ED9E989U);
  EXPECT_EQ(checksum(local_wiring({400, 900, 3}, 2.5, 5, 1)), 0xDCFF3BA59EB5C685U);
}

TEST_P(PinnedBits, InitialLogits) {
  EXPECT_EQ(checksum(Parametrisation::softmax16, 2, Initialisation::gaussian), 0x6AA513E4E43D48DDU);
  EXPECT_EQ(checksum(Parametrisation::softmax16, 2, Initialisation::residual), 0xEB7AB61217C1B3DDU);
  EXPECT_EQ(checksum(Parametrisation::sigmoid, 4, Initialisation::residual), 0x23CD97F8214E64ABU);
  EXPECT_EQ(checksum(Parametrisation::walsh, 3, Initialisation::gaussian), 0x694D4DC65D47609BU);
  EXPECT_EQ(checksum(Parametrisation::walsh, 3, Initialisation::pass_through), 0xCF7B50D22A80CBC9U);
}

INSTANTIATE_TEST_SUITE_P(Threads, PinnedBits, testing::Values(1, 2, 7));

}  // namespace
}  // namespace boolgrad::logic
