// An experiment: everything that decides what a run computes, read from a TOML file.
#pragma once

#include <cstdint>
#include <filesystem>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "boolgrad/backend/options/adamw.h"
#include "boolgrad/data/binarisation.h"
#include "boolgrad/logic/hardening.h"
#include "boolgrad/logic/head.h"
#include "boolgrad/logic/parametrisation.h"
#include "boolgrad/model/spec.h"
#include "boolgrad/optim/schedule.h"
#include "boolgrad/tensor/dtype.h"

namespace boolgrad {

struct BinariseOptions {
  BinarisationOptions levels;
  bool learn = false;  ///< move the levels too
  double width = 0.1;  ///< of the sigmoid that their gradient is taken from, in ranges
};

struct HeadOptions {
  HeadKind kind = HeadKind::classes;
  /// Gates of the last layer, rounded up to a multiple of the classes.
  std::int64_t outputs = 1000;
  double temperature = 10;
};

/// How training rolls an automaton out, where that differs from how it is used.
struct RolloutTraining {
  double fire_rate = 0;          ///< 0: the automaton's own
  std::int64_t loss_steps = 1;   ///< last states that the training loss is summed over
  std::int64_t extra_steps = 0;  ///< more steps at most, drawn for every training step
  std::int64_t pool = 0;         ///< final states kept to start from; 0: none
  std::string memory;  ///< of the backward pass at most, as in `200MB`; empty for the fastest
};

enum class WiringKind : std::uint8_t { random, unique, local };

struct NetworkOptions {
  Parametrisation parametrisation = Parametrisation::sigmoid;
  DType dtype = DType::float32;
  /// Gates of the hidden layers. A layer of the task's outputs follows.
  std::vector<std::int64_t> hidden;
  /// Inputs of a gate: one number for all layers, or one a layer with the last for the outputs.
  std::vector<std::int64_t> arity = {2};
  /// Gates that share wires, in the same two forms.
  std::vector<std::int64_t> group_size = {1};
  WiringKind wiring = WiringKind::random;
  double wiring_noise = 1;  ///< of `local`, in inputs
  Initialisation init = Initialisation::gaussian;
  double init_strength = 1;
  /// What gradients are multiplied by on their way from a layer's outputs to its inputs.
  double gradient_factor = 1;
};

struct TrainingOptions {
  std::int64_t steps = 1000;
  /// For classifiers: passes over the training samples, in place of steps.
  std::int64_t epochs = 0;
  double learning_rate = 0.05;
  ScheduleKind schedule = ScheduleKind::constant;
  std::int64_t warm_up = 0;
  double final_share = 0.01;  ///< of the learning rate, at the end of the schedule
  AdamWOptions optimiser = {.clip_value = 100};  ///< its seed is the experiment's
  double gate_penalty = 0;  ///< of automata: loss of a gate that depends on both its inputs
  std::int64_t batch = 0;   ///< samples per step; 0: all
  std::int64_t log_every = 50;
  std::int64_t checkpoint_every = 500;  ///< 0: at the end only
  std::int64_t diagnose_every = 0;      ///< updates between diagnoses of the layers; 0: none
  bool stop_when_solved = true;
  // For classifiers.
  double label_smoothing = 0;
  std::int64_t shift = 0;     ///< pixels by which pictures are moved at most, drawn for every use
  std::int64_t patience = 0;  ///< lines logged without a better model after which it ends; 0: never
};

struct HardeningOptions {
  HardeningKind kind = HardeningKind::none;
  double threshold = 0.01;   ///< mean loss per output bit below which hardening goes on
  std::int64_t steps = 250;  ///< from all soft to all hard when nothing holds it up
  double rate_share = 0.2;  ///< learning rate when all is hard, as a share of that when all is soft
  double temperature = 0.1;  ///< of `temperature` when all is hard
  double noise = 1;          ///< of `noise`: how much of it when all is hard
  /// Whether the model that a run ends with, once solved, has soft tables that are its hard ones.
  bool seal = false;
};

/// Stages of an automaton that come before its own sizes: stage i lasts until update `until[i]`.
/// Each list has a value a stage, or none where that size is the automaton's own from the start.
struct CurriculumOptions {
  std::vector<std::int64_t> until;
  std::vector<std::int64_t> height;
  std::vector<std::int64_t> width;
  std::vector<std::int64_t> steps;
  std::vector<std::int64_t> batch;
};

/// Where a run goes on from when it is stuck.
enum class RestartKind : std::uint8_t {
  none,   ///< where it is
  fresh,  ///< other wires and initial values
  best,   ///< the best hardened model that was seen, with moments of zero
};

/// What a run does beside following the gradient.
struct SearchOptions {
  std::int64_t members = 1;  ///< seeds trained side by side
  std::int64_t until = 0;    ///< updates after which the best of them goes on alone; 0: none
  RestartKind restart = RestartKind::none;
  std::int64_t patience = 500;    ///< updates without a better hardened model before a restart
  std::int64_t every = 10;        ///< updates between looks at the hardened model
  bool keep_best = false;         ///< whether a run ends with the best model seen, not the last
  std::int64_t refit = 0;         ///< alternatives that a refit tries; 0: none
  std::int64_t refit_walk = 0;    ///< random changes it then tries, kept where they do no harm
  std::int64_t refit_every = 50;  ///< updates between refits
  double refit_below = 0.02;      ///< share of wrong bits up to which it is tried
};

enum class KnockoutPattern : std::uint8_t { none, random, list, layer, block };

struct KnockoutOptions {
  KnockoutPattern pattern = KnockoutPattern::none;
  double share = 0.1;               ///< of `random`, in every hidden layer
  std::int64_t layer = 1;           ///< of the other patterns: 1 is the first, 0 are the inputs
  std::vector<std::int64_t> gates;  ///< of `list`
  std::int64_t first = 0;           ///< of `block`
  std::int64_t count = 0;           ///< of `block`
  double at = 0.5;                  ///< when, as a share of the run
  std::int64_t seed = -1;           ///< -1: the run's
};

struct Experiment : ModelSpec {
  BinariseOptions binarise;
  HeadOptions head;
  NetworkOptions network;
  RolloutTraining rollout;
  TrainingOptions training;
  KnockoutOptions knockout;
  HardeningOptions hardening;
  CurriculumOptions curriculum;
  SearchOptions search;

  /// The step before which the knockout happens; -1 where there is none.
  std::int64_t knockout_step() const;
};

/// Reads an experiment. `overrides` are `key=value` and take effect after the text. `source` opens
/// messages, and a relative `task.file` is looked for in `folder`. An experiment without a name is
/// called `name`. Everything is checked: unknown keys, types, ranges and what must fit together.
/// Overrides that the kind of experiment does not read are refused.
Experiment parse_experiment(std::string_view text, const std::string& source,
                            const std::string& name, const std::filesystem::path& folder,
                            std::span<const std::string> overrides = {});

/// The same from a file, whose name without extension is the default name. `notices` gets a line
/// for every key in the file or the overrides that has no effect.
Experiment read_experiment(const std::filesystem::path& path,
                           std::span<const std::string> overrides = {},
                           std::vector<std::string>* notices = nullptr);

/// `experiment` with `key=value` overrides. `source` opens messages: `--set`.
Experiment with_overrides(Experiment experiment, std::span<const std::string> overrides,
                          const std::string& source);

/// Why setting `key` changes nothing in `experiment`: `training.shift has no effect on a circuit`;
/// empty where it does.
std::string why_no_effect(const Experiment& experiment, std::string_view key);

/// What the hard loss of its models is: wrong bits, errors or a squared error.
std::string_view hard_loss_name(const Experiment& experiment);

/// The whole experiment, defaults included, as TOML that reads back as the same experiment.
std::string to_toml(const Experiment& experiment);

/// Every key that an experiment may have.
std::vector<std::string> experiment_keys();

/// Throws where continuing the run of experiment `saved` as `wanted` would be another run. Steps,
/// logging and stopping may differ. `source` opens the message.
void check_resumable(const Experiment& saved, const Experiment& wanted, const std::string& source);

}  // namespace boolgrad
