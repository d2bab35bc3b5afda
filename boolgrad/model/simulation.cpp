#include "boolgrad/model/simulation.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "boolgrad/automata/bit_automaton.h"
#include "boolgrad/automata/rollout.h"
#include "boolgrad/automata/simplified_automaton.h"
#include "boolgrad/backend/device/bit_automaton.h"
#include "boolgrad/core/fail.h"
#include "boolgrad/core/random.h"
#include "boolgrad/core/random_streams.h"

namespace boolgrad {

class Simulation::Engine {
 public:
  Engine() = default;
  virtual ~Engine() = default;
  Engine(const Engine&) = delete;
  Engine& operator=(const Engine&) = delete;

  /// `count` steps of all cells, or one step of the cells that fire.
  virtual void step(std::int64_t count) = 0;
  virtual void step(const BitFire& fire) = 0;
  virtual void clear(const automata::Rectangle& rectangle) = 0;
  virtual const automata::BitGrid& state() = 0;
  virtual void wait() = 0;
};

namespace {

/// The cells of a state that fire in a step.
automata::BitGrid fires_of(const automata::BitGrid& state, const BitFire& fire) {
  return automata::BitGrid::from(
      automata::fire_masks({state.batch(), state.height(), state.width(), 1}, fire.rate, fire.seed,
                           fire.stream, fire.random_step));
}

class HostEngine : public Simulation::Engine {
 public:
  HostEngine(const automata::Rule& rule, automata::BitGrid state)
      : automaton_(automata::simplified_automaton(rule)), state_(std::move(state)) {}

  void step(std::int64_t count) override {
    for (std::int64_t i = 0; i < count; ++i) automaton_.step(state_);
  }
  void step(const BitFire& fire) override {
    const automata::BitGrid fires = fires_of(state_, fire);
    automaton_.step(state_, &fires);
  }
  void clear(const automata::Rectangle& rectangle) override { state_.clear(rectangle); }
  const automata::BitGrid& state() override { return state_; }
  void wait() override {}

 private:
  automata::BitAutomaton automaton_;
  automata::BitGrid state_;
};

class DeviceEngine : public Simulation::Engine {
 public:
  DeviceEngine(const Device& device, const automata::Rule& rule, automata::BitGrid state)
      : automaton_(make_device_bit_automaton(device,
                                             automata::simplified_automaton(rule).program().code(),
                                             {state.channels(), state.batch(), state.height(),
                                              state.width(), rule.border() == Border::periodic})),
        state_(std::move(state)) {
    automaton_->upload(state_.words());
  }

  void step(std::int64_t count) override {
    automaton_->step_all(count);
    fetched_ = false;
  }
  void step(const BitFire& fire) override {
    automaton_->step_some(fire);
    fetched_ = false;
  }
  void clear(const automata::Rectangle& rectangle) override {
    automaton_->clear(rectangle.top, rectangle.left, rectangle.height, rectangle.width);
    fetched_ = false;
  }
  const automata::BitGrid& state() override {
    if (!fetched_) automaton_->download(state_.words());
    fetched_ = true;
    return state_;
  }
  void wait() override { automaton_->wait(); }

 private:
  std::unique_ptr<DeviceBitAutomaton> automaton_;
  automata::BitGrid state_;  ///< valid if `fetched_`
  bool fetched_ = true;
};

/// A strip of rows per rank, with a row of the neighbours above and below.
class StripEngine : public Simulation::Engine {
 public:
  StripEngine(const automata::Rule& rule, automata::BitGrid state, Group& group)
      : automaton_(automata::simplified_automaton(rule)),
        is_periodic_(rule.border() == Border::periodic),
        group_(group),
        whole_(std::move(state)),
        first_(first_row(group.rank())),
        rows_(first_row(group.rank() + 1) - first_),
        strip_(whole_.channels(), whole_.batch(), rows_ + 2, whole_.width()) {
    if (whole_.height() < group.size()) {
      fail("automaton", "expected a grid of a row or more for each of {} ranks, received {} rows",
           group.size(), whole_.height());
    }
    for (std::int64_t y = 0; y < rows_; ++y) copy_row(whole_, first_ + y, strip_, y + 1);
  }

  void step(std::int64_t count) override {
    for (std::int64_t i = 0; i < count; ++i) {
      exchange();
      automaton_.step(strip_);
    }
    is_gathered_ = false;
  }
  void step(const BitFire& fire) override {
    const automata::BitGrid all = fires_of(whole_, fire);
    automata::BitGrid own(1, whole_.batch(), rows_ + 2, whole_.width());
    for (std::int64_t y = 0; y < rows_; ++y) copy_row(all, first_ + y, own, y + 1);
    exchange();
    automaton_.step(strip_, &own);
    is_gathered_ = false;
  }
  void clear(const automata::Rectangle& rectangle) override {
    const std::int64_t top = std::max(rectangle.top, first_);
    const std::int64_t bottom = std::min(rectangle.top + rectangle.height, first_ + rows_);
    if (top < bottom) {
      strip_.clear({top - first_ + 1, rectangle.left, bottom - top, rectangle.width});
    }
    is_gathered_ = false;
  }
  const automata::BitGrid& state() override {
    if (is_gathered_) return whole_;
    // Strips may differ by a row: all send as many as the longest has.
    const std::int64_t most = (whole_.height() + group_.size() - 1) / group_.size();
    std::vector<std::uint64_t> own;
    for (std::int64_t y = 0; y < most; ++y) append_row(strip_, std::min(y, rows_ - 1) + 1, own);
    std::vector<std::uint64_t> all(own.size() * static_cast<std::size_t>(group_.size()));
    group_.all_gather(std::as_bytes(std::span(own)), std::as_writable_bytes(std::span(all)));
    const std::size_t row = own.size() / static_cast<std::size_t>(most);
    for (int rank = 0; rank < group_.size(); ++rank) {
      const std::int64_t begin = first_row(rank);
      for (std::int64_t y = begin; y < first_row(rank + 1); ++y) {
        const auto at = static_cast<std::size_t>(rank * most + y - begin) * row;
        set_row(std::span(all).subspan(at, row), whole_, y);
      }
    }
    is_gathered_ = true;
    return whole_;
  }
  void wait() override {}

 private:
  std::int64_t first_row(std::int64_t rank) const { return whole_.height() * rank / group_.size(); }

  /// The words of a row, of all channels and grids.
  template <class Words, class Grid, class Act>
  static void for_row(Grid& grid, std::int64_t y, Words& words, const Act& act) {
    std::size_t at = 0;
    for (std::int64_t c = 0; c < grid.channels(); ++c) {
      for (std::int64_t item = 0; item < grid.batch(); ++item) {
        const auto row = static_cast<std::size_t>(item * (grid.height() + 2) + y + 1);
        act(grid.channel(c).subspan(row * grid.row_words(), grid.row_words()), words, at);
        at += grid.row_words();
      }
    }
  }
  static void append_row(const automata::BitGrid& grid, std::int64_t y,
                         std::vector<std::uint64_t>& words) {
    for_row(grid, y, words,
            [](auto row, auto& to, std::size_t) { to.insert(to.end(), row.begin(), row.end()); });
  }
  static void set_row(std::span<const std::uint64_t> words, automata::BitGrid& grid,
                      std::int64_t y) {
    for_row(grid, y, words, [](auto row, auto& from, std::size_t at) {
      std::ranges::copy(from.subspan(at, row.size()), row.begin());
    });
  }
  static void copy_row(const automata::BitGrid& from, std::int64_t y, automata::BitGrid& to,
                       std::int64_t to_y) {
    std::vector<std::uint64_t> words;
    append_row(from, y, words);
    set_row(words, to, to_y);
  }

  /// Fetches the rows above and below the strip. Beyond the edge of a grid without a border of
  /// neighbours, they are 0.
  void exchange() {
    const int size = group_.size();
    const int above = (group_.rank() + size - 1) % size;
    const int below = (group_.rank() + 1) % size;
    fetch(rows_, below, 0, above, !is_periodic_ && group_.is_first());
    fetch(1, above, rows_ + 1, below, !is_periodic_ && below == 0);
  }
  /// Sends row `own` of the strip to a rank, and sets row `other` to that of another one.
  void fetch(std::int64_t own, int to, std::int64_t other, int from, bool is_edge) {
    std::vector<std::uint64_t> sent;
    append_row(strip_, own, sent);
    std::vector<std::uint64_t> received(sent.size());
    group_.send_receive(std::as_bytes(std::span(sent)), to,
                        std::as_writable_bytes(std::span(received)), from);
    if (is_edge) std::ranges::fill(received, std::uint64_t{0});
    set_row(received, strip_, other);
  }

  automata::BitAutomaton automaton_;
  bool is_periodic_;
  Group& group_;
  automata::BitGrid whole_;  ///< valid if `is_gathered_`
  std::int64_t first_;       ///< the rows of this rank
  std::int64_t rows_;
  automata::BitGrid strip_;  ///< these rows, and one of each neighbour
  bool is_gathered_ = true;
};

std::unique_ptr<Simulation::Engine> make_engine(const automata::Rule& rule, const Tensor& starts,
                                                const Device& device, Group& group) {
  automata::BitGrid state = automata::BitGrid::from(starts);
  if (state.channels() != rule.channels()) {
    fail("automaton", "expected a state of {} channels, received {}", rule.channels(),
         state.channels());
  }
  automata::check_grid(rule.border(), state.height(), state.width());
  if (group.size() > 1) {
    if (!device.is_cpu()) {
      fail("automaton", "expected cpu for a grid that ranks share, received {}", to_string(device));
    }
    return std::make_unique<StripEngine>(rule, std::move(state), group);
  }
  if (device.is_cpu()) return std::make_unique<HostEngine>(rule, std::move(state));
  return std::make_unique<DeviceEngine>(device, rule, std::move(state));
}

}  // namespace

void check_rectangle(const automata::Rectangle& rectangle, std::int64_t height,
                     std::int64_t width) {
  const bool inside = rectangle.top >= 0 && rectangle.left >= 0 && rectangle.height > 0 &&
                      rectangle.width > 0 && rectangle.top + rectangle.height <= height &&
                      rectangle.left + rectangle.width <= width;
  if (!inside) {
    fail("damage", "expected a rectangle inside {}x{} cells, received {}x{} at row {}, column {}",
         height, width, rectangle.height, rectangle.width, rectangle.top, rectangle.left);
  }
}

Simulation::Simulation(const automata::Rule& rule, const Tensor& starts,
                       const SimulationOptions& options)
    : options_(options),
      engine_(make_engine(rule, starts, options.device, *options.group)),
      height_(state().height()),
      width_(state().width()) {
  for (const Damage& damage : options.damage) check_rectangle(damage.rectangle, height_, width_);
  apply_damage();
}
Simulation::~Simulation() = default;

void Simulation::step(std::int64_t count) {
  while (count > 0) {
    const std::int64_t taken = options_.fire_rate < 1 ? 1 : steps_to_damage(count);
    if (options_.fire_rate < 1) {
      engine_->step(
          {options_.fire_rate, options_.seed, fire_stream, static_cast<std::uint32_t>(steps_)});
    } else {
      engine_->step(taken);
    }
    steps_ += taken;
    count -= taken;
    apply_damage();
  }
}

std::int64_t Simulation::steps_to_damage(std::int64_t max) const {
  if (options_.reset > 0) return 1;
  for (const Damage& damage : options_.damage) {
    if (damage.last <= steps_) continue;
    max = std::min(max, std::max<std::int64_t>(1, damage.first - steps_));
  }
  return max;
}

void Simulation::wait() const { engine_->wait(); }

const automata::BitGrid& Simulation::state() const { return engine_->state(); }

void Simulation::apply_damage() {
  damaged_.clear();
  for (const Damage& damage : options_.damage) {
    if (damage.first <= steps_ && steps_ <= damage.last) damaged_.push_back(damage.rectangle);
  }
  if (options_.reset > 0 && steps_ > 0) {
    const auto position = [&](std::int64_t side, std::uint64_t axis) {
      const auto range = static_cast<std::uint64_t>(side - options_.reset + 1);
      return static_cast<std::int64_t>(random_below({.seed = options_.seed,
                                                     .stream = damage_stream,
                                                     .step = static_cast<std::uint32_t>(steps_),
                                                     .index = axis},
                                                    range));
    };
    damaged_.push_back({position(height_, 0), position(width_, 1), options_.reset, options_.reset});
  }
  for (const automata::Rectangle& rectangle : damaged_) engine_->clear(rectangle);
}

}  // namespace boolgrad
