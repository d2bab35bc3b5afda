#include "boolgrad/data/binarisation.h"

#include <algorithm>
#include <cmath>
#include <vector>

#include "boolgrad/core/fail.h"
#include "boolgrad/core/parallel.h"

namespace boolgrad::data {
namespace {

constexpr std::string_view where = "binarisation";

/// The values of `count` features from `first` on, sorted.
std::vector<float> sorted_values(const Tensor& samples, std::size_t first, std::size_t count = 1) {
  const auto width = static_cast<std::size_t>(samples.shape()[1]);
  std::vector<float> values(static_cast<std::size_t>(samples.shape()[0]) * count);
  for (std::size_t i = 0; i < values.size(); ++i) {
    const std::size_t at = i / count * width + first + i % count;
    values[i] = samples.dtype() == DType::uint8
                    ? static_cast<float>(samples.values<std::uint8_t>()[at])
                    : samples.values<float>()[at];
  }
  std::ranges::sort(values);
  return values;
}

/// A threshold half-way between two values, with about `share` of the values below it.
float quantile(const std::vector<float>& sorted, double share) {
  const auto index = static_cast<std::size_t>(share * static_cast<double>(sorted.size()));
  auto upper = std::ranges::lower_bound(sorted, sorted[std::min(index, sorted.size() - 1)]);
  // A threshold below all values would be useless.
  if (upper == sorted.begin()) upper = std::ranges::upper_bound(sorted, sorted.front());
  const float lower = *(upper - 1);
  return lower + (*upper - lower) / 2;
}

struct Range {
  double low, high;
  float at(double share) const { return static_cast<float>(low + (high - low) * share); }
};

/// Whether features are bytes that are not only 0 and 1.
bool has_bytes(const Tensor& samples) {
  return samples.dtype() == DType::uint8 &&
         std::ranges::any_of(samples.values<std::uint8_t>(), [](std::uint8_t v) { return v > 1; });
}

Range range_of(const std::vector<float>& sorted, bool is_bytes) {
  return is_bytes ? Range{0, 255} : Range{sorted.front(), sorted.back()};
}

std::vector<float> thresholds_of(const std::vector<float>& sorted, const Range& range,
                                 const BinarisationOptions& options) {
  const float low = sorted.front();
  const float high = sorted.back();
  const bool has_two_values = *std::ranges::upper_bound(sorted, low) == high;
  if (has_two_values && options.kind != BinarisationKind::threshold)
    return {low + (high - low) / 2};
  if (options.kind == BinarisationKind::threshold) return {range.at(options.threshold)};
  std::vector<float> thresholds;
  for (std::int64_t i = 1; i <= options.count; ++i) {
    const double share = static_cast<double>(i) / static_cast<double>(options.count + 1);
    thresholds.push_back(options.kind == BinarisationKind::uniform ? range.at(share)
                                                                   : quantile(sorted, share));
  }
  thresholds.erase(std::unique(thresholds.begin(), thresholds.end()), thresholds.end());
  return thresholds;
}

/// Whether the rarer value of the bit occurs in at least `min_share` of the samples.
bool is_informative(const std::vector<float>& sorted, float threshold, double min_share) {
  const auto above =
      static_cast<double>(sorted.end() - std::ranges::upper_bound(sorted, threshold));
  const auto count = static_cast<double>(sorted.size());
  return above > 0 && above < count && std::min(above, count - above) >= min_share * count;
}

}  // namespace

std::string_view to_string(BinarisationKind kind) {
  switch (kind) {
    case BinarisationKind::threshold: return "threshold";
    case BinarisationKind::uniform: return "uniform";
    case BinarisationKind::quantile: return "quantile";
  }
  return "unknown";
}

logic::Thresholds make_thresholds(const Tensor& samples, const BinarisationOptions& options) {
  if (samples.rank() != 2 || samples.shape()[0] < 1) {
    fail(where, "expected at least one sample, shape [samples, features], received {}",
         boolgrad::to_string(samples.shape()));
  }
  const bool is_bytes = has_bytes(samples);
  const auto features = static_cast<std::size_t>(samples.shape()[1]);
  std::vector<std::vector<float>> thresholds(features);
  parallel_for(features, [&](std::size_t feature) {
    const std::vector<float> sorted = sorted_values(samples, feature);
    if (sorted.front() == sorted.back()) return;
    for (const float threshold : thresholds_of(sorted, range_of(sorted, is_bytes), options)) {
      if (is_informative(sorted, threshold, options.min_share)) {
        thresholds[feature].push_back(threshold);
      }
    }
  });
  std::vector<std::int32_t> sources;
  std::vector<float> all;
  for (std::size_t feature = 0; feature < features; ++feature) {
    sources.insert(sources.end(), thresholds[feature].size(), static_cast<std::int32_t>(feature));
    all.insert(all.end(), thresholds[feature].begin(), thresholds[feature].end());
  }
  if (all.empty()) {
    fail(where, "expected at least one feature that varies between samples, received none");
  }
  return {samples.shape()[1], std::move(sources), Tensor::of(all)};
}

logic::Thresholds make_shared_thresholds(const Tensor& samples, std::int64_t channels,
                                         const BinarisationOptions& options) {
  if (samples.rank() != 2 || samples.shape()[0] < 1 || channels < 1 ||
      samples.shape()[1] % channels != 0) {
    fail(where, "expected at least one image of {} channels, received samples {}", channels,
         boolgrad::to_string(samples.shape()));
  }
  const bool is_bytes = has_bytes(samples);
  const auto pixels = static_cast<std::size_t>(samples.shape()[1] / channels);
  std::vector<std::int32_t> sources;
  std::vector<float> all;
  for (std::size_t channel = 0; channel < static_cast<std::size_t>(channels); ++channel) {
    const std::size_t first = channel * pixels;
    const std::vector<float> sorted = sorted_values(samples, first, pixels);
    if (sorted.front() == sorted.back()) {
      fail(where, "expected values that vary in every channel, received only {} in channel {}",
           sorted.front(), channel);
    }
    for (const float threshold : thresholds_of(sorted, range_of(sorted, is_bytes), options)) {
      for (std::size_t pixel = 0; pixel < pixels; ++pixel) {
        sources.push_back(static_cast<std::int32_t>(first + pixel));
      }
      all.insert(all.end(), pixels, threshold);
    }
  }
  return {samples.shape()[1], std::move(sources), Tensor::of(all)};
}

}  // namespace boolgrad::data
