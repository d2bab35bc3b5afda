// Decisions of a generator, taken from the bytes of an input.
#pragma once

#include <cstddef>
#include <cstdint>

#include "tests/fuzz/targets.h"

namespace boolgrad::fuzz {

/// Reads numbers one after the other. After the end, all are 0.
class ByteSource {
 public:
  explicit ByteSource(Bytes bytes) : bytes_(bytes) {}

  bool empty() const { return next_ >= bytes_.size(); }

  std::uint8_t byte() { return empty() ? std::uint8_t{0} : bytes_[next_++]; }

  std::uint64_t word() {
    std::uint64_t result = 0;
    for (int i = 0; i < 8; ++i) result = result << 8U | byte();
    return result;
  }

  /// A number in [0, bound) for a bound of 1 to 256.
  std::size_t below(std::size_t bound) { return byte() % bound; }

  /// A multiple of 1/64 in [-2, 2).
  double value() { return (byte() - 128) / 64.0; }

 private:
  Bytes bytes_;
  std::size_t next_ = 0;
};

}  // namespace boolgrad::fuzz
