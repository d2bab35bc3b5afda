#include "boolgrad/logic/head.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <numbers>

#include "boolgrad/autograd/tape.h"
#include "boolgrad/core/fail.h"
#include "boolgrad/ops/activation.h"
#include "boolgrad/ops/arithmetic.h"
#include "boolgrad/ops/loss.h"
#include "boolgrad/ops/reduction.h"
#include "boolgrad/ops/shaping.h"

namespace boolgrad::logic {
namespace {

/// `at_label` at the label and `elsewhere` for other classes: [classes, samples].
Tensor by_label(const Tensor& labels, std::int64_t classes, DType dtype, double at_label,
                double elsewhere) {
  Tensor result = Tensor::full({classes, labels.size()}, elsewhere, dtype);
  visit_dtype(dtype, [&](auto zero) {
    using T = decltype(zero);
    const auto values = result.mutable_values<T>();
    const auto label = labels.values<std::int32_t>();
    for (std::size_t s = 0; s < label.size(); ++s) {
      values[static_cast<std::size_t>(label[s]) * label.size() + s] = convert<T>(at_label);
    }
  });
  return result;
}

// Cross-entropy against targets t is the plain loss plus sum (one-hot - t) x. With the targets
// (1 - s) one-hot + s / classes, this is s (x_label - mean x).
Tensor label_loss(const Tensor& logits, const Tensor& labels, const Tensor& plain,
                  double smoothing) {
  if (smoothing == 0) return plain;
  const std::int64_t classes = logits.shape()[0];
  const double share = 1 / static_cast<double>(classes);
  const Tensor away = by_label(labels, classes, logits.dtype(), 1 - share, -share);
  return add(plain,
             scale(sum(multiply(logits, away)), smoothing / static_cast<double>(labels.size())));
}

Tensor class_loss(const Tensor& logits, const Tensor& labels, double smoothing,
                  const SoftTargets& soft) {
  const Tensor plain = cross_entropy(logits, labels, {.axis = 0});
  Tensor of_labels = label_loss(logits, labels, plain, smoothing);
  if (soft.weight == 0) return of_labels;
  const Tensor away =
      subtract(by_label(labels, logits.shape()[0], logits.dtype(), 1, 0), soft.probabilities);
  const Tensor of_teacher =
      add(plain, scale(sum(multiply(logits, away)), 1 / static_cast<double>(labels.size())));
  return add(scale(of_labels, 1 - soft.weight), scale(of_teacher, soft.weight));
}

/// The logits of 0 and 1 for every vote, group by group: [2, groups samples].
Tensor vote_logits(const Head& head, const GroupSums& sums) {
  const Tensor half = cast(scale(sums.largest, 0.5), sums.sums.dtype());
  const Tensor z = scale(subtract(sums.sums, half), 0.5 / head.temperature);
  const Tensor row = reshape(z, {1, z.size()});
  const std::array<Tensor, 2> both = {scale(row, -1), row};
  return concatenate(both);
}

/// The label of every vote, group by group: [groups samples].
Tensor vote_labels(const Head& head, const Tensor& labels) {
  Tensor bits({head.groups() * labels.size()}, DType::int32);
  auto to = bits.mutable_values<std::int32_t>().begin();
  for (std::int64_t g = 0; g < head.groups(); ++g) {
    for (const std::int32_t label : labels.values<std::int32_t>()) *to++ = (label >> g) & 1;
  }
  return bits;
}

/// Values scaled from [low, high] to [0, 1]: [1, samples].
Tensor scaled_values(const Head& head, const Tensor& values, DType dtype) {
  const Tensor row = cast(values, dtype).viewed_as({1, values.size()});
  return scale(subtract(row, Tensor::scalar(head.low, dtype)), 1 / (head.high - head.low));
}

/// A trained exponent, rounded and limited.
std::int32_t rounded_exponent(double exponent, std::int64_t max) {
  return static_cast<std::int32_t>(
      std::floor(std::clamp(exponent, 0.0, static_cast<double>(max)) + 0.5));
}

}  // namespace

Tensor group_sums(const Tensor& y, std::int64_t groups, const Tensor& weights) {
  if (y.rank() != 2 || groups < 1 || y.shape()[0] % groups != 0) {
    fail("group_sums", "expected [outputs, samples] of a multiple of {} outputs, received {}",
         groups, boolgrad::to_string(y.shape()));
  }
  if (weights.defined() && weights.shape() != Shape{y.shape()[0], 1}) {
    fail("group_sums", "expected weights [{}, 1], received {}", y.shape()[0],
         boolgrad::to_string(weights.shape()));
  }
  const Tensor counted = weights.defined() ? multiply(y, weights) : y;
  const Tensor grouped = reshape(counted, {groups, y.shape()[0] / groups, y.shape()[1]});
  return sum(grouped, {.axes = Axes{1}});
}

Tensor output_weights(const Head& head, DType dtype) {
  if (head.exponents.empty()) return {};
  std::vector<double> weights;
  for (std::size_t i = 0; i < head.exponents.size(); ++i) {
    weights.push_back(static_cast<double>(head.weight(i)));
  }
  return cast(Tensor::of(weights, {std::ssize(weights), 1}), dtype);
}

Tensor power_weights(const Tensor& exponents, std::int64_t max_exponent, DType dtype) {
  const Tensor weights =
      output_weights({.exponents = rounded_exponents(exponents, max_exponent)}, exponents.dtype());
  const auto limit = static_cast<double>(max_exponent);
  const auto vjp = [limit](const VjpContext& c) {
    const Tensor& exponents = c.residuals[0];
    Tensor result(exponents.shape(), exponents.dtype());
    visit_dtype(exponents.dtype(), [&](auto zero) {
      using T = decltype(zero);
      const auto to = result.mutable_values<T>();
      for (std::size_t i = 0; i < to.size(); ++i) {
        const auto at = static_cast<std::int64_t>(i);
        const double exponent = exponents.at(at);
        const double gradient = c.gradient().at(at);
        const bool leaves = (exponent <= 0 && gradient > 0) || (exponent >= limit && gradient < 0);
        to[i] = convert<T>(leaves ? 0 : gradient * c.residuals[1].at(at) * std::numbers::ln2);
      }
    });
    return std::vector{result};
  };
  return cast(record("power_weights", {exponents}, weights, {exponents, weights}, vjp), dtype);
}

std::vector<std::int32_t> rounded_exponents(const Tensor& exponents, std::int64_t max_exponent) {
  std::vector<std::int32_t> result;
  for (std::int64_t i = 0; i < exponents.size(); ++i) {
    result.push_back(rounded_exponent(exponents.at(i), max_exponent));
  }
  return result;
}

Tensor largest_sums(const Head& head, std::int64_t outputs) {
  std::vector<double> largest;
  for (std::int64_t g = 0; g < head.groups(); ++g) {
    largest.push_back(static_cast<double>(head.largest_sum(g, outputs)));
  }
  return Tensor::of(largest, {head.groups(), 1});
}

GroupSums sums_of(const Head& head, const Tensor& y, const Tensor& weights) {
  const std::int64_t groups = head.groups();
  if (!weights.defined()) {
    return {.sums = group_sums(y, groups, output_weights(head, y.dtype())),
            .largest = largest_sums(head, y.shape()[0])};
  }
  return {.sums = group_sums(y, groups, weights),
          .largest = cast(group_sums(weights, groups), DType::float64)};
}

Tensor head_loss(const Head& head, const Tensor& y, const Tensor& labels, double smoothing,
                 const SoftTargets& soft_targets) {
  return head_loss_of_sums(head, sums_of(head, y), labels, smoothing, soft_targets);
}

Tensor head_loss_of_sums(const Head& head, const GroupSums& sums, const Tensor& labels,
                         double smoothing, const SoftTargets& soft_targets) {
  if (soft_targets.weight != 0 && head.kind != HeadKind::classes) {
    fail("head_loss", "expected soft targets only for classes, received a head of another kind");
  }
  if (head.kind == HeadKind::regression) {
    const DType dtype = sums.sums.dtype();
    const Tensor one = Tensor::scalar(1, DType::float64);
    const Tensor share = multiply(sums.sums, cast(divide(one, sums.largest), dtype));
    return mean_squared_error(share, scaled_values(head, labels, dtype));
  }
  if (head.has_votes()) {
    return class_loss(vote_logits(head, sums), vote_labels(head, labels), smoothing, soft_targets);
  }
  return class_loss(scale(sums.sums, 1 / head.temperature), labels, smoothing, soft_targets);
}

double adapted_temperature(double temperature, double deviation, double target,
                           double outputs_per_class) {
  constexpr double kept = 0.97;
  constexpr double least = 0.01;  // so that constant sums do not lead to 0
  const double next = kept * temperature + (1 - kept) * deviation / (4 * target);
  return std::max(least, std::min(next, outputs_per_class / 6));
}

double standard_deviation(const Tensor& values) {
  const auto count = static_cast<double>(values.size());
  double mean = 0;
  for (std::int64_t i = 0; i < values.size(); ++i) mean += values.at(i) / count;
  double squares = 0;
  for (std::int64_t i = 0; i < values.size(); ++i) {
    squares += (values.at(i) - mean) * (values.at(i) - mean);
  }
  return std::sqrt(squares / count);
}

std::vector<double> predictions(const Head& head, const Tensor& sums, std::int64_t outputs) {
  const auto values = sums.values<double>();
  const auto samples = static_cast<std::size_t>(sums.shape()[1]);
  const auto groups = static_cast<std::size_t>(head.groups());
  const Tensor largest = largest_sums(head, outputs);
  std::vector<double> result(samples);
  for (std::size_t s = 0; s < samples; ++s) {
    if (head.has_votes()) {
      std::int64_t number = 0;
      for (std::size_t g = 0; g < groups; ++g) {
        number |=
            std::int64_t{2 * values[g * samples + s] > largest.at(static_cast<std::int64_t>(g))}
            << g;
      }
      result[s] = static_cast<double>(std::min(number, head.classes - 1));
    } else if (head.kind == HeadKind::regression) {
      result[s] = head.low + (head.high - head.low) * values[s] / largest.at(0);
    } else {
      std::size_t best = 0;
      for (std::size_t c = 1; c < groups; ++c) {
        if (values[c * samples + s] > values[best * samples + s]) best = c;
      }
      result[s] = static_cast<double>(best);
    }
  }
  return result;
}

Tensor probabilities(const Head& head, const Tensor& sums, std::int64_t outputs) {
  const NoGrad off_the_tape;
  if (head.kind == HeadKind::regression) {
    fail("probabilities", "expected a head of classes, received regression");
  }
  if (head.kind == HeadKind::classes) return softmax(scale(sums, 1 / head.temperature), 0);
  // One vote per group: z = (sum - largest / 2) / temperature is the logit of a 1. Logarithms,
  // since products of many probabilities underflow.
  const Tensor half = scale(largest_sums(head, outputs), 0.5);
  const Tensor votes = scale(subtract(sums, half), 1 / head.temperature);
  const auto z = votes.values<double>();
  const auto samples = static_cast<std::size_t>(sums.shape()[1]);
  Tensor logits = Tensor::zeros({head.classes, sums.shape()[1]}, DType::float64);
  const auto to = logits.mutable_values<double>();
  for (std::size_t c = 0; c < static_cast<std::size_t>(head.classes); ++c) {
    for (std::size_t g = 0; g < static_cast<std::size_t>(head.groups()); ++g) {
      for (std::size_t s = 0; s < samples; ++s) {
        const double vote = ((c >> g) & 1) != 0 ? z[g * samples + s] : -z[g * samples + s];
        to[c * samples + s] += std::min(vote, 0.0) - std::log1p(std::exp(-std::abs(vote)));
      }
    }
  }
  return softmax(logits, 0);
}

Tensor group_counts(const BitMatrix& outputs, std::int64_t groups,
                    std::span<const std::int32_t> exponents) {
  if (groups < 1 || outputs.features % groups != 0) {
    fail("group_counts", "expected a multiple of {} outputs, received {}", groups,
         outputs.features);
  }
  if (!exponents.empty() && std::ssize(exponents) != outputs.features) {
    fail("group_counts", "expected {} exponents, received {}", outputs.features, exponents.size());
  }
  Tensor counts = Tensor::zeros({groups, outputs.samples}, DType::float64);
  const auto to = counts.mutable_values<double>();
  const auto samples = static_cast<std::size_t>(outputs.samples);
  const auto words = static_cast<std::size_t>(outputs.words_per_feature());
  const auto per_group = static_cast<std::size_t>(outputs.features / groups);
  for (std::size_t f = 0; f < static_cast<std::size_t>(outputs.features); ++f) {
    const auto row = to.subspan(f / per_group * samples, samples);
    for (std::size_t s = 0; s < samples; ++s) {
      const std::uint64_t bit = (outputs.words[f * words + s / 64] >> (s % 64)) & 1;
      row[s] += static_cast<double>(bit << (exponents.empty() ? 0 : exponents[f]));
    }
  }
  return counts;
}

}  // namespace boolgrad::logic
