// An experiment: everything that decides what a run computes, read from a TOML file.
#pragma once

#include <algorithm>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "boolgrad/data/binarisation.h"
#include "boolgrad/logic/convolution.h"
#include "boolgrad/logic/hardening.h"
#include "boolgrad/logic/head.h"
#include "boolgrad/logic/parametrisation.h"
#include "boolgrad/model/spec.h"
#include "boolgrad/optim/schedule.h"
#include "boolgrad/options/adamw.h"
#include "boolgrad/options/wire_forward.h"
#include "boolgrad/tensor/dtype.h"

namespace boolgrad::train {

struct BinariseOptions {
  data::BinarisationOptions thresholds;
  bool learn = false;  ///< train the thresholds too
  double width = 0.1;  ///< of the surrogate sigmoid, as a share of the feature's range
};

struct HeadOptions {
  HeadKind kind = HeadKind::classes;
  /// Choose regression if the target of a CSV file is a number with many values, else classes.
  bool is_automatic = false;
  /// Gates of the last layer, rounded up to a multiple of the number of groups.
  std::int64_t outputs = 1000;
  double temperature = 10;
  /// For `classes`: keeps the standard deviation of sums / temperature near 4 times this number. 0:
  /// the temperature is fixed.
  double temperature_target = 0;
  HeadWeights weights = HeadWeights::ones;
  std::int64_t max_exponent = 3;  ///< for `powers`: of the largest weight

  /// The largest exponent of trained weights; 0 if they are not trained.
  std::int64_t trained_exponent() const {
    return weights == HeadWeights::powers ? max_exponent : 0;
  }
};

/// Settings of training rollouts that differ from the automaton's own.
struct RolloutTraining {
  double fire_rate = 0;          ///< 0: the automaton's own
  std::int64_t loss_steps = 1;   ///< number of final states that the loss is summed over
  std::int64_t extra_steps = 0;  ///< maximum number of added steps, sampled for every update
  std::int64_t pool = 0;         ///< size of the pool of final states to start from; 0: none
  std::string memory;  ///< limit of the backward pass: `200MB`; empty for the fastest policy
};

enum class WiringKind : std::uint8_t { random, unique, local, butterfly, window };
std::string_view to_string(WiringKind kind);
// The names of shapes and dtypes, which the function above would hide.
using boolgrad::to_string;

/// How candidates of learned wires are replaced during training.
enum class RedrawKind : std::uint8_t {
  gradient,  ///< the least probable ones, by the sources with the most negative gradients
  random,    ///< those of settled and undecided slots, by random sources
};

struct InitialCircuit;

struct NetworkOptions {
  Parametrisation parametrisation = Parametrisation::sigmoid;
  DType dtype = DType::float32;
  /// Gates per hidden layer. The output layer is added.
  std::vector<std::int64_t> hidden;
  /// Inputs per gate: one value for all layers, or one per layer, output layer included.
  std::vector<std::int64_t> arity = {2};
  /// Number of consecutive gates that share wires: one value, or one per layer.
  std::vector<std::int64_t> group_size = {1};
  WiringKind wiring = WiringKind::random;
  double wiring_noise = 1;  ///< for `local`, in inputs
  std::int64_t window = 5;  ///< for `window`: side of the window in pixels, for the first layer
  /// Candidate sources per gate input: one value, or one per layer. 1: wires are fixed, 0: all.
  std::vector<std::int64_t> candidates = {1};
  // For learned wires.
  WireForward wire_forward = WireForward::hard;
  double wire_init_strength = 1;      ///< standard deviation of the initial wire logits
  double wire_temperature = 1;        ///< divides the wire logits at the start of training
  double final_wire_temperature = 1;  ///< and at its end; geometric in between
  std::int64_t redraw_every = 0;      ///< steps between redraws of candidates; 0: never
  RedrawKind redraw = RedrawKind::gradient;
  double redraw_share = 0.5;  ///< for `gradient`: share of the candidates that is replaced
  double redraw_until = 0.8;  ///< the last redraw, as a share of the run
  double redraw_keep = 0.95;  ///< for `random`: probability above which only the best one is kept
  double redraw_below = 0;    ///< for `random`: probability of the best below which all are redrawn
  logic::Initialisation init = logic::Initialisation::gaussian;
  double init_strength = 1;
  /// A file with a circuit, a model or the folder of a run that the network starts from; or empty.
  std::string init_circuit;
  double init_circuit_strength = 6;  ///< logit of the entries of its tables
  /// The circuit of `init_circuit`, once it is read. Not part of the TOML.
  std::shared_ptr<const InitialCircuit> circuit = {};
  /// Whether `hidden` was given together with `init_circuit`, so that it must not grow. Not part of
  /// the TOML.
  bool hidden_is_fixed = false;
  /// Factor of the gradient that a layer passes to its inputs.
  double gradient_factor = 1;

  /// Whether the wires of a layer are learned.
  bool learns_wires() const {
    return std::ranges::any_of(candidates, [](std::int64_t count) { return count != 1; });
  }
};

/// The convolutions of an image classifier, before the layers of its network. Lists have one value
/// for all convolutions, or one per convolution.
struct ConvolutionStack {
  std::vector<std::int64_t> kernels;  ///< one per convolution; empty: none
  std::vector<std::int64_t> window = {3};
  std::vector<std::int64_t> stride = {1};
  std::vector<std::int64_t> padding = {0};
  std::vector<std::int64_t> depth = {3};
  std::vector<std::int64_t> arity = {2};
  std::vector<std::int64_t> channels_per_kernel = {2};
  std::vector<std::int64_t> groups = {1};
  std::vector<std::int64_t> pool = {2};
  /// Candidate places per leaf, of which one is learned. 1: places are fixed.
  std::vector<std::int64_t> candidates = {1};

  /// Number of convolutions.
  std::size_t size() const { return kernels.size(); }
  /// The shape of one convolution.
  logic::ConvolutionOptions at(std::size_t index) const;
  /// Candidate places per leaf of one convolution.
  std::int64_t candidates_at(std::size_t index) const;
};

/// Random transforms of images, sampled at every use.
struct AugmentationOptions {
  std::int64_t max_shift = 0;  ///< in pixels
  double max_rotation = 0;     ///< in degrees
  double max_scale = 0;        ///< scales are between 1 / (1 + max_scale) and 1 + max_scale
  bool flip = false;           ///< exchange left and right in half of the images
  std::int64_t cutout = 0;     ///< side of a square of zeros, in pixels; 0: none

  /// Whether there are other transforms than shifts.
  bool more_than_shifts() const { return max_rotation > 0 || max_scale > 0 || flip || cutout > 0; }
};

/// Distillation: the loss has a second part, the cross-entropy against the classes of a teacher.
struct TeacherOptions {
  std::string path;     ///< NPY file of scores, [samples of the training file, classes]; or empty
  double weight = 0.5;  ///< of the second part; the labels have the rest
  double temperature = 1;  ///< divides the scores before the softmax
};

struct TrainingOptions {
  std::int64_t steps = 1000;
  /// For classifiers: passes over the training samples, instead of `steps`.
  std::int64_t epochs = 0;
  double learning_rate = 0.05;
  ScheduleKind schedule = ScheduleKind::constant;
  std::int64_t warmup_steps = 0;
  double final_learning_rate_factor = 0.01;      ///< at the end of the schedule
  AdamWOptions optimiser = {.clip_value = 100};  ///< its seed is the experiment's
  double gate_penalty = 0;                       ///< weight of `logic::two_input_gates` in the loss
  std::int64_t batch = 0;                        ///< samples per step; 0: all
  /// Parts of a batch whose gradients are computed one by one and summed in a fixed order, so that
  /// ranks can share them: a power of two.
  std::int64_t blocks = 1;
  std::int64_t log_every = 50;
  std::int64_t checkpoint_every = 500;  ///< 0: at the end only
  std::int64_t diagnose_every = 0;      ///< updates between per-layer diagnostics; 0: none
  bool stop_when_solved = true;
  // For classifiers.
  double label_smoothing = 0;
  AugmentationOptions augmentation;
  TeacherOptions teacher;
  std::int64_t patience = 0;  ///< stop after so many log lines without a better model; 0: never
};

struct HardeningOptions {
  HardeningKind kind = HardeningKind::none;
  double threshold = 0.01;   ///< mean loss per output bit below which hardening progresses
  std::int64_t steps = 250;  ///< from all soft to all hard if the loss stays below the threshold
  double learning_rate_factor = 0.2;  ///< factor of the learning rate when all is hard
  double temperature = 0.1;           ///< for `temperature`: its final value
  double noise = 1;                   ///< for `noise`: its final amplitude
  /// Saturate the logits of a solved model, so that its soft tables equal its hard ones.
  bool saturate = false;
};

/// Stages with other sizes than the automaton's own: stage i lasts until update `until[i]`. A list
/// has one value per stage, or is empty if that size does not change.
struct CurriculumOptions {
  std::vector<std::int64_t> until;
  std::vector<std::int64_t> height;
  std::vector<std::int64_t> width;
  std::vector<std::int64_t> steps;
  std::vector<std::int64_t> batch;
};

/// What a stuck run restarts from.
enum class RestartKind : std::uint8_t {
  none,   ///< no restart
  fresh,  ///< new wires and a new initialisation
  best,   ///< its best hardened model so far, with zero moments
};

/// Search that complements gradient descent.
struct SearchOptions {
  std::int64_t members = 1;  ///< initialisations trained in parallel
  std::int64_t until = 0;    ///< updates after which only the best member continues; 0: all do
  RestartKind restart = RestartKind::none;
  std::int64_t patience = 500;    ///< updates without a better hardened model before a restart
  std::int64_t every = 10;        ///< updates between evaluations of the hardened model
  bool keep_best = false;         ///< save the best evaluated model instead of the last
  std::int64_t local_search = 0;  ///< table entries that it tries; 0: no local search
  std::int64_t local_search_random_moves = 0;  ///< random changes that follow
  std::int64_t local_search_every = 50;        ///< updates between local searches
  double local_search_max_error = 0.02;        ///< maximum bit error rate for a local search
};

enum class KnockoutPattern : std::uint8_t { none, random, list, layer, block };

struct KnockoutOptions {
  KnockoutPattern pattern = KnockoutPattern::none;
  double share = 0.1;               ///< for `random`: share of every hidden layer
  std::int64_t layer = 1;           ///< for other patterns: 1 is the first layer, 0 the inputs
  std::vector<std::int64_t> gates;  ///< for `list`
  std::int64_t first = 0;           ///< for `block`
  std::int64_t count = 0;           ///< for `block`
  double at = 0.5;                  ///< when, as a share of the run
  std::int64_t seed = -1;           ///< -1: the run's
};

struct Experiment : ModelSpec {
  BinariseOptions binarise;
  HeadOptions head;
  ConvolutionStack convolution;
  NetworkOptions network;
  RolloutTraining rollout;
  TrainingOptions training;
  KnockoutOptions knockout;
  HardeningOptions hardening;
  CurriculumOptions curriculum;
  SearchOptions search;

  /// Whether the wires of a layer, or the places that a convolution reads, are learned.
  bool learns_wires() const;
  /// Whether the temperature of the head changes during training.
  bool adapts_temperature() const {
    return is_classifier() && head.kind == HeadKind::classes && head.temperature_target > 0;
  }
  /// The step before which the knockout happens; -1 if there is none.
  std::int64_t knockout_step() const;
};

/// Reads an experiment. `overrides` are `key=value` and take effect after the text. Error messages
/// start with `source`. Relative paths of files are relative to `folder`. An experiment without a
/// name is called `name`. Everything is checked: unknown keys, types, ranges and combinations.
/// Throws for an override that this kind of experiment does not use. Accepts old names of renamed
/// keys.
Experiment parse_experiment(std::string_view text, const std::string& source,
                            const std::string& name, const std::filesystem::path& folder,
                            std::span<const std::string> overrides = {});

/// The same from a file, whose name without extension is the default name. `notices` receives a
/// line for every key that has no effect and for every old name of a key.
Experiment read_experiment(const std::filesystem::path& path,
                           std::span<const std::string> overrides = {},
                           std::vector<std::string>* notices = nullptr);

/// `experiment` with `key=value` overrides. Error messages start with `source`, such as `--set`.
Experiment with_overrides(Experiment experiment, std::span<const std::string> overrides,
                          const std::string& source);

/// A line for every `key=value` override that uses an old name: `binarise.levels is now
/// binarise.thresholds`.
std::vector<std::string> rename_notices(std::span<const std::string> overrides);

/// The reason why `key` has no effect in `experiment`: `training.max_shift has no effect on a
/// circuit`. Empty if it has an effect.
std::string why_no_effect(const Experiment& experiment, std::string_view key);

/// What the hard loss counts: bit errors, errors, or a squared error.
std::string_view hard_loss_name(const Experiment& experiment);

/// The whole experiment as TOML, defaults included. Reading it gives the same experiment.
std::string to_toml(const Experiment& experiment);

/// The first line in which two different experiments differ, as `to_toml` writes them:
/// `training.steps = 100` and `training.steps = 200`.
std::pair<std::string, std::string> first_difference(const std::string& a, const std::string& b);

/// All keys of experiments, by their present names.
std::vector<std::string> experiment_keys();

/// Throws if a run of `saved` cannot be continued as `wanted`. Settings of length, logging and
/// stopping may differ. Error messages start with `source`.
void check_resumable(const Experiment& saved, const Experiment& wanted, const std::string& source);

}  // namespace boolgrad::train
