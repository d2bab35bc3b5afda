#include "boolgrad/logic/wiring.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <utility>

#include "boolgrad/core/error.h"
#include "boolgrad/core/parallel.h"
#include "boolgrad/core/random.h"

namespace boolgrad {
namespace {

// Streams of random numbers within a layer.
constexpr std::uint32_t order_stream = 0x10000;
constexpr std::uint32_t local_stream = 0x20000;

// Of parallel loops over wires.
constexpr std::size_t groups_per_task = std::size_t{1} << 14;

void check_size(std::string_view where, const WiringSize& size) {
  if (size.inputs < 1 || size.gates < 1) {
    fail(where, "expected at least one input and one gate, received {} and {}", size.inputs,
         size.gates);
  }
  if (size.arity < 1 || size.arity > most_inputs_per_gate) {
    fail(where, "expected gates of 1 to {} inputs, received {}", most_inputs_per_gate, size.arity);
  }
  if (size.group_size < 1 || size.gates % size.group_size != 0) {
    fail(where, "expected a group size that divides {} gates, received {}", size.gates,
         size.group_size);
  }
}

/// Numbers 0..n-1 in random order, again and again, each time in another order.
template <class Card>
class Deck {
 public:
  Deck(std::int64_t size, std::uint64_t seed, std::uint32_t stream)
      : cards_(static_cast<std::size_t>(size)), next_(cards_.size()), seed_(seed), stream_(stream) {
    std::iota(cards_.begin(), cards_.end(), Card{0});
  }

  Card draw() {
    if (next_ == cards_.size()) shuffle();
    return cards_[next_++];
  }

  /// The next card that `refused` does not refuse; refused ones keep their turn.
  template <class Refused>
  Card draw_unless(Refused refused) {
    if (next_ == cards_.size()) shuffle();
    for (std::size_t i = next_; i < cards_.size(); ++i) {
      if (refused(cards_[i])) continue;
      std::swap(cards_[i], cards_[next_]);
      return cards_[next_++];
    }
    // Whatever is left was refused: put the drawn cards behind it and look there.
    for (std::size_t i = 0; i < next_; ++i) {
      const Card card = cards_[(i + round_) % next_];
      if (!refused(card)) return card;
    }
    return draw();
  }

 private:
  // Which card the i-th is swapped with does not depend on earlier swaps: a block of such numbers
  // is found in parallel, and then the cards are fetched ahead of their swaps.
  void shuffle() {
    constexpr std::size_t block = std::size_t{1} << 18;
    constexpr std::size_t grain = std::size_t{1} << 12;
    constexpr std::size_t ahead = 16;
    std::vector<Card> partners(std::min(block, cards_.size()));
    for (std::size_t last = cards_.size(); last > 1;) {
      const std::size_t count = std::min(partners.size(), last - 1);
      parallel_for(task_count(count, grain), [&](std::size_t task) {
        for (std::size_t k = task * grain; k < std::min(count, (task + 1) * grain); ++k) {
          partners[k] = static_cast<Card>(random_below({.seed = seed_,
                                                        .stream = stream_,
                                                        .step = static_cast<std::uint32_t>(round_),
                                                        .index = last - k},
                                                       last - k));
        }
      });
      for (std::size_t k = 0; k < count; ++k) {
        if (k + ahead < count) {
          __builtin_prefetch(&cards_[static_cast<std::size_t>(partners[k + ahead])], 1);
        }
        std::swap(cards_[last - k - 1], cards_[static_cast<std::size_t>(partners[k])]);
      }
      last -= count;
    }
    next_ = 0;
    ++round_;
  }

  std::vector<Card> cards_;
  std::size_t next_;
  std::size_t round_ = 0;
  std::uint64_t seed_;
  std::uint32_t stream_;
};

WiringPtr make_wiring(const WiringSize& size, const Tensor& wires) {
  return std::make_shared<const Wiring>(size.inputs, wires, size.group_size);
}

/// Pairs of two of `inputs` whose first is below `first`.
std::int64_t pairs_before(std::int64_t first, std::int64_t inputs) {
  return first * (2 * inputs - first - 1) / 2;
}

void check_fits_wires(std::string_view where, const WiringSize& size) {
  if (size.inputs > std::numeric_limits<std::int32_t>::max()) {
    fail(where, "expected fewer than 2^31 inputs, received {}", size.inputs);
  }
}

Tensor empty_wires(const WiringSize& size) {
  return {{size.arity, size.gates / size.group_size}, DType::int32};
}

}  // namespace

Wiring::Wiring(std::int64_t inputs, const Tensor& wires, std::int64_t group_size)
    : inputs_(inputs), group_size_(group_size), wires_(wires.detach()) {
  if (wires.dtype() != DType::int32 || wires.rank() != 2) {
    fail("wiring", "expected wires of int32 [arity, groups], received {} {}",
         to_string(wires.dtype()), to_string(wires.shape()));
  }
  const std::int64_t groups = wires.shape()[1];
  arity_ = static_cast<int>(std::min<std::int64_t>(wires.shape()[0], 1000));
  gates_ = groups * group_size;
  check_size("wiring", {inputs, gates_, arity_, group_size});
  if (gates_ * arity_ > std::numeric_limits<std::int32_t>::max()) {
    fail("wiring", "expected fewer than 2^31 wires, received {} gates of {}", gates_, arity_);
  }
  take_sources();
  list_consumers();
}

void Wiring::take_sources() {
  const std::span<const std::int32_t> wire = wires_.values<std::int32_t>();
  const auto groups = static_cast<std::size_t>(wires_.shape()[1]);
  const auto arity = static_cast<std::size_t>(arity_);
  const auto size = static_cast<std::size_t>(group_size_);
  sources_.resize(groups * size * arity);
  parallel_for(task_count(groups, groups_per_task), [&](std::size_t task) {
    const std::size_t first = task * groups_per_task;
    std::int32_t* to = sources_.data() + first * size * arity;
    for (std::size_t group = first; group < std::min(groups, first + groups_per_task); ++group) {
      for (std::size_t copy = 0; copy < size; ++copy) {
        for (std::size_t slot = 0; slot < arity; ++slot) *to++ = wire[slot * groups + group];
      }
    }
  });
  for (std::size_t i = 0; i < sources_.size(); ++i) {
    if (sources_[i] >= 0 && sources_[i] < inputs_) continue;
    fail("lut_layer", "expected wires below {} inputs, received {} at gate {}", inputs_,
         sources_[i], i / arity);
  }
}

// By counting: how often each input is read, where its consumers begin, and then everyone's place.
void Wiring::list_consumers() {
  first_consumer_.assign(static_cast<std::size_t>(inputs_) + 1, 0);
  for (const std::int32_t source : sources_) {
    ++first_consumer_[static_cast<std::size_t>(source) + 1];
  }
  std::partial_sum(first_consumer_.begin(), first_consumer_.end(), first_consumer_.begin());
  consumers_.resize(sources_.size());
  std::vector<std::uint32_t> next(first_consumer_.begin(), first_consumer_.end() - 1);
  const auto arity = static_cast<std::size_t>(arity_);
  const auto gates = static_cast<std::size_t>(gates_);
  for (std::size_t slot = 0; slot < arity; ++slot) {
    for (std::size_t gate = 0; gate < gates; ++gate) {
      consumers_[next[static_cast<std::size_t>(sources_[gate * arity + slot])]++] = {
          static_cast<std::int32_t>(gate), static_cast<std::int32_t>(slot)};
    }
  }
  if (arity_ != 2) return;
  partners_.resize(consumers_.size());
  parallel_for(task_count(partners_.size(), groups_per_task), [&](std::size_t task) {
    const std::size_t first = task * groups_per_task;
    for (std::size_t i = first; i < std::min(partners_.size(), first + groups_per_task); ++i) {
      partners_[i] = source(consumers_[i].gate, 1 - consumers_[i].slot);
    }
  });
}

WiringPtr random_wiring(const WiringSize& size, std::uint64_t seed, std::uint32_t layer) {
  check_size("random_wiring", size);
  check_fits_wires("random_wiring", size);
  Deck<std::int32_t> deck(size.inputs, seed, order_stream + layer);
  Tensor wires = empty_wires(size);
  const std::int64_t groups = size.gates / size.group_size;
  const std::span<std::int32_t> wire = wires.mutable_values<std::int32_t>();
  const bool distinct = size.inputs >= size.arity;
  for (std::int64_t group = 0; group < groups; ++group) {
    for (int slot = 0; slot < size.arity; ++slot) {
      const auto taken = [&](std::int32_t input) {
        for (int before = 0; before < slot; ++before) {
          if (wire[static_cast<std::size_t>(before * groups + group)] == input) return distinct;
        }
        return false;
      };
      wire[static_cast<std::size_t>(slot * groups + group)] = deck.draw_unless(taken);
    }
  }
  return make_wiring(size, wires);
}

WiringPtr unique_pairs(const WiringSize& size, std::uint64_t seed, std::uint32_t layer) {
  check_size("unique_pairs", size);
  if (size.arity != 2 || size.inputs < 2) {
    fail("unique_pairs", "expected gates of 2 inputs out of at least 2, received {} out of {}",
         size.arity, size.inputs);
  }
  // Pair p of a fixed list: first < second, row after row of the triangle.
  const std::int64_t pairs = size.inputs * (size.inputs - 1) / 2;
  Deck<std::int64_t> deck(pairs, seed, order_stream + layer);
  Tensor wires = empty_wires(size);
  const std::int64_t groups = size.gates / size.group_size;
  const std::span<std::int32_t> wire = wires.mutable_values<std::int32_t>();
  for (std::int64_t group = 0; group < groups; ++group) {
    const std::int64_t pair = deck.draw();
    std::int64_t first = 0;
    for (std::int64_t beyond = size.inputs - 1; beyond - first > 1;) {
      const std::int64_t middle = (first + beyond) / 2;
      (pairs_before(middle, size.inputs) <= pair ? first : beyond) = middle;
    }
    wire[static_cast<std::size_t>(group)] = static_cast<std::int32_t>(first);
    wire[static_cast<std::size_t>(groups + group)] =
        static_cast<std::int32_t>(first + 1 + pair - pairs_before(first, size.inputs));
  }
  return make_wiring(size, wires);
}

WiringPtr adjacent_pairs(const WiringSize& size, std::uint64_t seed, std::uint32_t layer) {
  check_size("adjacent_pairs", size);
  const std::int64_t groups = size.gates / size.group_size;
  if (size.arity != 2 || size.inputs < 2) {
    fail("adjacent_pairs", "expected gates of 2 inputs out of at least 2, received {} out of {}",
         size.arity, size.inputs);
  }
  std::vector<std::int32_t> first;
  for (std::int64_t i = 0; i + 1 < size.inputs; i += 2) first.push_back(static_cast<int>(i));
  for (std::int64_t i = 1; i + 1 < size.inputs; i += 2) first.push_back(static_cast<int>(i));
  std::vector<std::int32_t> second;
  for (const std::int32_t i : first) second.push_back(i + 1);
  for (std::int64_t apart = 2; std::ssize(first) < groups && apart < size.inputs; ++apart) {
    for (std::int64_t i = 0; i + apart < size.inputs; ++i) {
      first.push_back(static_cast<std::int32_t>(i));
      second.push_back(static_cast<std::int32_t>(i + apart));
    }
  }
  Deck<std::int64_t> deck(groups, seed, order_stream + layer);
  Tensor wires = empty_wires(size);
  const std::span<std::int32_t> wire = wires.mutable_values<std::int32_t>();
  for (std::int64_t group = 0; group < groups; ++group) {
    const std::size_t pair = static_cast<std::size_t>(deck.draw()) % first.size();
    wire[static_cast<std::size_t>(group)] = first[pair];
    wire[static_cast<std::size_t>(groups + group)] = second[pair];
  }
  return make_wiring(size, wires);
}

WiringPtr moore_wiring(std::int64_t group_size, std::uint64_t seed, std::uint32_t layer) {
  constexpr std::int64_t centre = 4;
  constexpr std::size_t neighbours = 8;
  Deck<std::int64_t> deck(neighbours, seed, order_stream + layer);
  std::vector<std::int32_t> wires(2 * neighbours, centre);
  for (std::size_t i = 0; i < neighbours; ++i) {
    const std::int64_t place = deck.draw();
    wires[i] = static_cast<std::int32_t>(place < centre ? place : place + 1);
  }
  return std::make_shared<const Wiring>(9, Tensor::of(wires, {2, neighbours}), group_size);
}

WiringPtr interleaved(const Wiring& one, std::int64_t count) {
  Tensor wires({one.arity(), one.gates() * count}, DType::int32);
  const std::span<std::int32_t> wire = wires.mutable_values<std::int32_t>();
  std::size_t at = 0;
  for (int slot = 0; slot < one.arity(); ++slot) {
    for (std::int64_t gate = 0; gate < one.gates(); ++gate) {
      for (std::int64_t copy = 0; copy < count; ++copy) {
        wire[at++] = static_cast<std::int32_t>(one.source(gate, slot) * count + copy);
      }
    }
  }
  return std::make_shared<const Wiring>(one.inputs() * count, wires);
}

WiringPtr local_wiring(const WiringSize& size, double noise, std::uint64_t seed,
                       std::uint32_t layer) {
  check_size("local_wiring", size);
  if (!(noise >= 0)) fail("local_wiring", "expected noise of 0 or more, received {}", noise);
  Tensor wires = empty_wires(size);
  const std::int64_t groups = size.gates / size.group_size;
  const std::span<std::int32_t> wire = wires.mutable_values<std::int32_t>();
  for (std::int64_t group = 0; group < groups; ++group) {
    const double home =
        static_cast<double>(group) * static_cast<double>(size.inputs) / static_cast<double>(groups);
    for (int slot = 0; slot < size.arity; ++slot) {
      const double off = noise * random_normal({.seed = seed,
                                                .stream = local_stream + layer,
                                                .step = static_cast<std::uint32_t>(slot),
                                                .index = static_cast<std::uint64_t>(group)});
      const double inputs = static_cast<double>(size.inputs);
      const double place = std::floor(std::fmod(home + slot + off, inputs));
      const double wrapped = place < 0 ? place + inputs : place;
      wire[static_cast<std::size_t>(slot * groups + group)] =
          static_cast<std::int32_t>(std::min(wrapped, inputs - 1));
    }
  }
  return make_wiring(size, wires);
}

}  // namespace boolgrad
