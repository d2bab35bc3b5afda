#include "boolgrad/automata/trial_rollout.h"

#include <algorithm>
#include <bit>
#include <map>
#include <numeric>
#include <utility>

#include "boolgrad/automata/rule_netlist.h"
#include "boolgrad/core/error.h"

namespace boolgrad {
namespace {

constexpr std::uint32_t zero = 0;  ///< the value that is 0 everywhere
constexpr std::uint32_t first_place = 1;
constexpr std::uint32_t patch = 9;
constexpr std::uint32_t own_place = 4;

std::uint32_t place_in(std::size_t channel, std::size_t place) {
  return first_place + static_cast<std::uint32_t>(channel * patch + place);
}

std::size_t words_of(const BitGrid& grids) {
  return static_cast<std::size_t>((grids.batch() * grids.height() * grids.width() + 63) / 64);
}

std::size_t gates_of(const LogicNetwork& network) {
  std::size_t gates = 0;
  for (const LogicLayer& layer : network.layers()) {
    gates += static_cast<std::size_t>(layer.wiring->gates());
  }
  return gates;
}

/// Values of a step.
std::size_t values_of(const Rule& rule) {
  const auto channels = static_cast<std::size_t>(rule.channels());
  return first_place + channels * (patch + gates_of(rule.perceive())) + gates_of(rule.update());
}

/// A bit a cell of one channel, grid after grid; the first again where `from` has but one.
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

/// Bit i of the result is bit i + offset of `from`, from word `index` on; what lies outside is 0.
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

std::uint64_t all_bits(bool value) { return value ? ~std::uint64_t{0} : 0; }

}  // namespace

TrialRollout::TrialRollout(const Rule& rule, const BitGrid& starts,
                           const std::vector<BitGrid>& fire, std::int64_t steps,
                           const Tensor& target)
    : batch_(starts.batch()),
      height_(starts.height()),
      width_(starts.width()),
      steps_(static_cast<std::size_t>(steps)),
      words_(words_of(starts)),
      channels_(static_cast<std::size_t>(rule.channels())),
      target_channels_(static_cast<std::size_t>(target.shape()[0])) {
  scratch_.resize(words_);
  take_gates(rule);
  list_moves(rule.border());
  take_grids(starts, fire, target);
  run_all();
}

std::size_t TrialRollout::bytes(const Rule& rule, const BitGrid& starts, std::int64_t steps) {
  return static_cast<std::size_t>(steps + 1) * values_of(rule) * words_of(starts) *
         sizeof(std::uint64_t);
}

void TrialRollout::take_grids(const BitGrid& starts, const std::vector<BitGrid>& fire,
                              const Tensor& target) {
  cells_.assign(words_, ~std::uint64_t{0});
  const std::int64_t beyond = batch_ * height_ * width_ % 64;
  if (beyond != 0) cells_.back() = (std::uint64_t{1} << beyond) - 1;
  target_.assign(target_channels_ * words_, 0);
  const BitGrid wanted = BitGrid::from(target);
  for (std::size_t c = 0; c < target_channels_; ++c) {
    pack(wanted, static_cast<std::int64_t>(c), batch_, target_.data() + c * words_);
  }
  fire_.assign(fire.size() * words_, 0);
  for (std::size_t t = 0; t < fire.size(); ++t) pack(fire[t], 0, batch_, fire_.data() + t * words_);
  kept_.assign((steps_ + 1) * values_ * words_, 0);
  for (std::size_t c = 0; c < channels_; ++c) {
    pack(starts, static_cast<std::int64_t>(c), batch_,
         kept_.data() + place_of(0, place_in(c, own_place)));
  }
}

/// Which cells receive a neighbour from where. At most four offsets a place: those that wrap
/// around have others.
void TrialRollout::list_moves(Border border) {
  for (std::size_t place = 0; place < patch; ++place) {
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

/// Takes the gates that a rule is emitted as. A signal is a value of a step. Gates of perception
/// come once per channel and share their tables.
class TrialRollout::Sink final : public GateSink {
 public:
  Sink(TrialRollout& trial, const Rule& rule)
      : trial_(trial), perceived_(gates_of(rule.perceive())) {}

  Signal constant(bool value) override {
    if (value) fail("trial_rollout", "expected no constant but 0, received 1");
    return zero;
  }

  Signal gate(std::span<const Signal> inputs, std::uint64_t truth) override {
    if (inputs.size() != 2) {
      fail("trial_rollout", "expected gates of two inputs, received some of {}", inputs.size());
    }
    const std::size_t index = trial_.gates_.size();
    const std::size_t repeated = (trial_.channels_ - 1) * perceived_;
    const std::size_t table = index < repeated + perceived_ ? index % perceived_ : index - repeated;
    trial_.tables_[table] = static_cast<std::uint8_t>(truth);
    trial_.gates_of_table_[table].push_back(static_cast<std::uint32_t>(index));
    trial_.gates_.push_back({inputs[0], inputs[1], static_cast<std::uint32_t>(table)});
    return place_in(trial_.channels_, 0) + static_cast<std::uint32_t>(index);
  }

 private:
  TrialRollout& trial_;
  std::size_t perceived_;  ///< gates of perception
};

void TrialRollout::take_gates(const Rule& rule) {
  std::size_t tables = 0;
  for (const LogicNetwork* network : {&rule.perceive(), &rule.update()}) {
    for (const LogicLayer& layer : network->layers()) {
      first_table_.push_back(tables);
      tables += static_cast<std::size_t>(layer.wiring->gates());
    }
  }
  tables_.resize(tables);
  gates_of_table_.resize(tables);
  values_ = values_of(rule);
  std::vector<Signal> inputs(channels_ * patch);
  std::iota(inputs.begin(), inputs.end(), first_place);
  Sink sink(*this, rule);
  outputs_ = emit(rule, inputs, sink);
  list_readers();
  differs_.assign(values_, 0);
  different_at_.assign(values_, 0);
  to_settle_.assign((gates_.size() + 63) / 64, 0);
}

void TrialRollout::list_readers() {
  first_reader_.assign(values_ + 1, 0);
  for (const Gate& gate : gates_) {
    ++first_reader_[gate.a + 1];
    ++first_reader_[gate.b + 1];
  }
  for (std::size_t v = 0; v < values_; ++v) first_reader_[v + 1] += first_reader_[v];
  readers_.resize(gates_.size() * 2);
  std::vector<std::size_t> next(first_reader_.begin(), first_reader_.end() - 1);
  for (std::size_t g = 0; g < gates_.size(); ++g) {
    readers_[next[gates_[g].a]++] = static_cast<std::uint32_t>(g);
    readers_[next[gates_[g].b]++] = static_cast<std::uint32_t>(g);
  }
}

/// What lies at `place` of every cell.
void TrialRollout::look(const std::uint64_t* own, std::size_t place, std::uint64_t* to) const {
  for (std::size_t w = 0; w < words_; ++w) {
    std::uint64_t value = 0;
    for (const Move& move : moves_[place]) {
      value |= word_at(own, words_, w, move.offset) & move.to[w];
    }
    to[w] = value;
  }
}

void TrialRollout::evaluate(const Gate& gate, unsigned table, std::size_t step,
                            std::uint64_t* to) const {
  const bool t0 = (table & 1) != 0;
  const bool t1 = (table & 2) != 0;
  const bool t2 = (table & 4) != 0;
  const bool t3 = (table & 8) != 0;
  const std::uint64_t c0 = all_bits(t0);
  const std::uint64_t c1 = all_bits(t0 != t1);
  const std::uint64_t c2 = all_bits(t0 != t2);
  const std::uint64_t c3 = all_bits((t0 != t1) != (t2 != t3));
  const std::uint64_t* a = now(step, gate.a);
  const std::uint64_t* b = now(step, gate.b);
  for (std::size_t w = 0; w < words_; ++w) {
    to[w] = c0 ^ (a[w] & (c1 ^ (b[w] & c3))) ^ (b[w] & c2);
  }
}

/// A channel after the step: new where cells fire.
void TrialRollout::next_state(std::size_t step, std::size_t channel, std::uint64_t* to) const {
  const std::uint64_t* own = now(step, place_in(channel, own_place));
  const std::uint64_t* made = now(step, outputs_[channel]);
  for (std::size_t w = 0; w < words_; ++w) {
    const std::uint64_t fires = fire_.empty() ? ~std::uint64_t{0} : fire_[step * words_ + w];
    to[w] = own[w] ^ ((own[w] ^ made[w]) & fires);
  }
}

std::int64_t TrialRollout::wrong_in(std::size_t channel, const std::uint64_t* shown) const {
  std::int64_t wrong = 0;
  for (std::size_t w = 0; w < words_; ++w) {
    wrong += std::popcount((shown[w] ^ target_[channel * words_ + w]) & cells_[w]);
  }
  return wrong;
}

void TrialRollout::run_all() {
  ++mark_;  // nothing differs
  for (std::size_t step = 0; step < steps_; ++step) {
    for (std::size_t c = 0; c < channels_; ++c) {
      const std::uint64_t* own = kept_.data() + place_of(step, place_in(c, own_place));
      for (std::size_t n = 0; n < patch; ++n) {
        if (n != own_place) look(own, n, kept_.data() + place_of(step, place_in(c, n)));
      }
    }
    for (std::size_t g = 0; g < gates_.size(); ++g) {
      evaluate(gates_[g], tables_[gates_[g].table], step,
               kept_.data() + place_of(step, place_in(channels_, 0) + g));
    }
    for (std::size_t c = 0; c < channels_; ++c) {
      next_state(step, c, kept_.data() + place_of(step + 1, place_in(c, own_place)));
    }
  }
  for (std::size_t c = 0; c < target_channels_; ++c) {
    wrong_ += wrong_in(c, kept_.data() + place_of(steps_, place_in(c, own_place)));
  }
}

/// Takes note of a value, where it is another one than is kept, and of who reads it.
void TrialRollout::differ(std::size_t step, std::uint32_t value, const std::uint64_t* words) {
  const std::size_t place = place_of(step, value);
  if (std::equal(words, words + words_, kept_.data() + place)) return;
  differs_[value] = mark_;
  different_at_[value] = different_.size();
  differences_.push_back({place, different_.size()});
  different_.insert(different_.end(), words, words + words_);
  for (std::size_t r = first_reader_[value]; r < first_reader_[value + 1]; ++r) {
    to_settle_[readers_[r] / 64] |= std::uint64_t{1} << (readers_[r] % 64);
  }
}

/// A channel's differing state is seen from all around.
void TrialRollout::change_channel(std::size_t step, std::size_t channel) {
  for (std::size_t n = 0; n < patch; ++n) {
    const std::uint32_t value = place_in(channel, n);
    if (n == own_place || first_reader_[value] == first_reader_[value + 1]) continue;
    look(now(step, place_in(channel, own_place)), n, scratch_.data());
    differ(step, value, scratch_.data());
  }
}

/// Gates in their order, which is that of layers; more may turn up behind as they are settled.
void TrialRollout::settle_gates(std::size_t step, std::size_t changed_table, unsigned table) {
  for (const std::uint32_t g : gates_of_table_[changed_table]) {
    to_settle_[g / 64] |= std::uint64_t{1} << (g % 64);
  }
  for (std::size_t word = 0; word < to_settle_.size(); ++word) {
    while (to_settle_[word] != 0) {
      const auto bit = static_cast<std::size_t>(std::countr_zero(to_settle_[word]));
      to_settle_[word] &= to_settle_[word] - 1;
      const Gate& gate = gates_[word * 64 + bit];
      evaluate(gate, gate.table == changed_table ? table : tables_[gate.table], step,
               scratch_.data());
      differ(step, place_in(channels_, 0) + static_cast<std::uint32_t>(word * 64 + bit),
             scratch_.data());
    }
  }
}

std::int64_t TrialRollout::wrong_bits_with(std::size_t layer, std::int64_t gate, unsigned table) {
  tried_table_ = first_table_.at(layer) + static_cast<std::size_t>(gate);
  tried_ = static_cast<std::uint8_t>(table & 15);
  differences_.clear();
  different_.clear();
  changed_.clear();
  wrong_then_ = wrong_;
  for (std::size_t step = 0; step < steps_; ++step) {
    ++mark_;
    for (std::size_t i = 0; i < changed_.size(); ++i) {
      differ(step, place_in(changed_[i], own_place), changed_states_.data() + i * words_);
      change_channel(step, changed_[i]);
    }
    settle_gates(step, tried_table_, tried_);
    list_changed(step);
  }
  ++mark_;
  for (std::size_t i = 0; i < changed_.size(); ++i) {
    const std::size_t c = changed_[i];
    const std::uint32_t value = place_in(c, own_place);
    const std::uint64_t* shown = changed_states_.data() + i * words_;
    differ(steps_, value, shown);
    if (c >= target_channels_) continue;
    wrong_then_ += wrong_in(c, shown) - wrong_in(c, kept_.data() + place_of(steps_, value));
  }
  std::ranges::fill(to_settle_, 0);  // nothing reads the last state
  return wrong_then_;
}

/// The channels whose states after the step are others than are kept.
void TrialRollout::list_changed(std::size_t step) {
  changed_.clear();
  changed_states_.clear();
  for (std::size_t c = 0; c < channels_; ++c) {
    const bool may_change =
        differs_[outputs_[c]] == mark_ || differs_[place_in(c, own_place)] == mark_;
    if (!may_change) continue;
    next_state(step, c, scratch_.data());
    const std::uint64_t* before = kept_.data() + place_of(step + 1, place_in(c, own_place));
    if (std::ranges::equal(scratch_, std::span(before, words_))) continue;
    changed_.push_back(c);
    changed_states_.insert(changed_states_.end(), scratch_.begin(), scratch_.end());
  }
}

void TrialRollout::keep() {
  tables_[tried_table_] = tried_;
  wrong_ = wrong_then_;
  for (const Difference& difference : differences_) {
    std::copy_n(different_.data() + difference.words, words_, kept_.data() + difference.place);
  }
  differences_.clear();
}

}  // namespace boolgrad
