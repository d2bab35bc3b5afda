#include "boolgrad/model/input_samples.h"

#include "boolgrad/core/random.h"
#include "boolgrad/core/random_streams.h"
#include "boolgrad/ops/shaping.h"

namespace boolgrad {

Tensor input_samples(std::int64_t inputs, std::int64_t random_count, DType dtype) {
  const bool all = inputs <= max_exhaustive_inputs;
  const std::int64_t samples = all ? std::int64_t{1} << inputs : random_count;
  Tensor result({inputs, samples}, DType::uint8);
  const auto values = result.mutable_values<std::uint8_t>();
  for (std::size_t i = 0; i < values.size(); ++i) {
    const std::size_t input = i / static_cast<std::size_t>(samples);
    const std::size_t sample = i % static_cast<std::size_t>(samples);
    const std::uint32_t random = all ? 0 : random_bits({.stream = sample_stream, .index = i})[0];
    values[i] = static_cast<std::uint8_t>((all ? sample >> input : random) & 1);
  }
  return cast(result, dtype);
}

}  // namespace boolgrad
