// An experiment: everything that decides what a run computes, read from a TOML file.
#pragma once

#include <array>
#include <cstdint>
#include <filesystem>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "boolgrad/automata/rule.h"
#include "boolgrad/backend/options/adamw.h"
#include "boolgrad/backend/options/loss.h"
#include "boolgrad/data/binarisation.h"
#include "boolgrad/logic/head.h"
#include "boolgrad/logic/parametrisation.h"
#include "boolgrad/optim/schedule.h"
#include "boolgrad/tensor/dtype.h"
#include "boolgrad/train/learners/hardening.h"

namespace boolgrad {

struct TaskOptions {
  /// For circuits one of `boolean_task_names` or `table`; for automata `life`, `checkerboard` or
  /// `picture`; for classifiers one of `data_task_names`.
  std::string kind = "copy";
  std::int64_t bits = 8;  ///< inputs of a Boolean task
  /// For `table` a CSV file, for `picture` a PNG or a text bitmap; beside the experiment if
  /// relative.
  std::string file;
  std::int64_t outputs = 0;  ///< for `table`: how many of the last columns are outputs
  std::int64_t square = 2;   ///< for `checkerboard`: cells along the side of a square
};

/// Tasks that are learned from samples: `idx` and `cifar10` are pictures in a folder, `npy` arrays
/// in one, `csv` a file; the MONK's problems need none.
inline constexpr std::array<std::string_view, 7> data_task_names = {
    "idx", "cifar10", "npy", "csv", "monk1", "monk2", "monk3"};

/// The samples of a classifier.
struct DataOptions {
  std::string path;        ///< the folder, or for `csv` the file
  std::string target;      ///< for `csv`: the column to learn; empty for the last
  std::string categories;  ///< for `csv`: columns of names that are numbers, as in `size,month`
  double validation = 0;   ///< share of the training samples that training is judged by; 0: all
  double test = 0;         ///< for `csv`: share of the file that is kept for the test
  std::int64_t limit = 0;  ///< training samples at most; 0: all
};

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

/// The state that an automaton starts from.
enum class StartKind : std::uint8_t {
  random,  ///< every channel of every cell 0 or 1, drawn anew for every grid
  seed,    ///< the cell in the middle 1 in every channel, all others 0
};

/// An automaton, for tasks of automata. `life` has a grid, a batch and a start of its own.
struct AutomatonOptions {
  std::int64_t channels = 8;
  std::int64_t kernels = 16;
  std::vector<std::int64_t> perceive = {8, 4, 2};  ///< gates of a kernel's layers
  std::vector<std::int64_t> update = {256};        ///< gates of the layers before the last
  Border border = Border::zero;
  std::int64_t height = 16;
  std::int64_t width = 16;
  std::int64_t steps = 20;  ///< from the start to the state that is judged
  std::int64_t batch = 2;   ///< grids a training step
  StartKind start = StartKind::random;
  double fire_rate = 1;
  double training_fire_rate = 0;  ///< while training; 0: `fire_rate`
  std::int64_t loss_steps = 1;    ///< last states that the training loss is summed over
  std::int64_t extra_steps = 0;   ///< steps while training at most, beside `steps`, drawn anew
  std::int64_t pool = 0;          ///< final states kept to start from; 0: none
  std::int64_t probes = 32;       ///< fresh starts that decide whether it is solved
  std::string memory;  ///< of the backward at most, as in `200MB`; empty for the quickest
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
  double beta1 = 0.9;
  double beta2 = 0.99;
  double epsilon = 1e-8;
  double weight_decay = 0;
  double clip_value = 100;    ///< 0: no limit
  double clip_norm = 0;       ///< 0: no limit
  double gradient_noise = 0;  ///< standard deviation
  double gate_penalty = 0;    ///< of automata: loss of a gate that depends on both its inputs
  LossKind loss = LossKind::squares;
  double focal_gamma = 2;
  std::int64_t batch = 0;  ///< cases a step; 0: all
  std::int64_t log_every = 50;
  std::int64_t checkpoint_every = 500;  ///< 0: at the end only
  std::int64_t diagnose_every = 0;      ///< updates between diagnoses of the layers; 0: none
  bool stop_when_solved = true;
  // For classifiers.
  double label_smoothing = 0;
  std::int64_t shift = 0;     ///< pixels by which pictures are moved at most, drawn for every use
  std::int64_t patience = 0;  ///< lines logged without a better model after which it ends; 0: never
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

struct Experiment {
  std::string name;
  std::int64_t seed = 1;
  TaskOptions task;
  DataOptions data;
  BinariseOptions binarise;
  HeadOptions head;
  AutomatonOptions automaton;
  NetworkOptions network;
  TrainingOptions training;
  KnockoutOptions knockout;
  HardeningOptions hardening;
  CurriculumOptions curriculum;
  SearchOptions search;

  bool is_automaton() const;
  bool is_classifier() const;

  /// The step before which the knockout happens; -1 where there is none.
  std::int64_t knockout_step() const;
};

/// Reads an experiment. `overrides` are `key=value` and take effect after the text. `source` opens
/// messages, and a relative `task.file` is looked for in `folder`. An experiment without a name is
/// called `name`. Everything is checked: unknown keys, types, ranges and what must fit together.
Experiment parse_experiment(std::string_view text, const std::string& source,
                            const std::string& name, const std::filesystem::path& folder,
                            std::span<const std::string> overrides = {});

/// The same from a file, whose name without extension is the default name.
Experiment read_experiment(const std::filesystem::path& path,
                           std::span<const std::string> overrides = {});

/// `experiment` with `key=value` overrides. `source` opens messages: `--set`.
Experiment with_overrides(Experiment experiment, std::span<const std::string> overrides,
                          const std::string& source);

/// `experiment` without what only its training knows, which judging a model need not support:
/// curriculum, search, hardening, and what a training step reads beside the last state.
Experiment for_judging(Experiment experiment);

/// What the hard loss of its models is: wrong bits, wrong samples or a squared error.
std::string_view hard_loss_name(const Experiment& experiment);

/// The whole experiment, defaults included, as TOML that reads back as the same experiment.
std::string to_toml(const Experiment& experiment);

/// Every key that an experiment may have.
std::vector<std::string> experiment_keys();

/// Throws where continuing the run of experiment `saved` as `wanted` would be another run. Steps,
/// logging and stopping may differ. `source` opens the message.
void check_resumable(const Experiment& saved, const Experiment& wanted, const std::string& source);

}  // namespace boolgrad
