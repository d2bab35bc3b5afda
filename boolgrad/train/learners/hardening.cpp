#include "boolgrad/train/learners/hardening.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>

#include "boolgrad/core/random_streams.h"

namespace boolgrad::train {
namespace {

constexpr const char* progress_key = "hardening.progress";
constexpr const char* mean_loss_key = "hardening.mean_loss";
constexpr double decay = 0.9;  // of the running mean

double number_in(const TensorFile& file, const char* key, double fallback) {
  const auto found = file.metadata.find(key);
  if (found == file.metadata.end()) return fallback;
  const double value = std::strtod(found->second.c_str(), nullptr);
  return std::isfinite(value) ? value : fallback;
}

}  // namespace

double Hardening::share() const {
  if (options_.kind == HardeningKind::straight_through) return 1;
  return options_.kind == HardeningKind::none ? 0 : progress_;
}

HardeningStep Hardening::step(std::uint64_t seed, std::int64_t step) const {
  return {.kind = options_.kind,
          .share = share(),
          .logit_scale = std::pow(options_.temperature, -share()),
          .noise = options_.noise * share(),
          .seed = seed,
          .stream = hardening_stream,
          .step = static_cast<std::uint32_t>(step)};
}

double Hardening::rate_factor() const { return std::pow(options_.learning_rate_factor, share()); }

void Hardening::observe(double loss) {
  if (options_.kind == HardeningKind::none) return;
  mean_loss_ = mean_loss_ < 0 ? loss : decay * mean_loss_ + (1 - decay) * loss;
  const double rise = 1 / static_cast<double>(options_.steps);
  const double change = mean_loss_ < options_.threshold ? rise : -rise / 2;
  progress_ = std::clamp(progress_ + change, 0.0, 1.0);
}

void Hardening::save(TensorFile& file) const {
  file.metadata[progress_key] = fmt::format("{}", progress_);
  file.metadata[mean_loss_key] = fmt::format("{}", mean_loss_);
}

void Hardening::load(const TensorFile& file) {
  progress_ = std::clamp(number_in(file, progress_key, 0), 0.0, 1.0);
  mean_loss_ = number_in(file, mean_loss_key, -1);
}

}  // namespace boolgrad::train
