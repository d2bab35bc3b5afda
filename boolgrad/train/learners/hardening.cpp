#include "boolgrad/train/learners/hardening.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <string>
#include <utility>

#include "boolgrad/core/random.h"
#include "boolgrad/ops/arithmetic.h"
#include "boolgrad/ops/shaping.h"
#include "boolgrad/core/random_streams.h"

namespace boolgrad {
namespace {

constexpr const char* progress_key = "hardening.progress";
constexpr const char* mean_loss_key = "hardening.mean_loss";
constexpr double memory = 0.9;  // of the running mean

double number_in(const TensorFile& file, const char* key, double otherwise) {
  const auto found = file.metadata.find(key);
  if (found == file.metadata.end()) return otherwise;
  const double value = std::strtod(found->second.c_str(), nullptr);
  return std::isfinite(value) ? value : otherwise;
}

/// How hard each gate is: [gates, 1].
Tensor drawn_shares(std::int64_t gates, double share, DType dtype, const RandomAddress& at) {
  Tensor shares({gates, 1}, dtype);
  visit_dtype(dtype, [&](auto zero) {
    using T = decltype(zero);
    RandomAddress next = at;
    for (T& value : shares.mutable_values<T>()) {
      value = convert<T>(random_uniform(next) < share ? 1 : 0);
      ++next.index;
    }
  });
  return shares;
}

/// The `share` of the gates whose tables are nearest to their hard ones: 1 for them. Of gates that
/// are equally near, the first.
Tensor surest(const Tensor& soft, const Tensor& hard, double share) {
  const std::int64_t gates = soft.shape()[0];
  const std::int64_t entries = soft.shape()[1];
  std::vector<std::pair<double, std::int64_t>> away;
  for (std::int64_t gate = 0; gate < gates; ++gate) {
    double most = 0;
    for (std::int64_t i = gate * entries; i < (gate + 1) * entries; ++i) {
      most = std::max(most, std::abs(soft.at(i) - hard.at(i)));
    }
    away.emplace_back(most, gate);
  }
  std::ranges::sort(away);
  const auto count = static_cast<std::size_t>(std::lround(share * static_cast<double>(gates)));
  Tensor chosen({gates, 1}, soft.dtype());
  visit_dtype(soft.dtype(), [&](auto zero) {
    using T = decltype(zero);
    const std::span<T> values = chosen.mutable_values<T>();
    std::ranges::fill(values, convert<T>(0));
    for (std::size_t i = 0; i < count; ++i) {
      values[static_cast<std::size_t>(away[i].second)] = convert<T>(1);
    }
  });
  return chosen;
}

/// -log(-log u), of which a difference of two is logistic.
double gumbel(const RandomAddress& at) {
  const double u = std::max(random_uniform(at), 0x1.0p-54);
  return -std::log(-std::log(u));
}

/// Noise that makes the softmax of logits, or their sigmoid, a draw; of Walsh coefficients, what
/// gives every entry such noise of its own.
Tensor drawn_noise(const Shape& shape, DType dtype, Parametrisation parametrisation, double factor,
                   RandomAddress at) {
  Tensor noise(shape, dtype);
  visit_dtype(dtype, [&](auto zero) {
    using T = decltype(zero);
    for (T& value : noise.mutable_values<T>()) {
      double drawn = gumbel(at);
      ++at.index;
      if (parametrisation != Parametrisation::softmax16) {
        drawn -= gumbel(at);
        ++at.index;
      }
      value = convert<T>(factor * drawn);
    }
  });
  return parametrisation == Parametrisation::walsh ? walsh_coefficients(noise) : noise;
}

}  // namespace

std::string_view to_string(HardeningKind kind) {
  switch (kind) {
    case HardeningKind::none: return "none";
    case HardeningKind::blend: return "blend";
    case HardeningKind::gates: return "gates";
    case HardeningKind::states: return "states";
    case HardeningKind::straight_through: return "straight_through";
    case HardeningKind::temperature: return "temperature";
    case HardeningKind::noise: return "noise";
    case HardeningKind::freeze: return "freeze";
  }
  return "unknown";
}

double Hardening::share() const {
  if (options_.kind == HardeningKind::straight_through) return 1;
  return options_.kind == HardeningKind::none ? 0 : progress_;
}

bool Hardening::changes_logits() const {
  return options_.kind == HardeningKind::temperature || options_.kind == HardeningKind::noise;
}

std::vector<Tensor> Hardening::logits(const std::vector<Tensor>& own,
                                      Parametrisation parametrisation, std::uint64_t seed,
                                      std::uint32_t step) const {
  if (!changes_logits() || share() == 0) return own;
  std::vector<Tensor> changed;
  for (std::size_t i = 0; i < own.size(); ++i) {
    if (options_.kind == HardeningKind::temperature) {
      changed.push_back(scale(own[i], std::pow(options_.temperature, -share())));
      continue;
    }
    const RandomAddress at{
        .seed = seed, .stream = hardening_stream, .step = step, .index = std::uint64_t{i} << 32};
    changed.push_back(add(own[i], drawn_noise(own[i].shape(), own[i].dtype(), parametrisation,
                                              options_.noise * share(), at)));
  }
  return changed;
}

double Hardening::rate_factor() const { return std::pow(options_.rate_share, share()); }

void Hardening::observe(double loss) {
  if (options_.kind == HardeningKind::none) return;
  mean_loss_ = mean_loss_ < 0 ? loss : memory * mean_loss_ + (1 - memory) * loss;
  const double rise = 1 / static_cast<double>(options_.steps);
  const double change = mean_loss_ < options_.threshold ? rise : -rise / 2;
  progress_ = std::clamp(progress_ + change, 0.0, 1.0);
}

std::vector<Tensor> Hardening::applied(const std::vector<Tensor>& soft,
                                       const std::vector<Tensor>& hard, std::uint64_t seed,
                                       std::uint32_t step) const {
  if (share() == 0 || options_.kind == HardeningKind::states || changes_logits()) return soft;
  std::vector<Tensor> tables;
  for (std::size_t i = 0; i < soft.size(); ++i) {
    const DType dtype = soft[i].dtype();
    const std::int64_t gates = soft[i].shape()[0];
    if (options_.kind == HardeningKind::freeze) {
      const Tensor frozen = surest(soft[i].detach(), hard[i], share());
      const Tensor moving = subtract(Tensor::ones({gates, 1}, dtype), frozen);
      tables.push_back(add(multiply(soft[i], moving), multiply(cast(hard[i], dtype), frozen)));
      continue;
    }
    const Tensor shares = options_.kind != HardeningKind::gates
                              ? Tensor::full({gates, 1}, share(), dtype)
                              : drawn_shares(gates, share(), dtype,
                                             {.seed = seed,
                                              .stream = hardening_stream,
                                              .step = step,
                                              .index = std::uint64_t{i} << 32});
    const Tensor away = multiply(subtract(cast(hard[i], dtype), soft[i].detach()), shares);
    tables.push_back(add(soft[i], away));
  }
  return tables;
}

Tensor Hardening::rounding(const RolloutSize& size, std::uint64_t seed, std::uint32_t step) const {
  if (options_.kind != HardeningKind::states || share() == 0) return {};
  Tensor masks = fire_masks(size, share(), seed, hardening_stream, step);
  const std::int64_t cells = size.batch * size.height * size.width;
  std::ranges::fill(masks.mutable_values<std::uint8_t>().last(static_cast<std::size_t>(cells)),
                    std::uint8_t{0});
  return masks;
}

void Hardening::save(TensorFile& file) const {
  file.metadata[progress_key] = fmt::format("{}", progress_);
  file.metadata[mean_loss_key] = fmt::format("{}", mean_loss_);
}

void Hardening::load(const TensorFile& file) {
  progress_ = std::clamp(number_in(file, progress_key, 0), 0.0, 1.0);
  mean_loss_ = number_in(file, mean_loss_key, -1);
}

}  // namespace boolgrad
