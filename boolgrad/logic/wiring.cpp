#include "boolgrad/logic/wiring.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>
#include <numeric>
#include <utility>

#include "boolgrad/backend/plan/lut_wires.h"
#include "boolgrad/core/fail.h"
#include "boolgrad/core/parallel.h"
#include "boolgrad/core/random.h"

namespace boolgrad::logic {
namespace {

// Streams of random numbers within a layer.
constexpr std::uint32_t order_stream = 0x10000;
constexpr std::uint32_t local_stream = 0x20000;

// Grain of parallel loops over wires.
constexpr std::size_t groups_per_task = std::size_t{1} << 14;

void check_size(std::string_view where, const WiringSize& size) {
  if (size.inputs < 1 || size.gates < 1) {
    fail(where, "expected at least one input and one gate, received {} and {}", size.inputs,
         size.gates);
  }
  if (size.arity < 1 || size.arity > max_gate_inputs) {
    fail(where, "expected gates of 1 to {} inputs, received {}", max_gate_inputs, size.arity);
  }
  if (size.group_size < 1 || size.gates % size.group_size != 0) {
    fail(where, "expected a group size that divides {} gates, received {}", size.gates,
         size.group_size);
  }
}

/// An endless sequence of random permutations of 0..n-1.
template <class Integer>
class ShuffledSequence {
 public:
  ShuffledSequence(std::int64_t size, std::uint64_t seed, std::uint32_t stream)
      : numbers_(static_cast<std::size_t>(size)),
        position_(numbers_.size()),
        seed_(seed),
        stream_(stream) {
    std::iota(numbers_.begin(), numbers_.end(), Integer{0});
  }

  Integer next() {
    if (position_ == numbers_.size()) shuffle();
    return numbers_[position_++];
  }

  /// The next number that is not `excluded`. Skipped numbers stay at the front.
  template <class Excluded>
  Integer next_unless(Excluded excluded) {
    if (position_ == numbers_.size()) shuffle();
    for (std::size_t i = position_; i < numbers_.size(); ++i) {
      if (excluded(numbers_[i])) continue;
      std::swap(numbers_[i], numbers_[position_]);
      return numbers_[position_++];
    }
    // All remaining numbers are excluded: reuse one of this round.
    for (std::size_t i = 0; i < position_; ++i) {
      const Integer number = numbers_[(i + round_) % position_];
      if (!excluded(number)) return number;
    }
    return next();
  }

 private:
  // Fisher-Yates. The partner of a swap does not depend on earlier swaps, so a block of partners is
  // computed in parallel, and elements are prefetched ahead of their swaps.
  void shuffle() {
    constexpr std::size_t block = std::size_t{1} << 18;
    constexpr std::size_t grain = std::size_t{1} << 12;
    constexpr std::size_t ahead = 16;
    std::vector<Integer> partners(std::min(block, numbers_.size()));
    for (std::size_t last = numbers_.size(); last > 1;) {
      const std::size_t count = std::min(partners.size(), last - 1);
      parallel_for(task_count(count, grain), [&](std::size_t task) {
        for (std::size_t k = task * grain; k < std::min(count, (task + 1) * grain); ++k) {
          partners[k] =
              static_cast<Integer>(random_below({.seed = seed_,
                                                 .stream = stream_,
                                                 .step = static_cast<std::uint32_t>(round_),
                                                 .index = last - k},
                                                last - k));
        }
      });
      for (std::size_t k = 0; k < count; ++k) {
        if (k + ahead < count) {
          __builtin_prefetch(&numbers_[static_cast<std::size_t>(partners[k + ahead])], 1);
        }
        std::swap(numbers_[last - k - 1], numbers_[static_cast<std::size_t>(partners[k])]);
      }
      last -= count;
    }
    position_ = 0;
    ++round_;
  }

  std::vector<Integer> numbers_;
  std::size_t position_;
  std::size_t round_ = 0;
  std::uint64_t seed_;
  std::uint32_t stream_;
};

WiringPtr make_wiring(const WiringSize& size, const Tensor& wires) {
  return std::make_shared<const Wiring>(size.inputs, wires, size.group_size);
}

/// The number of pairs of `inputs` inputs whose first element is below `first`.
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

Wiring::Wiring(std::int64_t inputs, const Tensor& wires, std::int64_t group_size,
               TableSharing sharing)
    : inputs_(inputs),
      group_size_(group_size),
      sharing_(std::move(sharing)),
      wires_(wires.detach()) {
  if (wires.dtype() != DType::int32 || wires.rank() != 2) {
    fail("wiring", "expected wires of int32 [arity, groups], received {} {}",
         to_string(wires.dtype()), boolgrad::to_string(wires.shape()));
  }
  const std::int64_t groups = wires.shape()[1];
  arity_ = static_cast<int>(std::min<std::int64_t>(wires.shape()[0], 1000));
  gates_ = groups * group_size;
  check_size("wiring", {inputs, gates_, arity_, group_size});
  if (gates_ * arity_ > std::numeric_limits<std::int32_t>::max()) {
    fail("wiring", "expected fewer than 2^31 wires, received {} gates of {}", gates_, arity_);
  }
  check_sharing();
  expand_sources();
  list_consumers();
}

Wiring::~Wiring() = default;

WiringPtr Wiring::pooling(std::int64_t inputs, const Tensor& wires, bool first_wins) {
  auto wiring = std::make_shared<Wiring>(inputs, wires);
  wiring->pools_ = true;
  wiring->first_wins_ = first_wins;
  return wiring;
}

LutWires Wiring::view() const {
  return {.inputs = inputs_,
          .gates = gates_,
          .arity = arity_,
          .sources = sources_,
          .first_consumer = first_consumer_,
          .consumers = consumers_,
          .partners = partners_,
          .pools = pools_,
          .first_wins = first_wins_,
          .positions = sharing_.positions,
          .outside = sharing_.outside.defined() ? sharing_.outside.values<std::uint8_t>()
                                                : std::span<const std::uint8_t>()};
}

void Wiring::check_sharing() const {
  if (sharing_.positions < 1 || gates_ % sharing_.positions != 0) {
    fail("wiring", "expected a number of positions that divides {} gates, received {}", gates_,
         sharing_.positions);
  }
  const Tensor& outside = sharing_.outside;
  if (!outside.defined()) return;
  if (outside.dtype() != DType::uint8 || outside.shape() != Shape{gates_}) {
    fail("wiring", "expected the inputs outside of an image as uint8 [{}], received {} {}", gates_,
         to_string(outside.dtype()), boolgrad::to_string(outside.shape()));
  }
}

std::span<const Consumer> Wiring::consumers(std::int64_t input) const {
  const auto i = static_cast<std::size_t>(input);
  return std::span(consumers_)
      .subspan(first_consumer_[i], first_consumer_[i + 1] - first_consumer_[i]);
}

void Wiring::expand_sources() {
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

// A counting sort: count the readers of each input, take prefix sums, then scatter.
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
  ShuffledSequence<std::int32_t> order(size.inputs, seed, order_stream + layer);
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
      wire[static_cast<std::size_t>(slot * groups + group)] = order.next_unless(taken);
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
  // Pairs are numbered row by row over the triangle first < second.
  const std::int64_t pairs = size.inputs * (size.inputs - 1) / 2;
  ShuffledSequence<std::int64_t> order(pairs, seed, order_stream + layer);
  Tensor wires = empty_wires(size);
  const std::int64_t groups = size.gates / size.group_size;
  const std::span<std::int32_t> wire = wires.mutable_values<std::int32_t>();
  for (std::int64_t group = 0; group < groups; ++group) {
    const std::int64_t pair = order.next();
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
  ShuffledSequence<std::int64_t> order(groups, seed, order_stream + layer);
  Tensor wires = empty_wires(size);
  const std::span<std::int32_t> wire = wires.mutable_values<std::int32_t>();
  for (std::int64_t group = 0; group < groups; ++group) {
    const std::size_t pair = static_cast<std::size_t>(order.next()) % first.size();
    wire[static_cast<std::size_t>(group)] = first[pair];
    wire[static_cast<std::size_t>(groups + group)] = second[pair];
  }
  return make_wiring(size, wires);
}

WiringPtr slot_wiring(std::int64_t gates, int arity, std::int64_t positions) {
  check_size("slot_wiring", {.inputs = gates * arity, .gates = gates, .arity = arity});
  Tensor wires({arity, gates}, DType::int32);
  const std::span<std::int32_t> wire = wires.mutable_values<std::int32_t>();
  for (std::size_t i = 0; i < wire.size(); ++i) {
    const std::int64_t slot = static_cast<std::int64_t>(i) / gates;
    const std::int64_t gate = static_cast<std::int64_t>(i) % gates;
    wire[i] = static_cast<std::int32_t>(gate * arity + slot);
  }
  return std::make_shared<const Wiring>(gates * arity, wires, 1,
                                        TableSharing{.positions = positions});
}

WiringPtr butterfly_pairs(const WiringSize& size, std::uint64_t seed, std::uint32_t layer) {
  check_size("butterfly_pairs", size);
  check_fits_wires("butterfly_pairs", size);
  if (size.arity != 2 || size.inputs < 2) {
    fail("butterfly_pairs", "expected gates of 2 inputs out of at least 2, received {} out of {}",
         size.arity, size.inputs);
  }
  const auto distances =
      static_cast<std::uint32_t>(std::bit_width(static_cast<std::uint64_t>(size.inputs - 1)));
  std::vector<std::int32_t> places(static_cast<std::size_t>(size.inputs));
  ShuffledSequence<std::int32_t> order(size.inputs, seed, order_stream + layer);
  for (std::int64_t i = 0; i < size.inputs; ++i) {
    places[static_cast<std::size_t>(i)] = layer == 0 ? order.next() : static_cast<std::int32_t>(i);
  }
  Tensor wires = empty_wires(size);
  const std::int64_t groups = size.gates / size.group_size;
  const std::span<std::int32_t> wire = wires.mutable_values<std::int32_t>();
  std::int64_t group = 0;
  for (std::uint32_t round = 0; group < groups; ++round) {
    const std::int64_t apart = std::int64_t{1} << ((layer + round) % distances);
    const auto add_pair = [&](std::int64_t i) {
      wire[static_cast<std::size_t>(group)] = places[static_cast<std::size_t>(i)];
      wire[static_cast<std::size_t>(groups + group)] =
          places[static_cast<std::size_t>((i + apart) % size.inputs)];
      ++group;
    };
    if (groups - group >= size.inputs) {
      for (std::int64_t i = 0; i < size.inputs; ++i) add_pair(i);
      continue;
    }
    // Disjoint pairs first, then those between them.
    for (const std::int64_t side : {0, 1}) {
      for (std::int64_t i = 0; i < size.inputs && group < groups; ++i) {
        if (i / apart % 2 == side) add_pair(i);
      }
    }
  }
  return make_wiring(size, wires);
}

WiringPtr moore_wiring(std::int64_t group_size, std::uint64_t seed, std::uint32_t layer) {
  constexpr std::int64_t centre = 4;
  constexpr std::size_t neighbours = 8;
  ShuffledSequence<std::int64_t> order(neighbours, seed, order_stream + layer);
  std::vector<std::int32_t> wires(2 * neighbours, centre);
  for (std::size_t i = 0; i < neighbours; ++i) {
    const std::int64_t neighbour = order.next();
    wires[i] = static_cast<std::int32_t>(neighbour < centre ? neighbour : neighbour + 1);
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
      const double position = std::floor(std::fmod(home + slot + off, inputs));
      const double wrapped = position < 0 ? position + inputs : position;
      wire[static_cast<std::size_t>(slot * groups + group)] =
          static_cast<std::int32_t>(std::min(wrapped, inputs - 1));
    }
  }
  return make_wiring(size, wires);
}

}  // namespace boolgrad::logic
