#include "boolgrad/logic/hardening.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "boolgrad/core/random.h"
#include "boolgrad/ops/arithmetic.h"
#include "boolgrad/ops/shaping.h"

namespace boolgrad::logic {
namespace {

RandomAddress address_of_layer(const HardeningStep& step, std::size_t layer) {
  return {.seed = step.seed,
          .stream = step.stream,
          .step = step.step,
          .index = std::uint64_t{layer} << 32};
}

/// 1 for gates that are hard in this step, each with probability `share`: [gates, 1].
Tensor sampled_shares(std::int64_t gates, double share, DType dtype, const RandomAddress& at) {
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

/// A Gumbel sample, -log(-log u). The difference of two is logistic.
double gumbel(const RandomAddress& at) {
  const double u = std::max(random_uniform(at), 0x1.0p-54);
  return -std::log(-std::log(u));
}

/// Gumbel noise for softmax16, logistic noise for the others, so that the argmax or the sign of the
/// noisy logits is a sample. For walsh, the coefficients that give every entry independent noise.
Tensor sampled_noise(const Shape& shape, DType dtype, Parametrisation parametrisation,
                     double factor, RandomAddress at) {
  Tensor noise(shape, dtype);
  visit_dtype(dtype, [&](auto zero) {
    using T = decltype(zero);
    for (T& value : noise.mutable_values<T>()) {
      double sample = gumbel(at);
      ++at.index;
      if (parametrisation != Parametrisation::softmax16) {
        sample -= gumbel(at);
        ++at.index;
      }
      value = convert<T>(factor * sample);
    }
  });
  return parametrisation == Parametrisation::walsh ? walsh_coefficients(noise) : noise;
}

Tensor most_certain(const Tensor& soft, const Tensor& hard, double share) {
  const std::int64_t gates = soft.shape()[0];
  const std::int64_t entries = soft.shape()[1];
  std::vector<std::pair<double, std::int64_t>> distance;
  for (std::int64_t gate = 0; gate < gates; ++gate) {
    double largest = 0;
    for (std::int64_t i = gate * entries; i < (gate + 1) * entries; ++i) {
      largest = std::max(largest, std::abs(soft.at(i) - hard.at(i)));
    }
    distance.emplace_back(largest, gate);
  }
  std::ranges::sort(distance);
  const auto count = static_cast<std::size_t>(std::lround(share * static_cast<double>(gates)));
  Tensor chosen = Tensor::zeros({gates}, soft.dtype());
  visit_dtype(soft.dtype(), [&](auto zero) {
    using T = decltype(zero);
    for (std::size_t i = 0; i < count; ++i) {
      chosen.mutable_values<T>()[static_cast<std::size_t>(distance[i].second)] = convert<T>(1);
    }
  });
  return chosen;
}

}  // namespace

std::vector<Tensor> hardened_logits(const HardeningStep& step, const std::vector<Tensor>& logits,
                                    Parametrisation parametrisation) {
  if (!changes_logits(step.kind) || step.share == 0) return logits;
  std::vector<Tensor> changed;
  for (std::size_t i = 0; i < logits.size(); ++i) {
    const Tensor& own = logits[i];
    changed.push_back(step.kind == HardeningKind::temperature
                          ? scale(own, step.logit_scale)
                          : add(own, sampled_noise(own.shape(), own.dtype(), parametrisation,
                                                   step.noise, address_of_layer(step, i))));
  }
  return changed;
}

bool hardens_tables(const HardeningStep& step) {
  return step.kind != HardeningKind::none && step.kind != HardeningKind::states &&
         !changes_logits(step.kind) && step.share > 0;
}

std::vector<Tensor> hardened_tables(const HardeningStep& step, const std::vector<Tensor>& soft,
                                    const std::vector<Tensor>& hard,
                                    const std::vector<Tensor>& frozen) {
  if (!hardens_tables(step)) return soft;
  std::vector<Tensor> tables;
  for (std::size_t i = 0; i < soft.size(); ++i) {
    const DType dtype = soft[i].dtype();
    const std::int64_t gates = soft[i].shape()[0];
    if (step.kind == HardeningKind::freeze) {
      const Tensor fixed = frozen.at(i).viewed_as({gates, 1});
      const Tensor moving = subtract(Tensor::ones({gates, 1}, dtype), fixed);
      tables.push_back(add(multiply(soft[i], moving), multiply(cast(hard[i], dtype), fixed)));
      continue;
    }
    const Tensor shares = step.kind == HardeningKind::gates
                              ? sampled_shares(gates, step.share, dtype, address_of_layer(step, i))
                              : Tensor::full({gates, 1}, step.share, dtype);
    const Tensor away = multiply(subtract(cast(hard[i], dtype), soft[i].detach()), shares);
    tables.push_back(add(soft[i], away));
  }
  return tables;
}

std::vector<Tensor> most_certain_gates(const std::vector<Tensor>& soft,
                                       const std::vector<Tensor>& hard, double share) {
  std::vector<Tensor> layers;
  for (std::size_t i = 0; i < soft.size(); ++i) {
    layers.push_back(most_certain(soft[i].detach(), hard[i], share));
  }
  return layers;
}

}  // namespace boolgrad::logic
