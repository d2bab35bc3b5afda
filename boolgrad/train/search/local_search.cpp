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

namespace boolgrad::train {
namespace {

/// A change of one gate: swaps two logits, or negates one if both indices are equal.
struct Move {
  double certainty = 0;  ///< of the present table
  std::size_t layer = 0;
  std::size_t first = 0;
  std::size_t second = 0;

  auto rank() const { return std::tuple(certainty, layer, first); }
};

/// Makes a move. The same move again undoes it.
void apply(std::vector<Tensor>& parameters, const Move& move) {
  Tensor& logits = parameters[move.layer];
  visit_dtype(logits.dtype(), [&](auto zero) {
    using T = decltype(zero);
    const std::span<T> values = logits.mutable_values<T>();
    if (move.first == move.second) {
      values[move.first] = convert<T>(-convert<double>(values[move.first]));
    } else {
      std::swap(values[move.first], values[move.second]);
    }
  });
}

/// Adds the moves of a gate whose logits are the `width` values from `begin` on.
void add_moves(Parametrisation parametrisation, const Tensor& logits, std::size_t layer,
               std::size_t begin, std::size_t width, std::vector<Move>& to) {
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

/// The least certain moves of all active gates.
std::vector<Move> least_certain(const Learner& learner, std::int64_t count) {
  const std::vector<Tensor> parameters = learner.model().parameters();
  const std::vector<std::vector<bool>> active = learner.model().active_gates();
  std::vector<Move> all;
  for (std::size_t layer = 0; layer < active.size(); ++layer) {
    const auto width = static_cast<std::size_t>(parameters[layer].shape()[1]);
    for (std::size_t gate = 0; gate < active[layer].size(); ++gate) {
      if (!active[layer][gate]) continue;
      add_moves(learner.model().parametrisation(), parameters[layer], layer, gate * width, width,
                all);
    }
  }
  std::ranges::sort(all, {}, &Move::rank);
  if (all.size() > static_cast<std::size_t>(count)) all.resize(static_cast<std::size_t>(count));
  return all;
}

class LocalSearch {
 public:
  LocalSearch(Learner& learner, const LocalSearchOptions& options)
      : learner_(learner),
        options_(options),
        parameters_(learner.model().parameters()),
        evaluator_(learner.move_evaluator()) {}

  LocalSearchStats run() {
    stats_.before = stats_.after = evaluator_->errors();
    bool improved = true;
    while (improved && stats_.after > 0) {
      improved = try_all(least_certain(learner_, options_.candidates));
    }
    try_random_moves();
    return stats_;
  }

 private:
  /// Returns whether any of the moves was an improvement.
  bool try_all(const std::vector<Move>& candidates) {
    const double before = stats_.after;
    for (const Move& candidate : candidates) {
      if (stats_.after > 0) accept_if(candidate, [&](double loss) { return loss < stats_.after; });
    }
    return stats_.after < before;
  }

  void try_random_moves() {
    std::vector<Move> all;
    for (std::int64_t i = 0; i < options_.random_moves && stats_.after > 0; ++i) {
      // The set of active gates changes with the tables.
      if (i % refresh == 0) all = least_certain(learner_, std::numeric_limits<std::int64_t>::max());
      if (all.empty()) return;
      const std::size_t index = random_below({.seed = options_.seed,
                                              .stream = local_search_stream,
                                              .step = options_.step,
                                              .index = static_cast<std::uint64_t>(i)},
                                             all.size());
      accept_if(all[index], [&](double loss) { return loss <= stats_.after; });
    }
  }

  template <class Accepts>
  void accept_if(const Move& move, Accepts accepts) {
    apply(parameters_, move);
    const double loss = evaluator_->errors_with(move.layer, gate_of(move), table_of(move));
    ++stats_.tried;
    if (accepts(loss)) {
      evaluator_->accept();
      stats_.after = loss;
      ++stats_.accepted;
    } else {
      apply(parameters_, move);
    }
  }

  std::int64_t gate_of(const Move& move) const {
    return static_cast<std::int64_t>(move.first) / parameters_[move.layer].shape()[1];
  }

  /// The present hard table of the gate.
  std::uint64_t table_of(const Move& move) const {
    const std::int64_t gate = gate_of(move);
    const Tensor logits = slice(parameters_[move.layer].detach(), 0, gate, gate + 1);
    const Tensor entries = logic::hard_tables(learner_.model().parametrisation(), logits);
    std::uint64_t table = 0;
    for (std::size_t e = 0; e < entries.values<std::uint8_t>().size(); ++e) {
      table |= std::uint64_t{entries.values<std::uint8_t>()[e]} << e;
    }
    return table;
  }

  static constexpr std::int64_t refresh = 1000;  ///< random moves between two lists of moves

  Learner& learner_;
  LocalSearchOptions options_;
  std::vector<Tensor> parameters_;  ///< share the memory of the learner's
  std::unique_ptr<MoveEvaluator> evaluator_;
  LocalSearchStats stats_;
};

}  // namespace

void saturate_logits(Model& model) {
  constexpr double certain = 40;
  std::vector<Tensor> layers = model.parameters();
  layers.resize(model.masks().size());  // without the threshold offsets
  for (Tensor logits : layers) {
    const auto width = static_cast<std::size_t>(logits.shape()[1]);
    visit_dtype(logits.dtype(), [&](auto zero) {
      using T = decltype(zero);
      const std::span<T> values = logits.mutable_values<T>();
      if (model.parametrisation() != Parametrisation::softmax16) {
        const Tensor hard = logic::hard_tables(model.parametrisation(), logits);
        Tensor saturated(logits.shape(), logits.dtype());
        for (std::size_t i = 0; i < values.size(); ++i) {
          const bool is_on = hard.at(static_cast<std::int64_t>(i)) != 0;
          saturated.mutable_values<T>()[i] = convert<T>(is_on ? certain : -certain);
        }
        if (model.parametrisation() == Parametrisation::walsh) {
          saturated = logic::walsh_coefficients(saturated);
        }
        std::ranges::copy(saturated.values<T>(), values.begin());
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
  return LocalSearch(learner, options).run();
}

}  // namespace boolgrad::train
