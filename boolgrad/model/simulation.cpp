#include "boolgrad/model/simulation.h"

#include <algorithm>
#include <utility>

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

class HostEngine : public Simulation::Engine {
 public:
  HostEngine(const automata::Rule& rule, automata::BitGrid state)
      : automaton_(automata::simplified_automaton(rule)), state_(std::move(state)) {}

  void step(std::int64_t count) override {
    for (std::int64_t i = 0; i < count; ++i) automaton_.step(state_);
  }
  void step(const BitFire& fire) override {
    const automata::RolloutSize size{state_.batch(), state_.height(), state_.width(), 1};
    const automata::BitGrid fires = automata::BitGrid::from(
        automata::fire_masks(size, fire.rate, fire.seed, fire.stream, fire.random_step));
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

std::unique_ptr<Simulation::Engine> make_engine(const automata::Rule& rule, const Tensor& starts,
                                                const Device& device) {
  automata::BitGrid state = automata::BitGrid::from(starts);
  if (state.channels() != rule.channels()) {
    fail("automaton", "expected a state of {} channels, received {}", rule.channels(),
         state.channels());
  }
  automata::check_grid(rule.border(), state.height(), state.width());
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
      engine_(make_engine(rule, starts, options.device)),
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
