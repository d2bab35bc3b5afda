#include "boolgrad/data/data_set.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <numeric>

#include "boolgrad/core/fail.h"
#include "boolgrad/core/random.h"

namespace boolgrad::data {
namespace {

constexpr std::string_view where = "data";

Tensor picked_rows(const Tensor& tensor, const std::vector<std::int64_t>& indices) {
  Shape shape = tensor.shape();
  const auto row = static_cast<std::size_t>(tensor.size() / std::max<std::int64_t>(1, shape[0]));
  shape[0] = static_cast<std::int64_t>(indices.size());
  Tensor result(shape, tensor.dtype());
  visit_dtype(tensor.dtype(), [&](auto zero) {
    using T = decltype(zero);
    const auto from = tensor.values<T>();
    auto to = result.mutable_values<T>().begin();
    for (const std::int64_t index : indices) {
      to = std::ranges::copy(from.subspan(static_cast<std::size_t>(index) * row, row), to).out;
    }
  });
  return result;
}

/// The numbers from 0 to count - 1 in random order.
std::vector<std::int64_t> shuffled(std::int64_t count, std::uint64_t seed, std::uint32_t stream) {
  std::vector<std::int64_t> order(static_cast<std::size_t>(count));
  std::iota(order.begin(), order.end(), 0);
  for (std::size_t i = order.size(); i > 1; --i) {
    std::swap(order[i - 1], order[random_below({.seed = seed, .stream = stream, .index = i}, i)]);
  }
  return order;
}

template <class T, std::size_t n>
std::optional<T> parsed(std::string_view name, const std::array<T, n>& values) {
  const auto found = std::ranges::find_if(values, [&](T one) { return to_string(one) == name; });
  return found == values.end() ? std::nullopt : std::optional(*found);
}

}  // namespace

std::string_view to_string(MissingValues missing) {
  switch (missing) {
    case MissingValues::refuse: return "refuse";
    case MissingValues::drop: return "drop";
    case MissingValues::mean: return "mean";
    case MissingValues::category: return "category";
  }
  return "";
}

std::string_view to_string(TextEncoding encoding) {
  return encoding == TextEncoding::utf8 ? "utf-8" : "latin1";
}

std::optional<MissingValues> parse_missing_values(std::string_view name) {
  return parsed(name, std::array{MissingValues::refuse, MissingValues::drop, MissingValues::mean,
                                 MissingValues::category});
}

std::optional<TextEncoding> parse_text_encoding(std::string_view name) {
  return parsed(name, std::array{TextEncoding::utf8, TextEncoding::latin1});
}

std::vector<std::string> feature_names(const DataFormat& format, std::int64_t features) {
  std::vector<std::string> names;
  for (const Column& column : format.columns) {
    if (column.categories.empty()) names.push_back(column.name);
    for (const std::string& category : column.categories) {
      names.push_back(fmt::format("{} = {}", column.name, category));
    }
  }
  for (auto i = static_cast<std::int64_t>(names.size()); i < features; ++i) {
    names.push_back(fmt::format("x{}", i));
  }
  return names;
}

SampleSet picked_samples(const SampleSet& samples, const std::vector<std::int64_t>& indices) {
  return {picked_rows(samples.features, indices), picked_rows(samples.labels, indices)};
}

SampleSplit split_samples(const SampleSet& samples, double share, std::uint64_t seed,
                          std::uint32_t stream) {
  if (!(share >= 0 && share < 1)) {
    fail(where, "expected a share of at least 0 and below 1, received {}", share);
  }
  const bool has_classes = samples.labels.dtype() == DType::int32;
  std::map<std::int32_t, std::int64_t> seen;
  std::vector<std::int64_t> kept;
  std::vector<std::int64_t> taken;
  for (const std::int64_t index : shuffled(samples.count(), seed, stream)) {
    const auto at = static_cast<std::size_t>(index);
    std::int64_t& before = seen[has_classes ? samples.labels.values<std::int32_t>()[at] : 0];
    const auto due = [&](std::int64_t count) {
      return std::floor(static_cast<double>(count) * share);
    };
    (due(before + 1) > due(before) ? taken : kept).push_back(index);
    ++before;
  }
  std::ranges::sort(kept);
  std::ranges::sort(taken);
  return {picked_samples(samples, kept), picked_samples(samples, taken), kept};
}

std::int64_t count_classes(const SampleSet& samples, std::string_view what) {
  if (samples.count() == 0) fail(where, "expected samples in {}, received none", what);
  const auto labels = samples.labels.values<std::int32_t>();
  const std::int64_t classes = *std::ranges::max_element(labels) + std::int64_t{1};
  if (classes < 2) fail(where, "expected at least 2 classes in {}, received 1", what);
  std::vector<bool> occurs(static_cast<std::size_t>(classes), false);
  for (const std::int32_t label : labels) occurs[static_cast<std::size_t>(label)] = true;
  const auto missing = std::ranges::find(occurs, false);
  if (missing != occurs.end()) {
    fail(where, "expected every class from 0 to {} in {}, received none of class {}", classes - 1,
         what, missing - occurs.begin());
  }
  return classes;
}

void check_classes(const SampleSet& samples, std::int64_t classes, std::string_view what) {
  if (samples.count() == 0) return;
  const auto labels = samples.labels.values<std::int32_t>();
  const auto unknown = std::ranges::find_if(
      labels, [&](std::int32_t label) { return label < 0 || label >= classes; });
  if (unknown != labels.end()) {
    fail(where, "expected classes of the training data, 0 to {}, in {}, received {} at sample {}",
         classes - 1, what, *unknown, unknown - labels.begin());
  }
}

}  // namespace boolgrad::data
