// Runs of hardened automata on grids of any size: what `boolgrad run` and Python do.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "boolgrad/automata/bit_grid.h"
#include "boolgrad/automata/rule.h"
#include "boolgrad/circuit/formats/verilog.h"
#include "boolgrad/model/model.h"
#include "boolgrad/model/simulation.h"
#include "boolgrad/model/spec.h"

namespace boolgrad {

using circuit::GridSize;

/// The rule of a model from file `path`. Throws for a circuit, and for a rule that does not fit its
/// specification. Error messages start with `where`.
const automata::Rule& automaton_of(const LoadedModel& loaded, std::string_view where,
                                   const std::string& path);

/// The default grid to run an automaton on: that of its training, or 64x64 for a rule, which is
/// learned on 3x3 cells.
GridSize default_size(const ModelSpec& spec);

/// As many steps as in training. A larger grid that starts from noise gets more, since order has to
/// spread further.
std::int64_t default_steps(const ModelSpec& spec, const GridSize& size);

/// The largest number of steps of a playback.
inline constexpr std::int64_t max_playback_steps = 1'000'000'000;

/// What to run. Fields without a value are those of the experiment.
struct PlaybackOptions {
  std::optional<GridSize> size = {};
  std::optional<std::int64_t> steps = {};
  std::optional<double> fire_rate = {};
  std::optional<std::uint64_t> seed = {};  ///< of random starts and fire masks
  std::vector<Damage> damage = {};
  /// The state to start from, [channels, grids, height, width]; undefined for a start as in
  /// training. It determines the size.
  Tensor start = {};
  Device device = {};
  Group* group = &single_process();  ///< ranks that share the grid
};

/// A run that has been checked.
struct Playback {
  ModelSpec spec;
  automata::Rule rule;
  GridSize size;
  std::int64_t steps = 0;
  Tensor start;  ///< [channels, grids, height, width]
  SimulationOptions options;
  Tensor target = {};              ///< uint8 [channels, 1, height, width]; undefined if none
  std::string why_no_target = {};  ///< if it is not available
  std::int64_t channels = 1;       ///< to show
};

/// Checks what to run. The model comes from file `path`; messages about it start with `where`.
Playback make_playback(const LoadedModel& loaded, const PlaybackOptions& options,
                       std::string_view where, const std::string& path);

/// Receives states of a playback.
class FrameSink {
 public:
  FrameSink() = default;
  virtual ~FrameSink() = default;
  FrameSink(const FrameSink&) = delete;
  FrameSink& operator=(const FrameSink&) = delete;

  /// Whether any state is wanted.
  virtual bool is_active() const { return true; }
  /// Whether the state after `step` steps is wanted. After damage, it is `notable`.
  virtual bool wants(std::int64_t step, bool notable) const = 0;
  virtual void add(std::int64_t step, const automata::BitGrid& state) = 0;
};

struct PlaybackResult {
  automata::BitGrid last;                       ///< the last state
  double seconds = 0;                           ///< time of the steps only
  std::optional<std::int64_t> bit_errors = {};  ///< of the last state; none without a target
};

/// Runs the automaton. `sink` may be null.
PlaybackResult play(const Playback& playback, FrameSink* sink);

}  // namespace boolgrad
