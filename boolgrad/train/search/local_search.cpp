#include "boolgrad/train/search/local_search.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <memory>
#include <tuple>
#include <utility>
#include <vector>

#include "boolgrad/core/random.h"
#include "boolgrad/core/random_streams.h"
#include "boolgrad/ops/shaping.h"

namespace boolgrad {
namespace {

/// One change of one gate: two logits that change places, or one that changes its sign where both
/// are the same.
struct Alternative {
  double margin = 0;  ///< how certain the model is that it is wrong
  std::size_t layer = 0;
  std::size_t first = 0;
  std::size_t second = 0;

  auto rank() const { return std::tuple(margin, layer, first); }
};

/// Turns the change on, and off again.
void turn(std::vector<Tensor>& parameters, const Alternative& change) {
  Tensor& logits = parameters[change.layer];
  visit_dtype(logits.dtype(), [&](auto zero) {
    using T = decltype(zero);
    const std::span<T> values = logits.mutable_values<T>();
    if (change.first == change.second) {
      values[change.first] = convert<T>(-convert<double>(values[change.first]));
    } else {
      std::swap(values[change.first], values[change.second]);
    }
  });
}

/// Adds the alternatives of a gate whose logits are `width` values from `begin` on.
void add_alternatives(Parametrisation parametrisation, const Tensor& logits, std::size_t layer,
                      std::size_t begin, std::size_t width, std::vector<Alternative>& to) {
  const auto at = [&](std::size_t i) { return logits.at(static_cast<std::int64_t>(i)); };
  if (parametrisation == Parametrisation::sigmoid) {
    for (std::size_t i = begin; i < begin + width; ++i) {
      // A logit of exactly 0 cannot change its sign.
      if (at(i) != 0) to.push_back({std::abs(at(i)), layer, i, i});
    }
    return;
  }
  std::size_t best = begin;
  for (std::size_t i = begin + 1; i < begin + width; ++i) best = at(i) > at(best) ? i : best;
  std::size_t next = best == begin ? begin + 1 : begin;
  for (std::size_t i = begin; i < begin + width; ++i) {
    if (i != best && at(i) > at(next)) next = i;
  }
  if (at(best) != at(next)) to.push_back({at(best) - at(next), layer, best, next});
}

/// The least certain alternatives of all active gates.
std::vector<Alternative> least_certain(const Learner& learner, std::int64_t count) {
  const std::vector<Tensor> parameters = learner.model().parameters();
  const std::vector<std::vector<bool>> active = learner.model().active_gates();
  std::vector<Alternative> all;
  for (std::size_t layer = 0; layer < active.size(); ++layer) {
    const auto width = static_cast<std::size_t>(parameters[layer].shape()[1]);
    for (std::size_t gate = 0; gate < active[layer].size(); ++gate) {
      if (!active[layer][gate]) continue;
      add_alternatives(learner.model().parametrisation(), parameters[layer], layer, gate * width,
                       width, all);
    }
  }
  std::ranges::sort(all, {}, &Alternative::rank);
  if (all.size() > static_cast<std::size_t>(count)) all.resize(static_cast<std::size_t>(count));
  return all;
}

class LocalSearch {
 public:
  LocalSearch(Learner& learner, const LocalSearchOptions& options)
      : learner_(learner),
        options_(options),
        parameters_(learner.model().parameters()),
        trials_(learner.trials()) {}

  LocalSearchStats go() {
    stats_.before = stats_.after = trials_->wrong_bits();
    bool helped = true;
    while (helped && stats_.after > 0) {
      helped = try_all(least_certain(learner_, options_.candidates));
    }
    walk();
    return stats_;
  }

 private:
  bool try_all(const std::vector<Alternative>& candidates) {
    const double before = stats_.after;
    for (const Alternative& candidate : candidates) {
      if (stats_.after > 0) keep_where(candidate, [&](double loss) { return loss < stats_.after; });
    }
    return stats_.after < before;
  }

  void walk() {
    std::vector<Alternative> all;
    for (std::int64_t i = 0; i < options_.walk && stats_.after > 0; ++i) {
      // What is active changes as tables do.
      if (i % refresh == 0) all = least_certain(learner_, std::numeric_limits<std::int64_t>::max());
      if (all.empty()) return;
      const std::size_t drawn = random_below({.seed = options_.seed,
                                              .stream = refit_stream,
                                              .step = options_.step,
                                              .index = static_cast<std::uint64_t>(i)},
                                             all.size());
      keep_where(all[drawn], [&](double loss) { return loss <= stats_.after; });
    }
  }

  template <class Accepts>
  void keep_where(const Alternative& change, Accepts accepts) {
    turn(parameters_, change);
    const double loss = trials_->wrong_bits_with(change.layer, gate_of(change), table_of(change));
    ++stats_.tried;
    if (accepts(loss)) {
      trials_->keep();
      stats_.after = loss;
      ++stats_.kept;
    } else {
      turn(parameters_, change);
    }
  }

  std::int64_t gate_of(const Alternative& change) const {
    return static_cast<std::int64_t>(change.first) / parameters_[change.layer].shape()[1];
  }

  /// What the gate's table is now, hardened.
  std::uint64_t table_of(const Alternative& change) const {
    const std::int64_t gate = gate_of(change);
    const Tensor logits = slice(parameters_[change.layer].detach(), 0, gate, gate + 1);
    const Tensor entries = hard_tables(learner_.model().parametrisation(), logits);
    std::uint64_t table = 0;
    for (std::size_t e = 0; e < entries.values<std::uint8_t>().size(); ++e) {
      table |= std::uint64_t{entries.values<std::uint8_t>()[e]} << e;
    }
    return table;
  }

  static constexpr std::int64_t refresh = 1000;

  Learner& learner_;
  LocalSearchOptions options_;
  std::vector<Tensor> parameters_;  ///< the learner's own: tensors share their memory
  std::unique_ptr<HardTrials> trials_;
  LocalSearchStats stats_;
};

}  // namespace

void seal(Model& model) {
  constexpr double certain = 40;
  std::vector<Tensor> layers = model.parameters();
  layers.resize(model.masks().size());  // thresholds stay as they are
  for (Tensor logits : layers) {
    const auto width = static_cast<std::size_t>(logits.shape()[1]);
    visit_dtype(logits.dtype(), [&](auto zero) {
      using T = decltype(zero);
      const std::span<T> values = logits.mutable_values<T>();
      if (model.parametrisation() != Parametrisation::softmax16) {
        const Tensor hard = hard_tables(model.parametrisation(), logits);
        Tensor sealed(logits.shape(), logits.dtype());
        for (std::size_t i = 0; i < values.size(); ++i) {
          const bool is_on = hard.at(static_cast<std::int64_t>(i)) != 0;
          sealed.mutable_values<T>()[i] = convert<T>(is_on ? certain : -certain);
        }
        if (model.parametrisation() == Parametrisation::walsh) sealed = walsh_coefficients(sealed);
        std::ranges::copy(sealed.values<T>(), values.begin());
        return;
      }
      for (std::size_t begin = 0; begin < values.size(); begin += width) {
        const std::span<T> gate = values.subspan(begin, width);
        std::size_t best = 0;
        for (std::size_t i = 1; i < width; ++i) {
          if (convert<double>(gate[i]) > convert<double>(gate[best])) best = i;
        }
        std::ranges::fill(gate, convert<T>(0));
        gate[best] = convert<T>(certain);
      }
    });
  }
}

LocalSearchStats local_search(Learner& learner, const LocalSearchOptions& options) {
  return LocalSearch(learner, options).go();
}

}  // namespace boolgrad
