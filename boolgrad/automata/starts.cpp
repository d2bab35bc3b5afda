#include "boolgrad/automata/starts.h"

#include <algorithm>

#include "boolgrad/core/random.h"

namespace boolgrad::automata {

Tensor random_starts(const Shape& shape, std::uint64_t seed, std::uint32_t stream,
                     std::uint32_t step) {
  Tensor starts(shape, DType::uint8);
  const std::span<std::uint8_t> to = starts.mutable_values<std::uint8_t>();
  constexpr std::size_t bits_per_address = 128;
  PhiloxCounter bits{};
  for (std::size_t i = 0; i < to.size(); ++i) {
    const std::size_t bit = i % bits_per_address;
    if (bit == 0) {
      bits = random_bits(
          {.seed = seed, .stream = stream, .step = step, .index = i / bits_per_address});
    }
    to[i] = (bits[bit / 32] >> (bit % 32)) & 1;
  }
  return starts;
}

Tensor seed_starts(const Shape& shape) {
  Tensor starts = Tensor::zeros(shape, DType::uint8);
  const std::span<std::uint8_t> to = starts.mutable_values<std::uint8_t>();
  const auto cells = static_cast<std::size_t>(shape[2] * shape[3]);
  const auto middle = static_cast<std::size_t>(shape[2] / 2 * shape[3] + shape[3] / 2);
  for (std::size_t first = 0; first < to.size(); first += cells) to[first + middle] = 1;
  return starts;
}

}  // namespace boolgrad::automata
