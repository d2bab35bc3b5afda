#include "boolgrad/logic/wiring.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <utility>

#include "boolgrad/core/error.h"
#include "boolgrad/core/random.h"

namespace boolgrad {
namespace {

// Streams of random numbers within a layer.
constexpr std::uint32_t order_stream = 0x10000;
constexpr std::uint32_t local_stream = 0x20000;

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
class Deck {
 public:
  Deck(std::int64_t size, std::uint64_t seed, std::uint32_t stream)
      : cards_(static_cast<std::size_t>(size)), next_(cards_.size()), seed_(seed), stream_(stream) {
    std::iota(cards_.begin(), cards_.end(), 0);
  }

  std::int64_t draw() {
    if (next_ == cards_.size()) shuffle();
    return cards_[next_++];
  }

  /// The next card that `refused` does not refuse; refused ones keep their turn.
  template <class Refused>
  std::int64_t draw_unless(Refused refused) {
    if (next_ == cards_.size()) shuffle();
    for (std::size_t i = next_; i < cards_.size(); ++i) {
      if (refused(cards_[i])) continue;
      std::swap(cards_[i], cards_[next_]);
      return cards_[next_++];
    }
    // Whatever is left was refused: put the drawn cards behind it and look there.
    for (std::size_t i = 0; i < next_; ++i) {
      const std::int64_t card = cards_[(i + round_) % next_];
      if (!refused(card)) return card;
    }
    return draw();
  }

 private:
  void shuffle() {
    for (std::size_t i = cards_.size(); i > 1; --i) {
      const std::uint64_t j = random_below({.seed = seed_,
                                            .stream = stream_,
                                            .step = static_cast<std::uint32_t>(round_),
                                            .index = i},
                                           i);
      std::swap(cards_[i - 1], cards_[j]);
    }
    next_ = 0;
    ++round_;
  }

  std::vector<std::int64_t> cards_;
  std::size_t next_;
  std::size_t round_ = 0;
  std::uint64_t seed_;
  std::uint32_t stream_;
};

WiringPtr make_wiring(const WiringSize& size, const Tensor& wires) {
  return std::make_shared<const Wiring>(size.inputs, wires, size.group_size);
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
  const std::span<const std::int32_t> wire = wires.values<std::int32_t>();
  sources_.reserve(static_cast<std::size_t>(gates_ * arity_));
  for (std::int64_t gate = 0; gate < gates_; ++gate) {
    for (std::int64_t slot = 0; slot < arity_; ++slot) {
      const std::int32_t source = wire[static_cast<std::size_t>(slot * groups + gate / group_size)];
      if (source < 0 || source >= inputs) {
        fail("lut_layer", "expected wires below {} inputs, received {} at gate {}", inputs, source,
             gate);
      }
      sources_.push_back(source);
    }
  }
  list_consumers();
}

void Wiring::list_consumers() {
  first_consumer_.assign(static_cast<std::size_t>(inputs_) + 1, 0);
  for (const std::int32_t source : sources_)
    ++first_consumer_[static_cast<std::size_t>(source) + 1];
  std::partial_sum(first_consumer_.begin(), first_consumer_.end(), first_consumer_.begin());
  consumers_.resize(sources_.size());
  std::vector<std::size_t> next(first_consumer_.begin(), first_consumer_.end() - 1);
  for (int slot = 0; slot < arity_; ++slot) {
    for (std::int64_t gate = 0; gate < gates_; ++gate) {
      consumers_[next[static_cast<std::size_t>(source(gate, slot))]++] = {
          static_cast<std::int32_t>(gate), slot};
    }
  }
  if (arity_ != 2) return;
  for (const Consumer& consumer : consumers_) {
    partners_.push_back(source(consumer.gate, 1 - consumer.slot));
  }
}

WiringPtr random_wiring(const WiringSize& size, std::uint64_t seed, std::uint32_t layer) {
  check_size("random_wiring", size);
  Deck deck(size.inputs, seed, order_stream + layer);
  Tensor wires = empty_wires(size);
  const std::int64_t groups = size.gates / size.group_size;
  const std::span<std::int32_t> wire = wires.mutable_values<std::int32_t>();
  const bool distinct = size.inputs >= size.arity;
  for (std::int64_t group = 0; group < groups; ++group) {
    for (int slot = 0; slot < size.arity; ++slot) {
      const auto taken = [&](std::int64_t input) {
        for (int before = 0; before < slot; ++before) {
          if (wire[static_cast<std::size_t>(before * groups + group)] == input) return distinct;
        }
        return false;
      };
      wire[static_cast<std::size_t>(slot * groups + group)] =
          static_cast<std::int32_t>(deck.draw_unless(taken));
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
  Deck deck(pairs, seed, order_stream + layer);
  Tensor wires = empty_wires(size);
  const std::int64_t groups = size.gates / size.group_size;
  const std::span<std::int32_t> wire = wires.mutable_values<std::int32_t>();
  for (std::int64_t group = 0; group < groups; ++group) {
    std::int64_t place = deck.draw();
    std::int64_t first = 0;
    for (std::int64_t row = size.inputs - 1; place >= row; --row) {
      place -= row;
      ++first;
    }
    wire[static_cast<std::size_t>(group)] = static_cast<std::int32_t>(first);
    wire[static_cast<std::size_t>(groups + group)] = static_cast<std::int32_t>(first + 1 + place);
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
  Deck deck(groups, seed, order_stream + layer);
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
  Deck deck(neighbours, seed, order_stream + layer);
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
