#include "boolgrad/model/simulation.h"

#include <algorithm>
#include <utility>

#include "boolgrad/automata/bit_automaton.h"
#include "boolgrad/automata/rollout.h"
#include "boolgrad/automata/simplified_automaton.h"
#include "boolgrad/backend/device/bit_automaton.h"
#include "boolgrad/core/error.h"
#include "boolgrad/core/random.h"
#include "boolgrad/core/random_streams.h"

namespace boolgrad {

class Simulation::Place {
 public:
  Place() = default;
  virtual ~Place() = default;
  Place(const Place&) = delete;
  Place& operator=(const Place&) = delete;

  /// `count` steps of all cells, and one of those that fire.
  virtual void step(std::int64_t count) = 0;
  virtual void step(const BitFire& fire) = 0;
  virtual void clear(const Rectangle& rectangle) = 0;
  virtual const BitGrid& state() = 0;
  virtual void wait() = 0;
};

namespace {

class OnHost : public Simulation::Place {
 public:
  OnHost(const Rule& rule, BitGrid state)
      : automaton_(simplified_automaton(rule)), state_(std::move(state)) {}

  void step(std::int64_t count) override {
    for (std::int64_t i = 0; i < count; ++i) automaton_.step(state_);
  }
  void step(const BitFire& fire) override {
    const RolloutSize size{state_.batch(), state_.height(), state_.width(), 1};
    const BitGrid fires =
        BitGrid::from(fire_masks(size, fire.rate, fire.seed, fire.stream, fire.draw));
    automaton_.step(state_, &fires);
  }
  void clear(const Rectangle& rectangle) override { state_.clear(rectangle); }
  const BitGrid& state() override { return state_; }
  void wait() override {}

 private:
  BitAutomaton automaton_;
  BitGrid state_;
};

class OnDevice : public Simulation::Place {
 public:
  OnDevice(const Device& device, const Rule& rule, BitGrid state)
      : automaton_(make_device_bit_automaton(device, simplified_automaton(rule).program().code(),
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
  void clear(const Rectangle& rectangle) override {
    automaton_->clear(rectangle.top, rectangle.left, rectangle.height, rectangle.width);
    fetched_ = false;
  }
  const BitGrid& state() override {
    if (!fetched_) automaton_->download(state_.words());
    fetched_ = true;
    return state_;
  }
  void wait() override { automaton_->wait(); }

 private:
  std::unique_ptr<DeviceBitAutomaton> automaton_;
  BitGrid state_;  ///< as it was when it was fetched
  bool fetched_ = true;
};

std::unique_ptr<Simulation::Place> place_for(const Rule& rule, const Tensor& starts,
                                             const Device& device) {
  BitGrid state = BitGrid::from(starts);
  if (state.channels() != rule.channels()) {
    fail("automaton", "expected a state of {} channels, received {}", rule.channels(),
         state.channels());
  }
  check_grid(rule.border(), state.height(), state.width());
  if (device.is_cpu()) return std::make_unique<OnHost>(rule, std::move(state));
  return std::make_unique<OnDevice>(device, rule, std::move(state));
}

}  // namespace

void check_rectangle(const Rectangle& rectangle, std::int64_t height, std::int64_t width) {
  const bool inside = rectangle.top >= 0 && rectangle.left >= 0 && rectangle.height > 0 &&
                      rectangle.width > 0 && rectangle.top + rectangle.height <= height &&
                      rectangle.left + rectangle.width <= width;
  if (!inside) {
    fail("damage",
         "expected a rectangle inside of {}x{} cells, received {}x{} at row {}, column {}", height,
         width, rectangle.height, rectangle.width, rectangle.top, rectangle.left);
  }
}

Simulation::Simulation(const Rule& rule, const Tensor& starts, const SimulationOptions& options)
    : options_(options),
      place_(place_for(rule, starts, options.device)),
      height_(state().height()),
      width_(state().width()) {
  for (const Damage& damage : options.damage) check_rectangle(damage.rectangle, height_, width_);
  strike();
}
Simulation::~Simulation() = default;

void Simulation::step(std::int64_t count) {
  while (count > 0) {
    const std::int64_t quiet = options_.fire_rate < 1 ? 1 : quiet_steps(count);
    if (options_.fire_rate < 1) {
      place_->step(
          {options_.fire_rate, options_.seed, fire_stream, static_cast<std::uint32_t>(steps_)});
    } else {
      place_->step(quiet);
    }
    steps_ += quiet;
    count -= quiet;
    strike();
  }
}

std::int64_t Simulation::quiet_steps(std::int64_t most) const {
  if (options_.reset > 0) return 1;
  for (const Damage& damage : options_.damage) {
    if (damage.last <= steps_) continue;
    most = std::min(most, std::max<std::int64_t>(1, damage.first - steps_));
  }
  return most;
}

void Simulation::wait() const { place_->wait(); }

const BitGrid& Simulation::state() const { return place_->state(); }

void Simulation::strike() {
  struck_.clear();
  for (const Damage& damage : options_.damage) {
    if (damage.first <= steps_ && steps_ <= damage.last) struck_.push_back(damage.rectangle);
  }
  if (options_.reset > 0 && steps_ > 0) {
    const auto somewhere = [&](std::int64_t side, std::uint64_t axis) {
      const auto room = static_cast<std::uint64_t>(side - options_.reset + 1);
      return static_cast<std::int64_t>(random_below({.seed = options_.seed,
                                                     .stream = damage_stream,
                                                     .step = static_cast<std::uint32_t>(steps_),
                                                     .index = axis},
                                                    room));
    };
    struck_.push_back(
        {somewhere(height_, 0), somewhere(width_, 1), options_.reset, options_.reset});
  }
  for (const Rectangle& rectangle : struck_) place_->clear(rectangle);
}

}  // namespace boolgrad
