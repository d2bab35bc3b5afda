#include "boolgrad/train/simulation.h"

#include "boolgrad/automata/rollout.h"
#include "boolgrad/core/error.h"
#include "boolgrad/core/random.h"
#include "boolgrad/train/streams.h"

namespace boolgrad {

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
    : options_(options), automaton_(rule), state_(BitGrid::from(starts)) {
  check_grid(rule.border(), state_.height(), state_.width());
  for (const Damage& damage : options.damage) {
    check_rectangle(damage.rectangle, state_.height(), state_.width());
  }
  strike();
}

void Simulation::step() {
  if (options_.fire_rate < 1) {
    const RolloutSize size{state_.batch(), state_.height(), state_.width(), 1};
    const BitGrid fire = BitGrid::from(fire_masks(size, options_.fire_rate, options_.seed,
                                                  fire_stream, static_cast<std::uint32_t>(steps_)));
    automaton_.step(state_, &fire);
  } else {
    automaton_.step(state_);
  }
  ++steps_;
  strike();
}

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
    struck_.push_back({somewhere(state_.height(), 0), somewhere(state_.width(), 1), options_.reset,
                       options_.reset});
  }
  for (const Rectangle& rectangle : struck_) state_.clear(rectangle);
}

}  // namespace boolgrad
