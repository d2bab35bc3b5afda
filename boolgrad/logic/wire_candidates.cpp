#include "boolgrad/logic/wire_candidates.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <numeric>
#include <set>
#include <utility>

#include "boolgrad/autograd/tape.h"
#include "boolgrad/backend/cpu/network/selection.h"
#include "boolgrad/backend/plan/lut_wires.h"
#include "boolgrad/core/fail.h"
#include "boolgrad/core/parallel.h"
#include "boolgrad/core/random.h"
#include "boolgrad/core/random_streams.h"
#include "boolgrad/ops/activation.h"
#include "boolgrad/ops/arithmetic.h"
#include "boolgrad/ops/checks.h"
#include "boolgrad/ops/shaping.h"

namespace boolgrad::logic {
namespace {

// Streams of random numbers within a layer, after those of wirings and initial values.
constexpr std::uint32_t candidate_stream = 0x50000;
constexpr std::uint32_t window_stream = 0x60000;
constexpr std::uint32_t logit_stream = 0x70000;

constexpr std::size_t slots_per_task = 64;

std::size_t index(std::int64_t i) { return static_cast<std::size_t>(i); }

template <class F>
void for_slots(std::int64_t slots, const F& f) {
  parallel_for(task_count(index(slots), slots_per_task), [&](std::size_t task) {
    const std::size_t end = std::min(index(slots), (task + 1) * slots_per_task);
    for (std::size_t slot = task * slots_per_task; slot < end; ++slot) f(slot);
  });
}

void check_size(const WiringSize& size, std::int64_t count) {
  if (size.inputs < 1 || size.gates < 1 || size.arity < 1 || size.arity > max_gate_inputs) {
    fail("candidates", "expected inputs, gates and 1 to {} inputs per gate, received {}, {} and {}",
         max_gate_inputs, size.inputs, size.gates, size.arity);
  }
  if (size.group_size != 1) {
    fail("candidates", "expected gates with wires of their own, received groups of {}",
         size.group_size);
  }
  if (count < 2 || count > size.inputs) {
    fail("candidates", "expected from 2 to {} candidates, one per source at most, received {}",
         size.inputs, count);
  }
  if (size.gates * size.arity > std::numeric_limits<std::int32_t>::max() / count) {
    fail("candidates",
         "expected fewer than 2^31 candidates, received {} for each of {} gate inputs", count,
         size.gates * size.arity);
  }
}

/// Fills `to` with different numbers below `bound`, from random numbers at `at` and after it.
void sample_different(RandomAddress at, std::int64_t bound, std::span<std::int32_t> to) {
  if (2 * std::ssize(to) < bound) {
    for (std::size_t i = 0; i < to.size();) {
      const auto number =
          static_cast<std::int32_t>(random_below(at, static_cast<std::uint64_t>(bound)));
      ++at.index;
      const auto known = to.first(i);
      if (std::ranges::find(known, number) == known.end()) to[i++] = number;
    }
    return;
  }
  std::vector<std::int32_t> all(index(bound));
  std::iota(all.begin(), all.end(), 0);
  for (std::size_t i = 0; i < to.size(); ++i) {
    const std::uint64_t other = random_below(at, all.size() - i);
    ++at.index;
    std::swap(all[i], all[i + other]);
    to[i] = all[i];
  }
}

/// Every slot has 2^24 random numbers of its own.
RandomAddress address_of_slot(std::uint64_t seed, std::uint32_t stream, std::uint32_t step,
                              std::size_t slot) {
  return {.seed = seed, .stream = stream, .step = step, .index = std::uint64_t{slot} << 24};
}

void check_selection(const Tensor& x, const Tensor& logits, const WireCandidates& candidates,
                     double temperature) {
  const DType dtype = common_floating_dtype("select_wires", {x, logits});
  if (dtype == DType::float16 || x.rank() != 2 || x.shape()[0] != candidates.inputs()) {
    fail("select_wires", "expected float32 or float64 inputs [{}, samples], received {} {}",
         candidates.inputs(), to_string(dtype), boolgrad::to_string(x.shape()));
  }
  if (logits.shape() != candidates.shape()) {
    fail("select_wires", "expected logits of shape {}, received {}",
         boolgrad::to_string(candidates.shape()), boolgrad::to_string(logits.shape()));
  }
  if (!(temperature > 0)) {
    fail("select_wires", "expected a temperature above 0, received {}", temperature);
  }
}

/// Softmax of the logits of every slot: [slots, count].
Tensor probabilities_of(const Tensor& logits, const WireCandidates& candidates,
                        double temperature) {
  const NoGrad off_the_tape;
  const Tensor rows = logits.detach().viewed_as({candidates.slots(), candidates.count()});
  return softmax(temperature == 1 ? rows : scale(rows, 1 / temperature));
}

/// gz = p (gw - sum p gw) / temperature, in place of gw.
template <class T>
void softmax_gradients(const Tensor& p, double temperature, Tensor& gw) {
  const auto count = index(p.shape()[1]);
  const std::span<const T> probabilities = p.values<T>();
  const std::span<T> gradients = gw.mutable_values<T>();
  const T factor = static_cast<T>(1 / temperature);
  for_slots(p.shape()[0], [&](std::size_t slot) {
    const auto own = probabilities.subspan(slot * count, count);
    const auto g = gradients.subspan(slot * count, count);
    T mean = 0;
    for (std::size_t k = 0; k < count; ++k) mean += own[k] * g[k];
    for (std::size_t k = 0; k < count; ++k) g[k] = own[k] * (g[k] - mean) * factor;
  });
}

}  // namespace

WireCandidates::WireCandidates(std::int64_t inputs, const Tensor& sources,
                               const CandidateSharing& sharing)
    : inputs_(inputs), gates_(0), arity_(0), count_(0), sharing_(sharing), sources_(sources) {
  const bool has_shape = sources.rank() == 3 && sources.shape()[0] > 0 && sources.shape()[1] > 0 &&
                         sources.shape()[1] <= max_gate_inputs && sources.shape()[2] > 1;
  if (sources.dtype() != DType::int32 || !has_shape) {
    fail("candidates", "expected int32 [gates, arity, count] with a count above 1, received {} {}",
         to_string(sources.dtype()), boolgrad::to_string(sources.shape()));
  }
  gates_ = sources.shape()[0];
  arity_ = static_cast<int>(sources.shape()[1]);
  count_ = sources.shape()[2];
  if (sharing.positions < 1 || gates_ % sharing.positions != 0) {
    fail("candidates", "expected a number of positions that divides {} gates, received {}", gates_,
         sharing.positions);
  }
  for (const std::int32_t source : sources.values<std::int32_t>()) {
    if (source < 0 || source >= rows()) {
      fail("candidates", "expected sources below {}, received {}", inputs, source);
    }
  }
  if (sources.size() > std::numeric_limits<std::int32_t>::max()) {
    fail("candidates", "expected fewer than 2^31 candidates, received {}", sources.size());
  }
  list_uses();
  check_different();
  slot_wiring_ = boolgrad::logic::slot_wiring(gates_, arity_, sharing_.positions);
}

WireCandidates::WireCandidates(std::int64_t inputs, std::int64_t gates, int arity)
    : inputs_(inputs),
      gates_(gates),
      arity_(arity),
      count_(inputs),
      slot_wiring_(boolgrad::logic::slot_wiring(gates, arity)) {}

WireCandidates::~WireCandidates() = default;

void WireCandidates::list_uses() {
  const std::span<const std::int32_t> sources = sources_.values<std::int32_t>();
  first_use_.assign(index(rows()) + 1, 0);
  for (const std::int32_t source : sources) ++first_use_[index(source) + 1];
  std::partial_sum(first_use_.begin(), first_use_.end(), first_use_.begin());
  uses_.resize(sources.size());
  std::vector<std::int32_t> next(first_use_.begin(), first_use_.end() - 1);
  for (std::size_t i = 0; i < sources.size(); ++i) {
    uses_[index(next[index(sources[i])]++)] = static_cast<std::int32_t>(i);
  }
}

/// The uses of an input are in ascending order, so that two uses by one slot are neighbours.
void WireCandidates::check_different() const {
  for (std::size_t input = 0; input < index(inputs_); ++input) {
    for (std::int32_t i = first_use_[input] + 1; i < first_use_[input + 1]; ++i) {
      if (uses_[index(i)] / count_ != uses_[index(i - 1)] / count_) continue;
      fail("candidates", "expected different candidates, received source {} twice at gate {}",
           input, uses_[index(i)] / count_ / arity_);
    }
  }
}

std::int32_t WireCandidates::source(std::int64_t slot, std::int64_t k) const {
  return has_all() ? static_cast<std::int32_t>(k)
                   : sources_.values<std::int32_t>()[index(slot * count_ + k)];
}

CandidateWires WireCandidates::view() const {
  return {.inputs = rows(),
          .slots = slots(),
          .count = count_,
          .positions = sharing_.positions,
          .has_outside = sharing_.has_outside,
          .sources = has_all() ? std::span<const std::int32_t>() : sources_.values<std::int32_t>(),
          .first_use = first_use_,
          .uses = uses_};
}

CandidatesPtr random_candidates(const WiringSize& size, std::int64_t count, std::uint64_t seed,
                                std::uint32_t layer) {
  check_size(size, count);
  if (count == size.inputs) {
    return std::make_shared<const WireCandidates>(size.inputs, size.gates, size.arity);
  }
  Tensor sources({size.gates, size.arity, count}, DType::int32);
  const std::span<std::int32_t> values = sources.mutable_values<std::int32_t>();
  for_slots(size.gates * size.arity, [&](std::size_t slot) {
    sample_different(address_of_slot(seed, candidate_stream + layer, 0, slot), size.inputs,
                     values.subspan(slot * index(count), index(count)));
  });
  return std::make_shared<const WireCandidates>(size.inputs, sources);
}

namespace {

void check_window(const WiringSize& size, std::span<const ImagePosition> positions,
                  std::int64_t window) {
  if (std::ssize(positions) != size.inputs || window < 1) {
    fail("window", "expected one position per input ({}) and a window, received {} and {}",
         size.inputs, positions.size(), window);
  }
}

/// The inputs in a window around a random input, at least `count`.
std::vector<std::int32_t> inputs_in_window(std::span<const ImagePosition> positions,
                                           std::int64_t window, std::int64_t count,
                                           const RandomAddress& at) {
  const ImagePosition centre = positions[random_below(at, positions.size())];
  std::vector<std::int32_t> inside;
  for (std::int64_t side = window; std::ssize(inside) < count; side += 2) {
    inside.clear();
    for (std::size_t i = 0; i < positions.size(); ++i) {
      const std::int64_t away =
          std::max(std::abs(positions[i].x - centre.x), std::abs(positions[i].y - centre.y));
      if (2 * away <= side) inside.push_back(static_cast<std::int32_t>(i));
    }
  }
  return inside;
}

/// `to` = different random elements of `from`.
void sample_from(std::span<const std::int32_t> from, const RandomAddress& at,
                 std::span<std::int32_t> to) {
  sample_different(at, std::ssize(from), to);
  for (std::int32_t& element : to) element = from[index(element)];
}

}  // namespace

CandidatesPtr window_candidates(const WiringSize& size, std::int64_t count,
                                std::span<const ImagePosition> positions, std::int64_t window,
                                std::uint64_t seed, std::uint32_t layer) {
  check_size(size, count);
  check_window(size, positions, window);
  Tensor sources({size.gates, size.arity, count}, DType::int32);
  const std::span<std::int32_t> values = sources.mutable_values<std::int32_t>();
  for_slots(size.gates, [&](std::size_t gate) {
    const std::vector<std::int32_t> inside = inputs_in_window(
        positions, window, count, address_of_slot(seed, window_stream + layer, 0, gate));
    for (std::size_t slot = gate * index(size.arity); slot < (gate + 1) * index(size.arity);
         ++slot) {
      sample_from(inside, address_of_slot(seed, candidate_stream + layer, 0, slot),
                  values.subspan(slot * index(count), index(count)));
    }
  });
  return std::make_shared<const WireCandidates>(size.inputs, sources);
}

WiringPtr window_wiring(const WiringSize& size, std::span<const ImagePosition> positions,
                        std::int64_t window, std::uint64_t seed, std::uint32_t layer) {
  check_window(size, positions, window);
  if (size.inputs < size.arity || size.arity < 1 || size.arity > max_gate_inputs) {
    fail("window",
         "expected gates of 1 to {} inputs out of at least as many, received {} out of {}",
         max_gate_inputs, size.arity, size.inputs);
  }
  const std::int64_t groups = size.gates / size.group_size;
  Tensor wires({size.arity, groups}, DType::int32);
  const std::span<std::int32_t> values = wires.mutable_values<std::int32_t>();
  for_slots(groups, [&](std::size_t group) {
    const std::vector<std::int32_t> inside = inputs_in_window(
        positions, window, size.arity, address_of_slot(seed, window_stream + layer, 0, group));
    std::vector<std::int32_t> own(index(size.arity));
    sample_from(inside, address_of_slot(seed, candidate_stream + layer, 0, group), own);
    for (std::size_t j = 0; j < own.size(); ++j) values[j * index(groups) + group] = own[j];
  });
  return std::make_shared<const Wiring>(size.inputs, wires, size.group_size);
}

Tensor initial_wire_logits(const WireCandidates& candidates, DType dtype, double strength,
                           std::uint64_t seed, std::uint32_t layer) {
  Tensor logits(candidates.shape(), dtype);
  visit_dtype(dtype, [&](auto zero) {
    using T = decltype(zero);
    const std::span<T> values = logits.mutable_values<T>();
    const std::size_t count = index(candidates.count());
    for_slots(candidates.logit_slots(), [&](std::size_t slot) {
      for (std::size_t i = slot * count; i < (slot + 1) * count; ++i) {
        values[i] = convert<T>(
            strength * random_normal({.seed = seed, .stream = logit_stream + layer, .index = i}));
      }
    });
  });
  return logits;
}

std::vector<std::int32_t> best_candidates(const WireCandidates& candidates, const Tensor& logits) {
  if (logits.shape() != candidates.shape()) {
    fail("candidates", "expected logits of shape {}, received {}",
         boolgrad::to_string(candidates.shape()), boolgrad::to_string(logits.shape()));
  }
  std::vector<std::int32_t> best(index(candidates.logit_slots()));
  visit_dtype(logits.dtype(), [&](auto zero) {
    using T = decltype(zero);
    const std::span<const T> values = logits.values<T>();
    const std::size_t count = index(candidates.count());
    for_slots(candidates.logit_slots(), [&](std::size_t slot) {
      const auto own = values.subspan(slot * count, count);
      std::size_t at = 0;
      for (std::size_t k = 1; k < count; ++k) {
        if (convert<double>(own[k]) > convert<double>(own[at])) at = k;
      }
      best[slot] = static_cast<std::int32_t>(at);
    });
  });
  return best;
}

std::vector<std::int32_t> best_sources(const WireCandidates& candidates, const Tensor& logits) {
  const std::vector<std::int32_t> best = best_candidates(candidates, logits);
  const std::size_t arity = index(candidates.arity());
  const std::size_t positions = index(candidates.sharing().positions);
  std::vector<std::int32_t> sources(index(candidates.slots()));
  for (std::size_t slot = 0; slot < sources.size(); ++slot) {
    const std::size_t of_logits = slot / arity / positions * arity + slot % arity;
    sources[slot] = candidates.source(static_cast<std::int64_t>(slot), best[of_logits]);
  }
  return sources;
}

WiringPtr best_wiring(const WireCandidates& candidates, const Tensor& logits) {
  const std::vector<std::int32_t> sources = best_sources(candidates, logits);
  const std::size_t gates = index(candidates.gates());
  const std::size_t arity = index(candidates.arity());
  Tensor wires({candidates.arity(), candidates.gates()}, DType::int32);
  const std::span<std::int32_t> to = wires.mutable_values<std::int32_t>();
  TableSharing sharing{.positions = candidates.sharing().positions};
  if (candidates.sharing().has_outside) {
    sharing.outside = Tensor::zeros({candidates.gates()}, DType::uint8);
  }
  for (std::size_t gate = 0; gate < gates; ++gate) {
    for (std::size_t j = 0; j < arity; ++j) {
      const std::int32_t source = sources[gate * arity + j];
      const bool is_outside = source == candidates.inputs();
      to[j * gates + gate] = is_outside ? 0 : source;
      if (is_outside) {
        sharing.outside.mutable_values<std::uint8_t>()[gate] |= static_cast<std::uint8_t>(1 << j);
      }
    }
  }
  return std::make_shared<const Wiring>(candidates.inputs(), wires, 1, std::move(sharing));
}

namespace {

/// A row of zeros below x, for places outside of an image.
Tensor with_row_outside(const Tensor& x, const WireCandidates& candidates) {
  if (!candidates.sharing().has_outside) return x;
  const std::array<Tensor, 2> both = {x, Tensor::zeros({1, x.shape()[1]}, x.dtype())};
  return concatenate(both);
}

/// The logits of every gate, from those that gates share: [gates, arity, count].
Tensor expanded_logits(const Tensor& logits, const WireCandidates& candidates) {
  const std::int64_t positions = candidates.sharing().positions;
  if (positions == 1) return logits;
  const Tensor copies = Tensor::ones({1, positions, 1, 1}, logits.dtype());
  const std::int64_t tables = logits.shape()[0];
  const Tensor each = reshape(logits, {tables, 1, candidates.arity(), candidates.count()});
  return reshape(multiply(each, copies),
                 {candidates.gates(), candidates.arity(), candidates.count()});
}

/// `select_wires` with logits [gates, arity, count].
Tensor select_from_rows(const Tensor& x, const Tensor& logits, const CandidatesPtr& candidates,
                        std::vector<std::int32_t> sources, double temperature);

}  // namespace

Tensor select_wires(const Tensor& x, const Tensor& logits, const CandidatesPtr& candidates,
                    WireForward forward, double temperature) {
  check_selection(x, logits, *candidates, temperature);
  std::vector<std::int32_t> sources;
  if (forward == WireForward::hard) sources = best_sources(*candidates, logits);
  return select_from_rows(with_row_outside(x, *candidates), expanded_logits(logits, *candidates),
                          candidates, std::move(sources), temperature);
}

namespace {

Tensor select_from_rows(const Tensor& x, const Tensor& logits, const CandidatesPtr& candidates,
                        std::vector<std::int32_t> sources, double temperature) {
  const Tensor p = probabilities_of(logits, *candidates, temperature);
  const bool is_hard = !sources.empty();
  Tensor slots({candidates->slots(), x.shape()[1]}, x.dtype());
  if (is_hard) cpu::gather_rows(sources, x, slots);
  else cpu::mix_candidates(candidates->view(), p, x, slots);
  return record("select_wires", {x, logits}, slots, {x, p},
                [=, sources = std::move(sources)](const VjpContext& c) {
                  const CandidateWires wires = candidates->view();
                  std::vector<Tensor> gradients(2);
                  if (c.needs[0]) {
                    gradients[0] = Tensor(c.residual(0).shape(), c.gradient().dtype());
                    if (is_hard) cpu::add_rows(sources, c.gradient(), gradients[0]);
                    else
                      cpu::mixed_input_gradients(wires, c.residual(1), c.gradient(), gradients[0]);
                  }
                  if (c.needs[1]) {
                    Tensor g(c.residual(1).shape(), c.gradient().dtype());
                    cpu::candidate_gradients(wires, c.residual(0), c.gradient(), g);
                    if (g.dtype() == DType::float32) {
                      softmax_gradients<float>(c.residual(1), temperature, g);
                    } else {
                      softmax_gradients<double>(c.residual(1), temperature, g);
                    }
                    gradients[1] = g.viewed_as(
                        {candidates->gates(), candidates->arity(), candidates->count()});
                  }
                  return gradients;
                });
}

}  // namespace

Tensor select_wires_reference(const Tensor& x, const Tensor& logits,
                              const WireCandidates& candidates, double temperature) {
  check_selection(x, logits, candidates, temperature);
  const Tensor rows = with_row_outside(x, candidates);
  const Tensor p = softmax(
      scale(reshape(expanded_logits(logits, candidates), {candidates.slots(), candidates.count()}),
            1 / temperature));
  std::vector<Tensor> slots;
  for (std::int64_t slot = 0; slot < candidates.slots(); ++slot) {
    Tensor sum;
    for (std::int64_t k = 0; k < candidates.count(); ++k) {
      const std::int64_t source = candidates.source(slot, k);
      const Tensor weight = slice(slice(p, 0, slot, slot + 1), 1, k, k + 1);
      const Tensor term = multiply(weight, slice(rows, 0, source, source + 1));
      sum = sum.defined() ? add(sum, term) : term;
    }
    slots.push_back(reshape(sum, {x.shape()[1]}));
  }
  return stack(slots);
}

// ------------------------------------------------------------------ redrawing

namespace {

/// The candidates of one slot, while they are replaced.
template <class T>
struct SlotCandidates {
  std::span<std::int32_t> sources;
  std::span<T> logits;
  std::span<std::uint8_t> is_new;
};

/// The most probable candidate and its probability.
template <class T>
std::pair<std::size_t, double> most_probable(std::span<const T> logits, double temperature) {
  const auto best = static_cast<std::size_t>(std::ranges::max_element(logits) - logits.begin());
  double sum = 0;
  for (const T logit : logits) {
    sum += std::exp(static_cast<double>(logit - logits[best]) / temperature);
  }
  return {best, 1 / sum};
}

/// Replaces all candidates but `kept` by different random inputs. None is kept if `kept` is the
/// number of candidates.
template <class T>
void replace_sources(const SlotCandidates<T>& slot, std::size_t kept, std::int64_t inputs,
                     RandomAddress& at) {
  std::vector<std::int32_t> excluded;
  if (kept < slot.sources.size()) excluded.push_back(slot.sources[kept]);
  for (std::size_t k = 0; k < slot.sources.size(); ++k) {
    if (k == kept) continue;
    std::int32_t source = 0;
    do {
      source = static_cast<std::int32_t>(random_below(at, static_cast<std::uint64_t>(inputs)));
      ++at.index;
    } while (std::ranges::find(excluded, source) != excluded.end());
    excluded.push_back(source);
    slot.sources[k] = source;
    slot.is_new[k] = 1;
  }
}

template <class T>
void redraw_slot(const SlotCandidates<T>& slot, const RedrawOptions& options, std::int64_t inputs,
                 RandomAddress at) {
  const auto [best, p] = most_probable(std::span<const T>(slot.logits), options.temperature);
  const std::size_t count = slot.logits.size();
  if (p >= options.keep_above) {
    replace_sources(slot, best, inputs, at);
    // The others share 1 - keep_above.
    const double below =
        options.temperature *
        std::log(static_cast<double>(count - 1) * options.keep_above / (1 - options.keep_above));
    for (std::size_t k = 0; k < count; ++k) {
      if (k != best) slot.logits[k] = static_cast<T>(slot.logits[best] - below);
    }
  } else if (p < options.redraw_below) {
    replace_sources(slot, count, inputs, at);
    for (T& logit : slot.logits) {
      logit = static_cast<T>(options.strength * random_normal(at));
      ++at.index;
    }
  }
}

/// Replaces the `replaced` least probable candidates by the sources with the most negative
/// gradients among those that the slot does not keep.
template <class T>
void regrow_slot(const SlotCandidates<T>& slot, std::size_t replaced,
                 std::span<const T> gradients) {
  const std::size_t count = slot.sources.size();
  std::vector<std::size_t> order(count);
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::ranges::stable_sort(
      order, [&](std::size_t a, std::size_t b) { return slot.logits[a] > slot.logits[b]; });
  const std::size_t kept = count - replaced;
  std::vector<bool> is_kept(gradients.size());
  for (std::size_t i = 0; i < kept; ++i) is_kept[index(slot.sources[order[i]])] = true;
  std::vector<std::int32_t> best;
  for (std::size_t input = 0; input < gradients.size(); ++input) {
    if (!is_kept[input]) best.push_back(static_cast<std::int32_t>(input));
  }
  std::ranges::partial_sort(best, best.begin() + static_cast<std::ptrdiff_t>(replaced),
                            [&](std::int32_t a, std::int32_t b) {
                              const T left = gradients[index(a)];
                              const T right = gradients[index(b)];
                              return left != right ? left < right : a < b;
                            });
  // A candidate that is proposed again keeps its logit and its moments.
  const std::set<std::int32_t> proposed(best.begin(),
                                        best.begin() + static_cast<std::ptrdiff_t>(replaced));
  std::set<std::int32_t> missing = proposed;
  for (std::size_t i = kept; i < count; ++i) missing.erase(slot.sources[order[i]]);
  const T logit = slot.logits[order[kept - 1]];
  auto next = missing.begin();
  for (std::size_t i = kept; i < count; ++i) {
    const std::size_t k = order[i];
    if (proposed.contains(slot.sources[k])) continue;
    slot.sources[k] = *next++;
    slot.logits[k] = logit;
    slot.is_new[k] = 1;
  }
}

}  // namespace

RedrawnCandidates regrow_candidates(const CandidatesPtr& candidates, const Tensor& logits,
                                    const Tensor& inputs, const Tensor& slot_gradients,
                                    double share) {
  RedrawnCandidates result{candidates, logits.detach().clone(),
                           Tensor::zeros(candidates->shape(), DType::uint8)};
  const std::size_t count = index(candidates->count());
  const auto replaced =
      std::min({count - 1, index(candidates->inputs()) - count,
                static_cast<std::size_t>(std::lround(share * static_cast<double>(count)))});
  const bool shares_logits = candidates->sharing().positions > 1;
  if (candidates->has_all() || shares_logits || replaced == 0) return result;
  Tensor sources = candidates->sources().clone();
  constexpr std::int64_t block = 1024;  // slots whose gradients are in memory at a time
  visit_dtype(logits.dtype(), [&](auto zero) {
    using T = decltype(zero);
    if constexpr (std::is_floating_point_v<T>) {
      for (std::int64_t begin = 0; begin < candidates->slots(); begin += block) {
        const std::int64_t end = std::min(begin + block, candidates->slots());
        const Tensor part = slice(slot_gradients, 0, begin, end);
        Tensor gradients({end - begin, candidates->inputs()}, logits.dtype());
        cpu::candidate_gradients(
            {.inputs = candidates->inputs(), .slots = end - begin, .count = candidates->inputs()},
            inputs, part, gradients);
        const auto inputs_per_slot = index(candidates->inputs());
        for_slots(end - begin, [&](std::size_t i) {
          const std::size_t first = (index(begin) + i) * count;
          regrow_slot<T>({sources.mutable_values<std::int32_t>().subspan(first, count),
                          result.logits.mutable_values<T>().subspan(first, count),
                          result.is_new.mutable_values<std::uint8_t>().subspan(first, count)},
                         replaced,
                         gradients.values<T>().subspan(i * inputs_per_slot, inputs_per_slot));
        });
      }
    }
  });
  result.candidates = std::make_shared<const WireCandidates>(candidates->inputs(), sources);
  return result;
}

void clear_where(const Tensor& where, Tensor& tensor) {
  visit_dtype(tensor.dtype(), [&](auto zero) {
    using T = decltype(zero);
    const std::span<T> values = tensor.mutable_values<T>();
    const std::span<const std::uint8_t> cleared = where.values<std::uint8_t>();
    for (std::size_t i = 0; i < values.size(); ++i) {
      if (cleared[i] != 0) values[i] = T{};
    }
  });
}

RedrawnCandidates redraw_candidates(const CandidatesPtr& candidates, const Tensor& logits,
                                    const RedrawOptions& options, std::uint64_t seed,
                                    std::uint32_t layer, std::uint32_t step) {
  RedrawnCandidates result{candidates, logits.detach().clone(),
                           Tensor::zeros(candidates->shape(), DType::uint8)};
  if (candidates->has_all() || candidates->sharing().positions > 1) return result;
  Tensor sources = candidates->sources().clone();
  const std::size_t count = index(candidates->count());
  visit_dtype(logits.dtype(), [&](auto zero) {
    using T = decltype(zero);
    if constexpr (std::is_floating_point_v<T>) {
      for_slots(candidates->slots(), [&](std::size_t slot) {
        const std::size_t first = slot * count;
        redraw_slot<T>({sources.mutable_values<std::int32_t>().subspan(first, count),
                        result.logits.mutable_values<T>().subspan(first, count),
                        result.is_new.mutable_values<std::uint8_t>().subspan(first, count)},
                       options, candidates->inputs(),
                       address_of_slot(seed, redraw_stream + layer, step, slot));
      });
    }
  });
  result.candidates = std::make_shared<const WireCandidates>(candidates->inputs(), sources);
  return result;
}

}  // namespace boolgrad::logic
