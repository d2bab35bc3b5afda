#include "boolgrad/train/hardening.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <string>

#include "boolgrad/core/random.h"
#include "boolgrad/ops/arithmetic.h"
#include "boolgrad/ops/shaping.h"
#include "boolgrad/train/streams.h"

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

}  // namespace

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
  if (share() == 0 || options_.kind == HardeningKind::states) return soft;
  std::vector<Tensor> tables;
  for (std::size_t i = 0; i < soft.size(); ++i) {
    const DType dtype = soft[i].dtype();
    const std::int64_t gates = soft[i].shape()[0];
    const Tensor shares = options_.kind == HardeningKind::blend
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
