#include "boolgrad/data/binarisation.h"

#include <algorithm>
#include <cmath>
#include <vector>

#include "boolgrad/core/error.h"
#include "boolgrad/core/parallel.h"

namespace boolgrad {
namespace {

constexpr std::string_view where = "binarisation";

/// The values of a feature, in order.
std::vector<float> column_of(const Tensor& samples, std::size_t feature) {
  const auto width = static_cast<std::size_t>(samples.shape()[1]);
  std::vector<float> values(static_cast<std::size_t>(samples.shape()[0]));
  for (std::size_t s = 0; s < values.size(); ++s) {
    const std::size_t at = s * width + feature;
    values[s] = samples.dtype() == DType::uint8
                    ? static_cast<float>(samples.values<std::uint8_t>()[at])
                    : samples.values<float>()[at];
  }
  std::ranges::sort(values);
  return values;
}

/// A level that about `share` of the values lie below, between two of them.
float quantile(const std::vector<float>& sorted, double share) {
  const auto place = static_cast<std::size_t>(share * static_cast<double>(sorted.size()));
  auto upper = std::ranges::lower_bound(sorted, sorted[std::min(place, sorted.size() - 1)]);
  // No level lies below all of them.
  if (upper == sorted.begin()) upper = std::ranges::upper_bound(sorted, sorted.front());
  const float lower = *(upper - 1);
  return lower + (*upper - lower) / 2;
}

struct Range {
  double low, high;
  float at(double share) const { return static_cast<float>(low + (high - low) * share); }
};

std::vector<float> levels_of(const std::vector<float>& sorted, const Range& range,
                             const BinarisationOptions& options) {
  const float low = sorted.front();
  const float high = sorted.back();
  const bool has_two_values = *std::ranges::upper_bound(sorted, low) == high;
  if (has_two_values && options.kind != BinarisationKind::threshold)
    return {low + (high - low) / 2};
  if (options.kind == BinarisationKind::threshold) return {range.at(options.threshold)};
  std::vector<float> levels;
  for (std::int64_t i = 1; i <= options.levels; ++i) {
    const double share = static_cast<double>(i) / static_cast<double>(options.levels + 1);
    levels.push_back(options.kind == BinarisationKind::uniform ? range.at(share)
                                                               : quantile(sorted, share));
  }
  levels.erase(std::unique(levels.begin(), levels.end()), levels.end());
  return levels;
}

/// Whether a level tells enough of the samples apart.
bool is_of_use(const std::vector<float>& sorted, float level, double least) {
  const auto above = static_cast<double>(sorted.end() - std::ranges::upper_bound(sorted, level));
  const auto count = static_cast<double>(sorted.size());
  return above > 0 && above < count && std::min(above, count - above) >= least * count;
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

Thresholds make_thresholds(const Tensor& samples, const BinarisationOptions& options) {
  if (samples.rank() != 2 || samples.shape()[0] < 1) {
    fail(where, "expected samples [samples, features], at least one, received {}",
         to_string(samples.shape()));
  }
  const bool is_bytes =
      samples.dtype() == DType::uint8 &&
      std::ranges::any_of(samples.values<std::uint8_t>(), [](std::uint8_t v) { return v > 1; });
  const auto features = static_cast<std::size_t>(samples.shape()[1]);
  std::vector<std::vector<float>> levels(features);
  parallel_for(features, [&](std::size_t feature) {
    const std::vector<float> sorted = column_of(samples, feature);
    if (sorted.front() == sorted.back()) return;
    const Range range = is_bytes ? Range{0, 255} : Range{sorted.front(), sorted.back()};
    for (const float level : levels_of(sorted, range, options)) {
      if (is_of_use(sorted, level, options.least)) levels[feature].push_back(level);
    }
  });
  std::vector<std::int32_t> sources;
  std::vector<float> all;
  for (std::size_t feature = 0; feature < features; ++feature) {
    sources.insert(sources.end(), levels[feature].size(), static_cast<std::int32_t>(feature));
    all.insert(all.end(), levels[feature].begin(), levels[feature].end());
  }
  if (all.empty()) {
    fail(where, "expected features that tell training samples apart, received none");
  }
  return {samples.shape()[1], std::move(sources), Tensor::of(all)};
}

}  // namespace boolgrad
