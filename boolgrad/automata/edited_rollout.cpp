#include "boolgrad/automata/edited_rollout.h"

#include <algorithm>
#include <bit>
#include <map>
#include <numeric>
#include <utility>

#include "boolgrad/automata/rule_netlist.h"
#include "boolgrad/core/fail.h"

namespace boolgrad::automata {
namespace {

constexpr std::uint32_t zero = 0;  ///< the constant 0
constexpr std::uint32_t first_neighbour = 1;
constexpr std::uint32_t patch = 9;
constexpr std::uint32_t centre = 4;

std::uint32_t value_of_neighbour(std::size_t channel, std::size_t position) {
  return first_neighbour + static_cast<std::uint32_t>(channel * patch + position);
}

std::size_t words_of(const BitGrid& grids) {
  return static_cast<std::size_t>((grids.batch() * grids.height() * grids.width() + 63) / 64);
}

std::size_t gates_of(const logic::Network& network) {
  std::size_t gates = 0;
  for (const logic::GateLayer& layer : network.layers()) {
    gates += static_cast<std::size_t>(layer.wiring->gates());
  }
  return gates;
}

/// The number of values per step.
std::size_t values_of(const Rule& rule) {
  const auto channels = static_cast<std::size_t>(rule.channels());
  return first_neighbour + channels * (patch + gates_of(rule.perceive())) + gates_of(rule.update());
}

/// Packs one channel of all grids, one bit per cell. A single grid is repeated.
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

/// Word `index` of `from`, shifted so that bit i is bit i + offset. Bits outside are 0.
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

EditedRollout::EditedRollout(const Rule& rule, const BitGrid& starts,
                             const std::vector<BitGrid>& fire, std::int64_t steps,
                             const Tensor& target, std::int64_t counted)
    : batch_(starts.batch()),
      height_(starts.height()),
      width_(starts.width()),
      steps_(static_cast<std::size_t>(steps)),
      counted_(static_cast<std::size_t>(counted)),
      words_(words_of(starts)),
      channels_(static_cast<std::size_t>(rule.channels())),
      target_channels_(static_cast<std::size_t>(target.shape()[0])) {
  if (counted < 1 || counted > steps + 1) {
    fail("edited_rollout", "expected 1 to {} states to compare, received {}", steps + 1, counted);
  }
  scratch_.resize(words_);
  collect_gates(rule);
  list_shifts(rule.border());
  pack_grids(starts, fire, target);
  run_all();
}

std::size_t EditedRollout::bytes(const Rule& rule, const BitGrid& starts, std::int64_t steps) {
  return static_cast<std::size_t>(steps + 1) * values_of(rule) * words_of(starts) *
         sizeof(std::uint64_t);
}

void EditedRollout::pack_grids(const BitGrid& starts, const std::vector<BitGrid>& fire,
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
  stored_.assign((steps_ + 1) * values_ * words_, 0);
  for (std::size_t c = 0; c < channels_; ++c) {
    pack(starts, static_cast<std::int64_t>(c), batch_,
         stored_.data() + offset_of(0, value_of_neighbour(c, centre)));
  }
}

/// Finds the offset of each neighbour of each cell. Wrapping around adds offsets, so there are at
/// most four per neighbour.
void EditedRollout::list_shifts(Border border) {
  for (std::size_t position = 0; position < patch; ++position) {
    std::map<std::int64_t, Plane> by_offset;
    for (std::int64_t cell = 0; cell < batch_ * height_ * width_; ++cell) {
      const std::int64_t x = cell % width_;
      const std::int64_t y = cell / width_ % height_;
      std::int64_t from_x = x + static_cast<std::int64_t>(position % 3) - 1;
      std::int64_t from_y = y + static_cast<std::int64_t>(position / 3) - 1;
      if (border == Border::periodic) {
        from_x = (from_x + width_) % width_;
        from_y = (from_y + height_) % height_;
      }
      if (from_x < 0 || from_x >= width_ || from_y < 0 || from_y >= height_) continue;
      Plane& to = by_offset[(from_y - y) * width_ + from_x - x];
      to.resize(words_);
      to[static_cast<std::size_t>(cell / 64)] |= std::uint64_t{1} << (cell % 64);
    }
    for (auto& [offset, to] : by_offset) shifts_[position].push_back({offset, std::move(to)});
  }
}

/// Collects the gates of a rule. A signal is the index of a value within a step. Gates of
/// perception occur once per channel and share their tables.
class EditedRollout::Sink final : public logic::GateSink {
 public:
  Sink(EditedRollout& rollout, const Rule& rule)
      : rollout_(rollout), perceived_(gates_of(rule.perceive())) {}

  logic::Signal constant(bool value) override {
    if (value) fail("edited_rollout", "expected only the constant 0, received 1");
    return zero;
  }

  logic::Signal gate(std::span<const logic::Signal> inputs, std::uint64_t truth) override {
    if (inputs.size() != 2) {
      fail("edited_rollout", "expected gates of two inputs, received one of {}", inputs.size());
    }
    const std::size_t index = rollout_.gates_.size();
    const std::size_t repeated = (rollout_.channels_ - 1) * perceived_;
    const std::size_t table = index < repeated + perceived_ ? index % perceived_ : index - repeated;
    rollout_.tables_[table] = static_cast<std::uint8_t>(truth);
    rollout_.gates_of_table_[table].push_back(static_cast<std::uint32_t>(index));
    rollout_.gates_.push_back({inputs[0], inputs[1], static_cast<std::uint32_t>(table)});
    return value_of_neighbour(rollout_.channels_, 0) + static_cast<std::uint32_t>(index);
  }

 private:
  EditedRollout& rollout_;
  std::size_t perceived_;  ///< gates of perception
};

void EditedRollout::collect_gates(const Rule& rule) {
  std::size_t tables = 0;
  for (const logic::Network* network : {&rule.perceive(), &rule.update()}) {
    for (const logic::GateLayer& layer : network->layers()) {
      first_table_.push_back(tables);
      tables += static_cast<std::size_t>(layer.wiring->gates());
    }
  }
  tables_.resize(tables);
  gates_of_table_.resize(tables);
  values_ = values_of(rule);
  std::vector<logic::Signal> inputs(channels_ * patch);
  std::iota(inputs.begin(), inputs.end(), first_neighbour);
  Sink sink(*this, rule);
  outputs_ = emit(rule, inputs, sink);
  list_readers();
  differs_.assign(values_, 0);
  different_at_.assign(values_, 0);
  pending_.assign((gates_.size() + 63) / 64, 0);
}

void EditedRollout::list_readers() {
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

/// Gathers one neighbour of every cell.
void EditedRollout::neighbours(const std::uint64_t* own, std::size_t position,
                               std::uint64_t* to) const {
  for (std::size_t w = 0; w < words_; ++w) {
    std::uint64_t value = 0;
    for (const Shift& neighbour : shifts_[position]) {
      value |= word_at(own, words_, w, neighbour.offset) & neighbour.cells[w];
    }
    to[w] = value;
  }
}

void EditedRollout::evaluate(const Gate& gate, unsigned table, std::size_t step,
                             std::uint64_t* to) const {
  const bool t0 = (table & 1) != 0;
  const bool t1 = (table & 2) != 0;
  const bool t2 = (table & 4) != 0;
  const bool t3 = (table & 8) != 0;
  const std::uint64_t c0 = all_bits(t0);
  const std::uint64_t c1 = all_bits(t0 != t1);
  const std::uint64_t c2 = all_bits(t0 != t2);
  const std::uint64_t c3 = all_bits((t0 != t1) != (t2 != t3));
  const std::uint64_t* a = current(step, gate.a);
  const std::uint64_t* b = current(step, gate.b);
  for (std::size_t w = 0; w < words_; ++w) {
    to[w] = c0 ^ (a[w] & (c1 ^ (b[w] & c3))) ^ (b[w] & c2);
  }
}

/// The next state of a channel, updated where cells fire.
void EditedRollout::next_state(std::size_t step, std::size_t channel, std::uint64_t* to) const {
  const std::uint64_t* own = current(step, value_of_neighbour(channel, centre));
  const std::uint64_t* made = current(step, outputs_[channel]);
  for (std::size_t w = 0; w < words_; ++w) {
    const std::uint64_t fires = fire_.empty() ? ~std::uint64_t{0} : fire_[step * words_ + w];
    to[w] = own[w] ^ ((own[w] ^ made[w]) & fires);
  }
}

std::int64_t EditedRollout::errors_in(std::size_t channel, const std::uint64_t* shown) const {
  std::int64_t errors = 0;
  for (std::size_t w = 0; w < words_; ++w) {
    errors += std::popcount((shown[w] ^ target_[channel * words_ + w]) & cells_[w]);
  }
  return errors;
}

void EditedRollout::run_all() {
  ++mark_;  // nothing differs
  for (std::size_t step = 0; step < steps_; ++step) {
    for (std::size_t c = 0; c < channels_; ++c) {
      const std::uint64_t* own = stored_.data() + offset_of(step, value_of_neighbour(c, centre));
      for (std::size_t n = 0; n < patch; ++n) {
        if (n != centre)
          neighbours(own, n, stored_.data() + offset_of(step, value_of_neighbour(c, n)));
      }
    }
    for (std::size_t g = 0; g < gates_.size(); ++g) {
      evaluate(gates_[g], tables_[gates_[g].table], step,
               stored_.data() + offset_of(step, value_of_neighbour(channels_, 0) + g));
    }
    for (std::size_t c = 0; c < channels_; ++c) {
      next_state(step, c, stored_.data() + offset_of(step + 1, value_of_neighbour(c, centre)));
    }
  }
  for (std::size_t step = steps_ + 1 - counted_; step <= steps_; ++step) {
    for (std::size_t c = 0; c < target_channels_; ++c) {
      errors_ += errors_in(c, stored_.data() + offset_of(step, value_of_neighbour(c, centre)));
    }
  }
}

/// Records a value if it differs from the stored one, and marks its readers as pending.
void EditedRollout::record_difference(std::size_t step, std::uint32_t value,
                                      const std::uint64_t* words) {
  const std::size_t offset = offset_of(step, value);
  if (std::equal(words, words + words_, stored_.data() + offset)) return;
  differs_[value] = mark_;
  different_at_[value] = different_.size();
  differences_.push_back({offset, different_.size()});
  different_.insert(different_.end(), words, words + words_);
  for (std::size_t r = first_reader_[value]; r < first_reader_[value + 1]; ++r) {
    pending_[readers_[r] / 64] |= std::uint64_t{1} << (readers_[r] % 64);
  }
}

/// Updates the neighbour values of a channel whose state differs.
void EditedRollout::change_neighbours(std::size_t step, std::size_t channel) {
  for (std::size_t n = 0; n < patch; ++n) {
    const std::uint32_t value = value_of_neighbour(channel, n);
    if (n == centre || first_reader_[value] == first_reader_[value + 1]) continue;
    neighbours(current(step, value_of_neighbour(channel, centre)), n, scratch_.data());
    record_difference(step, value, scratch_.data());
  }
}

/// Evaluates pending gates in topological order. New pending gates are always later ones.
void EditedRollout::reevaluate_gates(std::size_t step, std::size_t changed_table, unsigned table) {
  for (const std::uint32_t g : gates_of_table_[changed_table]) {
    pending_[g / 64] |= std::uint64_t{1} << (g % 64);
  }
  for (std::size_t word = 0; word < pending_.size(); ++word) {
    while (pending_[word] != 0) {
      const auto bit = static_cast<std::size_t>(std::countr_zero(pending_[word]));
      pending_[word] &= pending_[word] - 1;
      const Gate& gate = gates_[word * 64 + bit];
      evaluate(gate, gate.table == changed_table ? table : tables_[gate.table], step,
               scratch_.data());
      record_difference(
          step, value_of_neighbour(channels_, 0) + static_cast<std::uint32_t>(word * 64 + bit),
          scratch_.data());
    }
  }
}

std::int64_t EditedRollout::errors_with(std::size_t layer, std::int64_t gate, unsigned table) {
  edited_table_ = first_table_.at(layer) + static_cast<std::size_t>(gate);
  edited_truth_ = static_cast<std::uint8_t>(table & 15);
  differences_.clear();
  different_.clear();
  changed_.clear();
  edited_errors_ = errors_;
  for (std::size_t step = 0; step < steps_; ++step) {
    ++mark_;
    for (std::size_t i = 0; i < changed_.size(); ++i) {
      record_difference(step, value_of_neighbour(changed_[i], centre),
                        changed_states_.data() + i * words_);
      change_neighbours(step, changed_[i]);
    }
    reevaluate_gates(step, edited_table_, edited_truth_);
    find_changed_channels(step);
    if (counts(step + 1)) count_changes(step + 1);
  }
  ++mark_;
  for (std::size_t i = 0; i < changed_.size(); ++i) {
    record_difference(steps_, value_of_neighbour(changed_[i], centre),
                      changed_states_.data() + i * words_);
  }
  std::ranges::fill(pending_, 0);  // nothing reads the last state
  return edited_errors_;
}

/// Counts the errors of the channels that differ after `step` steps in place of the stored ones.
void EditedRollout::count_changes(std::size_t step) {
  for (std::size_t i = 0; i < changed_.size(); ++i) {
    const std::size_t c = changed_[i];
    if (c >= target_channels_) continue;
    const std::uint64_t* before = stored_.data() + offset_of(step, value_of_neighbour(c, centre));
    edited_errors_ += errors_in(c, changed_states_.data() + i * words_) - errors_in(c, before);
  }
}

/// Finds the channels whose next state differs from the stored one.
void EditedRollout::find_changed_channels(std::size_t step) {
  changed_.clear();
  changed_states_.clear();
  for (std::size_t c = 0; c < channels_; ++c) {
    const bool may_change =
        differs_[outputs_[c]] == mark_ || differs_[value_of_neighbour(c, centre)] == mark_;
    if (!may_change) continue;
    next_state(step, c, scratch_.data());
    const std::uint64_t* before =
        stored_.data() + offset_of(step + 1, value_of_neighbour(c, centre));
    if (std::ranges::equal(scratch_, std::span(before, words_))) continue;
    changed_.push_back(c);
    changed_states_.insert(changed_states_.end(), scratch_.begin(), scratch_.end());
  }
}

void EditedRollout::keep() {
  tables_[edited_table_] = edited_truth_;
  errors_ = edited_errors_;
  for (const Difference& difference : differences_) {
    std::copy_n(different_.data() + difference.words, words_, stored_.data() + difference.offset);
  }
  differences_.clear();
}

}  // namespace boolgrad::automata
