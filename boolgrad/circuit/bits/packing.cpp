#include "boolgrad/circuit/bits/packing.h"

#include <algorithm>
#include <vector>

#include "boolgrad/backend/cpu/bits/bit_transpose.h"
#include "boolgrad/core/fail.h"
#include "boolgrad/core/parallel.h"

namespace boolgrad::circuit {
namespace {

constexpr const char* where = "packing";

/// Calls `work` for strips of samples, with the first word of each feature in the strip.
template <class Word, class Work>
void for_each_strip(Word* words, std::int64_t features, std::int64_t samples, const Work& work) {
  const auto total = static_cast<std::size_t>(samples);
  const std::size_t row = (total + 63) / 64;
  parallel_for(task_count(total, cpu::strip_samples), [&](std::size_t strip) {
    std::vector<Word*> rows;
    for (std::size_t f = 0; f < static_cast<std::size_t>(features); ++f) {
      rows.push_back(words + f * row + strip * cpu::strip_words);
    }
    const std::size_t first = strip * cpu::strip_samples;
    work(rows, first, std::min(cpu::strip_samples, total - first));
  });
}

void check_size(std::size_t received, std::int64_t samples, std::int64_t features) {
  if (samples < 0 || features < 0 ||
      received != static_cast<std::size_t>(samples) * static_cast<std::size_t>(features)) {
    fail(where, "expected {} samples of {} bytes, received {} bytes", samples, features, received);
  }
}

}  // namespace

logic::BitMatrix packed(const ByteSamples& samples, std::int64_t features) {
  check_size(samples.bytes.size(), samples.samples, features);
  logic::BitMatrix bits{features, samples.samples, {}};
  bits.words.resize(static_cast<std::size_t>(features * bits.words_per_feature()));
  const auto stride = static_cast<std::size_t>(features);
  for_each_strip(bits.words.data(), features, samples.samples,
                 [&](const auto& rows, std::size_t first, std::size_t count) {
                   cpu::pack_strip(samples.bytes.data() + first * stride, stride, count, rows);
                 });
  return bits;
}

void unpack(const logic::BitMatrix& bits, std::span<std::uint8_t> bytes) {
  check_size(bytes.size(), bits.samples, bits.features);
  const auto stride = static_cast<std::size_t>(bits.features);
  for_each_strip(bits.words.data(), bits.features, bits.samples,
                 [&](const auto& rows, std::size_t first, std::size_t count) {
                   cpu::unpack_strip(rows, count, bytes.data() + first * stride, stride);
                 });
}

}  // namespace boolgrad::circuit
