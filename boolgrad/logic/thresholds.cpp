#include "boolgrad/logic/thresholds.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "boolgrad/autograd/tape.h"
#include "boolgrad/backend/cpu/bits/bit_transpose.h"
#include "boolgrad/core/fail.h"
#include "boolgrad/core/parallel.h"
#include "boolgrad/ops/checks.h"

namespace boolgrad::logic {
namespace {

constexpr std::string_view where = "thresholds";
constexpr const char* sources_name = "thresholds.sources";
constexpr const char* values_name = "thresholds.levels";
constexpr const char* features_key = "thresholds.features";

void check_samples(const Tensor& samples, std::int64_t features) {
  const bool is_number = samples.dtype() == DType::uint8 || samples.dtype() == DType::float32;
  if (!is_number || samples.rank() != 2 || samples.shape()[1] != features) {
    fail(where, "expected uint8 or float32 [samples, {}], received {} {}", features,
         to_string(samples.dtype()), boolgrad::to_string(samples.shape()));
  }
}

/// The integer n for which x > threshold is x > n, for every byte x.
std::int16_t integer_threshold(float threshold) {
  return static_cast<std::int16_t>(std::clamp(std::floor(threshold), -1.0F, 255.0F));
}

/// Binarises the features of one sample, one byte per bit.
template <class T, class Threshold>
void compare_row(std::span<const T> features, std::span<const std::int32_t> sources,
                 const Threshold* thresholds, std::uint8_t* to) {
  for (std::size_t b = 0; b < sources.size(); ++b) {
    to[b] = static_cast<Threshold>(features[static_cast<std::size_t>(sources[b])]) > thresholds[b]
                ? 1
                : 0;
  }
}

/// Calls `work(first, count, compare)` for strips of samples, in parallel. `compare(sample, to)`
/// writes the bits of one sample.
template <class Work>
void for_strips(const Tensor& samples, std::span<const std::int32_t> sources,
                std::span<const float> thresholds, const Work& work) {
  const auto count = static_cast<std::size_t>(samples.shape()[0]);
  const auto width = static_cast<std::size_t>(samples.shape()[1]);
  std::vector<std::int16_t> integers;
  for (const float t : thresholds) integers.push_back(integer_threshold(t));
  const auto compare = [&](std::size_t sample, std::uint8_t* to) {
    if (samples.dtype() == DType::uint8) {
      compare_row(samples.values<std::uint8_t>().subspan(sample * width, width), sources,
                  integers.data(), to);
    } else {
      compare_row(samples.values<float>().subspan(sample * width, width), sources,
                  thresholds.data(), to);
    }
  };
  parallel_for(task_count(count, cpu::strip_samples), [&](std::size_t strip) {
    const std::size_t first = strip * cpu::strip_samples;
    work(first, std::min(cpu::strip_samples, count - first), compare);
  });
}

template <class T>
void compare(const Tensor& x, const Tensor& thresholds, std::span<const std::int32_t> sources,
             Tensor& out) {
  const auto samples = static_cast<std::size_t>(x.shape()[1]);
  const auto threshold = thresholds.values<T>();
  auto to = out.mutable_values<T>().begin();
  for (std::size_t b = 0; b < sources.size(); ++b) {
    const std::size_t first = static_cast<std::size_t>(sources[b]) * samples;
    for (const T value : x.values<T>().subspan(first, samples))
      *to++ = value > threshold[b] ? 1 : 0;
  }
}

/// Gradients of x and the thresholds, from residuals [x, thresholds, widths].
template <class T>
std::vector<Tensor> threshold_vjp(const VjpContext& c, std::span<const std::int32_t> sources) {
  const Tensor& x = c.residual(0);
  const Tensor& thresholds = c.residual(1);
  const auto samples = static_cast<std::size_t>(x.shape()[1]);
  std::vector<Tensor> gradients(2);
  if (c.needs[0]) gradients[0] = Tensor::zeros(x.shape(), x.dtype());
  gradients[1] = Tensor(thresholds.shape(), thresholds.dtype());
  for (std::size_t b = 0; b < sources.size(); ++b) {
    const std::size_t first = static_cast<std::size_t>(sources[b]) * samples;
    const auto from = x.values<T>().subspan(first, samples);
    const auto g = c.gradient().values<T>().subspan(b * samples, samples);
    const T threshold = thresholds.values<T>()[b];
    const T width = c.residual(2).values<T>()[b];
    T total = 0;
    for (std::size_t s = 0; s < samples; ++s) {
      const T p = 1 / (1 + std::exp((threshold - from[s]) / width));
      const T slope = g[s] * p * (1 - p) / width;
      total += slope;
      if (c.needs[0]) gradients[0].mutable_values<T>()[first + s] += slope;
    }
    gradients[1].mutable_values<T>()[b] = -total;
  }
  return gradients;
}

}  // namespace

Thresholds::Thresholds(std::int64_t features, std::vector<std::int32_t> sources,
                       const Tensor& thresholds)
    : features_(features), sources_(std::move(sources)) {
  if (thresholds.dtype() != DType::float32 || thresholds.shape() != Shape{bits()} || bits() == 0) {
    fail(where, "expected thresholds of float32 [{}] for at least one bit, received {} {}", bits(),
         to_string(thresholds.dtype()), boolgrad::to_string(thresholds.shape()));
  }
  for (const std::int32_t source : sources_) {
    if (source < 0 || source >= features) {
      fail(where, "expected sources below {} features, received {}", features, source);
    }
  }
  for (const float threshold : thresholds.values<float>()) {
    if (!std::isfinite(threshold)) {
      fail(where, "expected finite thresholds, received {}", threshold);
    }
  }
  values_ = thresholds.detach().clone();
}

BitMatrix Thresholds::bits_of(const Tensor& samples) const {
  check_samples(samples, features_);
  BitMatrix result{bits(), samples.shape()[0], {}};
  const auto words = static_cast<std::size_t>(result.words_per_feature());
  result.words.assign(sources_.size() * words, 0);
  for_strips(samples, sources_, values_.values<float>(),
             [&](std::size_t first, std::size_t count, const auto& compare) {
               std::vector<std::uint8_t> bytes(count * sources_.size());
               std::vector<std::uint64_t*> rows;
               for (std::size_t b = 0; b < sources_.size(); ++b) {
                 rows.push_back(result.words.data() + b * words + first / 64);
               }
               for (std::size_t s = 0; s < count; ++s) {
                 compare(first + s, bytes.data() + s * sources_.size());
               }
               cpu::pack_strip(bytes.data(), sources_.size(), count, rows);
             });
  return result;
}

Tensor Thresholds::bytes_of(const Tensor& samples) const {
  check_samples(samples, features_);
  Tensor result({samples.shape()[0], bits()}, DType::uint8);
  std::uint8_t* to = result.mutable_values<std::uint8_t>().data();
  for_strips(samples, sources_, values_.values<float>(),
             [&](std::size_t first, std::size_t count, const auto& compare) {
               for (std::size_t s = first; s < first + count; ++s) {
                 compare(s, to + s * sources_.size());
               }
             });
  return result;
}

void Thresholds::save(TensorFile& file) const {
  file.tensors[sources_name] = Tensor::of(sources_);
  file.tensors[values_name] = values_;
  file.metadata[features_key] = std::to_string(features_);
}

bool Thresholds::is_in(const TensorFile& file) { return file.tensors.contains(values_name); }

Thresholds Thresholds::from_file(const TensorFile& file) {
  const auto sources = file.tensors.find(sources_name);
  const auto thresholds = file.tensors.find(values_name);
  const auto features = file.metadata.find(features_key);
  if (sources == file.tensors.end() || thresholds == file.tensors.end() ||
      features == file.metadata.end() || sources->second.dtype() != DType::int32) {
    fail(where, "expected {} and {} with metadata {}, received an incomplete file", sources_name,
         values_name, features_key);
  }
  const auto list = sources->second.values<std::int32_t>();
  return {std::strtoll(features->second.c_str(), nullptr, 10),
          {list.begin(), list.end()},
          thresholds->second};
}

// b = [x > t]; db := s (1 - s) (dx - dt) / w with s = sigmoid((x - t) / w)
Tensor threshold_bits(const Tensor& x, const Tensor& thresholds,
                      std::span<const std::int32_t> sources, const Tensor& widths) {
  const DType dtype = common_floating_dtype("threshold_bits", {x, thresholds, widths});
  const Shape bits{static_cast<std::int64_t>(sources.size())};
  if (dtype == DType::float16 || x.rank() != 2 || thresholds.shape() != bits ||
      widths.shape() != bits) {
    fail("threshold_bits",
         "expected float32 or float64 features [features, samples] with thresholds and widths {}, "
         "received {} {}, {} and {}",
         to_string(bits), to_string(dtype), boolgrad::to_string(x.shape()),
         boolgrad::to_string(thresholds.shape()), boolgrad::to_string(widths.shape()));
  }
  Tensor out({thresholds.shape()[0], x.shape()[1]}, dtype);
  if (dtype == DType::float32) compare<float>(x, thresholds, sources, out);
  else compare<double>(x, thresholds, sources, out);
  std::vector<std::int32_t> owned(sources.begin(), sources.end());
  return record("threshold_bits", {x, thresholds}, out, {x, thresholds, widths},
                [owned = std::move(owned)](const VjpContext& c) {
                  const bool is_single = c.gradient().dtype() == DType::float32;
                  return is_single ? threshold_vjp<float>(c, owned)
                                   : threshold_vjp<double>(c, owned);
                });
}

}  // namespace boolgrad::logic
