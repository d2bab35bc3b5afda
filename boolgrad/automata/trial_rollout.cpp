#include "boolgrad/automata/trial_rollout.h"

#include <algorithm>
#include <bit>
#include <map>
#include <span>
#include <utility>

#include "boolgrad/core/error.h"

namespace boolgrad {
namespace {

constexpr std::uint32_t all_zero = 0;
constexpr std::uint32_t all_one = 1;
constexpr std::uint32_t first_place = 2;
constexpr std::uint32_t patch = 9;
constexpr std::uint32_t own_place = 4;

std::uint32_t place_of(std::size_t channel, std::uint32_t place) {
  return first_place + static_cast<std::uint32_t>(channel) * patch + place;
}

/// A bit a cell of one channel, grid after grid; `grids` of them, the first again where `from` has
/// but one.
void pack(const BitGrid& from, std::int64_t channel, std::int64_t grids, std::uint64_t* to) {
  std::size_t cell = 0;
  for (std::int64_t item = 0; item < grids; ++item) {
    for (std::int64_t y = 0; y < from.height(); ++y) {
      for (std::int64_t x = 0; x < from.width(); ++x, ++cell) {
        if (from.at(channel, from.batch() == 1 ? 0 : item, y, x)) {
          to[cell / 64] |= std::uint64_t{1} << (cell % 64);
        }
      }
    }
  }
}

/// Bit i of the result is bit i + offset of `from`; what lies outside is 0.
std::uint64_t word_at(const std::uint64_t* from, std::size_t words, std::size_t index,
                      std::int64_t offset) {
  const std::int64_t bit = static_cast<std::int64_t>(index) * 64 + offset;
  const std::int64_t word = bit >> 6;
  const auto shift = static_cast<unsigned>(bit & 63);
  const auto part = [&](std::int64_t at) {
    return at < 0 || at >= static_cast<std::int64_t>(words) ? 0 : from[at];
  };
  return shift == 0 ? part(word) : (part(word) >> shift) | (part(word + 1) << (64 - shift));
}

/// The table over b alone of a table over a and b, where a is `value`: entries 0 and 1.
unsigned with_a(unsigned table, bool value) {
  const unsigned t = value ? table >> 1 : table;
  return (t & 1) | ((t >> 1) & 2);
}
/// Likewise over a, where b is `value`.
unsigned with_b(unsigned table, bool value) { return (value ? table >> 2 : table) & 3; }
/// Where both are the same.
unsigned with_equal(unsigned table) { return (table & 1) | ((table >> 2) & 2); }

std::uint64_t all_bits(bool value) { return value ? ~std::uint64_t{0} : 0; }

}  // namespace

TrialRollout::TrialRollout(const Rule& rule, const BitGrid& starts,
                           const std::vector<BitGrid>& fire, std::int64_t steps,
                           const Tensor& target)
    : rule_(rule),
      batch_(starts.batch()),
      height_(starts.height()),
      width_(starts.width()),
      steps_(steps),
      words_(static_cast<std::size_t>((batch_ * height_ * width_ + 63) / 64)),
      target_channels_(static_cast<std::size_t>(target.shape()[0])) {
  for (const LogicNetwork* network : {&rule.perceive(), &rule.update()}) {
    for (const LogicLayer& layer : network->layers()) {
      if (layer.wiring->arity() != 2) {
        fail("trial_rollout", "expected gates of two inputs, received some of {}",
             layer.wiring->arity());
      }
    }
  }
  const auto channels = static_cast<std::size_t>(rule.channels());
  cells_.assign(words_, ~std::uint64_t{0});
  const auto beyond = static_cast<std::size_t>(batch_ * height_ * width_ % 64);
  if (beyond != 0) cells_.back() = (std::uint64_t{1} << beyond) - 1;
  starts_.assign(channels * words_, 0);
  for (std::size_t c = 0; c < channels; ++c) {
    pack(starts, static_cast<std::int64_t>(c), batch_, starts_.data() + c * words_);
  }
  target_.assign(target_channels_ * words_, 0);
  const BitGrid wanted = BitGrid::from(target);
  for (std::size_t c = 0; c < target_channels_; ++c) {
    pack(wanted, static_cast<std::int64_t>(c), batch_, target_.data() + c * words_);
  }
  fire_.assign(fire.size() * words_, 0);
  for (std::size_t t = 0; t < fire.size(); ++t) pack(fire[t], 0, batch_, fire_.data() + t * words_);
  list_moves(rule.border());
}

/// Which cells receive a neighbour from where. At most four offsets a place: those that wrap
/// around have others.
void TrialRollout::list_moves(Border border) {
  for (std::uint32_t place = 0; place < patch; ++place) {
    std::map<std::int64_t, Plane> by_offset;
    for (std::int64_t cell = 0; cell < batch_ * height_ * width_; ++cell) {
      const std::int64_t x = cell % width_;
      const std::int64_t y = cell / width_ % height_;
      std::int64_t from_x = x + static_cast<std::int64_t>(place % 3) - 1;
      std::int64_t from_y = y + static_cast<std::int64_t>(place / 3) - 1;
      if (border == Border::periodic) {
        from_x = (from_x + width_) % width_;
        from_y = (from_y + height_) % height_;
      }
      if (from_x < 0 || from_x >= width_ || from_y < 0 || from_y >= height_) continue;
      Plane& to = by_offset[(from_y - y) * width_ + from_x - x];
      to.resize(words_);
      to[static_cast<std::size_t>(cell / 64)] |= std::uint64_t{1} << (cell % 64);
    }
    for (auto& [offset, to] : by_offset) moves_[place].push_back({offset, std::move(to)});
  }
}

/// Where the value of a gate is found: in a new plane, unless it is constant or one of its inputs.
std::uint32_t TrialRollout::add_gate(std::uint32_t a, std::uint32_t b, unsigned table) {
  // Of one input: 0, its opposite, itself, 1 for entries 00, 01, 10, 11.
  const auto of_one = [&](std::uint32_t input, unsigned entries) {
    if (entries == 0) return all_zero;
    if (entries == 3) return all_one;
    if (entries == 2) return input;
    if (input == all_zero) return all_one;
    if (input == all_one) return all_zero;
    gates_.push_back({input, input, 0b0001, false});
    return static_cast<std::uint32_t>(used_.size() + gates_.size() - 1);
  };
  if (a == b) return of_one(a, with_equal(table));
  if (a <= all_one) return of_one(b, with_a(table, a == all_one));
  if (b <= all_one) return of_one(a, with_b(table, b == all_one));
  if (with_a(table, false) == with_a(table, true)) return of_one(b, with_a(table, false));
  if (with_b(table, false) == with_b(table, true)) return of_one(a, with_b(table, false));
  gates_.push_back({a, b, static_cast<std::uint8_t>(table), false});
  return static_cast<std::uint32_t>(used_.size() + gates_.size() - 1);
}

/// The layers of a network, whose tables are these.
std::vector<std::uint32_t> TrialRollout::apply(const LogicNetwork& network,
                                               std::span<const Tensor> tables,
                                               std::vector<std::uint32_t> values) {
  for (std::int64_t i = 0; i < network.inputs(); ++i) {
    if (network.input_mask().at(i) < 0.5) values[static_cast<std::size_t>(i)] = all_zero;
  }
  for (std::size_t layer = 0; layer < tables.size(); ++layer) {
    const std::span<const std::int32_t> sources = network.layers()[layer].wiring->sources();
    const std::span<const std::uint8_t> entries = tables[layer].values<std::uint8_t>();
    std::vector<std::uint32_t> outputs(sources.size() / 2);
    for (std::size_t gate = 0; gate < outputs.size(); ++gate) {
      unsigned table = 0;
      for (unsigned e = 0; e < 4; ++e) table |= unsigned{entries[gate * 4 + e]} << e;
      outputs[gate] = add_gate(values[static_cast<std::size_t>(sources[gate * 2])],
                               values[static_cast<std::size_t>(sources[gate * 2 + 1])], table);
    }
    values = std::move(outputs);
  }
  return values;
}

void TrialRollout::collect_gates() {
  const auto channels = static_cast<std::size_t>(rule_.channels());
  used_.assign(first_place + channels * patch, false);
  gates_.clear();
  const std::vector<Tensor> tables = rule_.hard_tables();
  const std::span<const Tensor> of_both(tables);
  const std::size_t split = rule_.perceive().layers().size();
  std::vector<std::uint32_t> inputs;
  for (std::size_t c = 0; c < channels; ++c) inputs.push_back(place_of(c, own_place));
  for (std::size_t c = 0; c < channels; ++c) {
    std::vector<std::uint32_t> around;
    for (std::uint32_t n = 0; n < patch; ++n) around.push_back(place_of(c, n));
    const std::vector<std::uint32_t> seen =
        apply(rule_.perceive(), of_both.first(split), std::move(around));
    inputs.insert(inputs.end(), seen.begin(), seen.end());
  }
  outputs_ = apply(rule_.update(), of_both.subspan(split), std::move(inputs));
}

/// Marks what the target's channels depend on, now or through a channel of an earlier step.
void TrialRollout::mark_used() {
  std::vector<bool> wanted(outputs_.size(), false);
  std::fill_n(wanted.begin(), target_channels_, true);
  const auto mark = [&](std::uint32_t plane) {
    if (plane < used_.size()) used_[plane] = true;
    else gates_[plane - used_.size()].used = true;
  };
  bool more = true;
  while (more) {
    for (std::size_t c = 0; c < outputs_.size(); ++c) {
      if (wanted[c]) mark(outputs_[c]);
    }
    for (std::size_t g = gates_.size(); g-- > 0;) {
      if (!gates_[g].used) continue;
      mark(gates_[g].a);
      mark(gates_[g].b);
    }
    more = false;
    for (std::size_t c = 0; c < outputs_.size(); ++c) {
      // A cell that does not fire keeps its own.
      const auto first = used_.begin() + static_cast<std::ptrdiff_t>(place_of(c, 0));
      if (!wanted[c] && std::find(first, first + patch, true) != first + patch) {
        wanted[c] = more = true;
      }
    }
  }
  for (std::size_t c = 0; c < outputs_.size(); ++c) {
    if (wanted[c]) used_[place_of(c, own_place)] = true;
  }
}

void TrialRollout::look_around() {
  for (std::size_t c = 0; c < outputs_.size(); ++c) {
    const std::uint64_t* own = plane(place_of(c, own_place));
    for (std::uint32_t n = 0; n < patch; ++n) {
      if (n == own_place || !used_[place_of(c, n)]) continue;
      std::uint64_t* to = plane(place_of(c, n));
      for (std::size_t w = 0; w < words_; ++w) {
        std::uint64_t value = 0;
        for (const Move& move : moves_[n])
          value |= word_at(own, words_, w, move.offset) & move.to[w];
        to[w] = value;
      }
    }
  }
}

void TrialRollout::step(std::size_t index) {
  look_around();
  for (std::size_t g = 0; g < gates_.size(); ++g) {
    const Gate& gate = gates_[g];
    if (!gate.used) continue;
    const bool t0 = (gate.table & 1) != 0;
    const bool t1 = (gate.table & 2) != 0;
    const bool t2 = (gate.table & 4) != 0;
    const bool t3 = (gate.table & 8) != 0;
    const std::uint64_t c0 = all_bits(t0);
    const std::uint64_t c1 = all_bits(t0 != t1);
    const std::uint64_t c2 = all_bits(t0 != t2);
    const std::uint64_t c3 = all_bits((t0 != t1) != (t2 != t3));
    const std::uint64_t* a = plane(gate.a);
    const std::uint64_t* b = plane(gate.b);
    std::uint64_t* to = plane(used_.size() + g);
    for (std::size_t w = 0; w < words_; ++w) {
      to[w] = c0 ^ (a[w] & (c1 ^ (b[w] & c3))) ^ (b[w] & c2);
    }
  }
  // All are read before one is written: a new channel may be an old one.
  for (std::size_t c = 0; c < outputs_.size(); ++c) {
    if (!used_[place_of(c, own_place)]) continue;
    const std::uint64_t* now = plane(place_of(c, own_place));
    const std::uint64_t* then = plane(outputs_[c]);
    std::uint64_t* to = next_.data() + c * words_;
    for (std::size_t w = 0; w < words_; ++w) {
      const std::uint64_t fires = fire_.empty() ? ~std::uint64_t{0} : fire_[index * words_ + w];
      to[w] = now[w] ^ ((now[w] ^ then[w]) & fires);
    }
  }
  for (std::size_t c = 0; c < outputs_.size(); ++c) {
    if (used_[place_of(c, own_place)]) {
      std::copy_n(next_.data() + c * words_, words_, plane(place_of(c, own_place)));
    }
  }
}

std::int64_t TrialRollout::wrong_bits() {
  collect_gates();
  mark_used();
  planes_.resize(std::max(planes_.size(), (used_.size() + gates_.size()) * words_));
  next_.resize(starts_.size());
  std::fill_n(plane(all_zero), words_, 0);
  std::fill_n(plane(all_one), words_, ~std::uint64_t{0});
  for (std::size_t c = 0; c < outputs_.size(); ++c) {
    std::copy_n(starts_.data() + c * words_, words_, plane(place_of(c, own_place)));
  }
  for (std::int64_t t = 0; t < steps_; ++t) step(static_cast<std::size_t>(t));
  std::int64_t wrong = 0;
  for (std::size_t c = 0; c < target_channels_; ++c) {
    const std::uint64_t* shown = plane(place_of(c, own_place));
    for (std::size_t w = 0; w < words_; ++w) {
      wrong += std::popcount((shown[w] ^ target_[c * words_ + w]) & cells_[w]);
    }
  }
  return wrong;
}

}  // namespace boolgrad
