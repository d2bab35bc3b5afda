#include "boolgrad/train/experiment/experiment_keys.h"

#include <algorithm>

#include "boolgrad/core/fail.h"

namespace boolgrad::train {
namespace {

/// A key of the model's specification.
ExperimentKey spec(std::string_view path) {
  const auto& keys = model_spec_keys();
  const auto found = std::ranges::find(keys, path, &SpecKey<ModelSpec>::path);
  if (found == keys.end()) fail("experiment", "unknown key of models: {}", path);
  return {found->path, found->expected, found->read, found->write};
}

/// The kind of head by name, or `auto`.
ExperimentKey head_kind() {
  using K = SpecKeys<Experiment>;
  constexpr std::string_view automatic = "auto";
  ExperimentKey key = K::named<HeadKind>(
      "head.kind", BOOLGRAD_MEMBER(head.kind),
      {HeadKind::classes, HeadKind::binary, HeadKind::bits, HeadKind::regression});
  key.expected = "auto, " + key.expected;
  key.read = [read = key.read, automatic](Experiment& experiment, const toml::node& node) {
    experiment.head.is_automatic = node.is_string() && **node.as_string() == automatic;
    if (!experiment.head.is_automatic) return read(experiment, node);
    experiment.head.kind = HeadKind::classes;
    return true;
  };
  key.write = [write = key.write](const Experiment& experiment) {
    return experiment.head.is_automatic ? "'auto'" : write(experiment);
  };
  return key;
}

std::vector<ExperimentKey> make_table() {
  using K = SpecKeys<Experiment>;
  return {
      spec("name"),
      spec("seed"),

      spec("task.kind"),
      spec("task.bits"),
      spec("task.file"),
      spec("task.outputs"),
      spec("task.square"),
      spec("task.rule"),
      spec("task.examples"),
      spec("task.max_side"),

      spec("data.path"),
      spec("data.target"),
      spec("data.categories"),
      spec("data.ignore"),
      spec("data.header"),
      spec("data.missing"),
      spec("data.encoding"),
      spec("data.validation"),
      spec("data.test"),
      spec("data.limit"),

      K::named<data::BinarisationKind>(
          "binarise.kind", BOOLGRAD_MEMBER(binarise.thresholds.kind),
          {data::BinarisationKind::threshold, data::BinarisationKind::uniform,
           data::BinarisationKind::quantile}),
      K::below_one("binarise.threshold", BOOLGRAD_MEMBER(binarise.thresholds.threshold)),
      K::integer("binarise.thresholds", BOOLGRAD_MEMBER(binarise.thresholds.count), 1, 255),
      K::below_one("binarise.min_share", BOOLGRAD_MEMBER(binarise.thresholds.min_share)),
      K::flag("binarise.shared", BOOLGRAD_MEMBER(binarise.thresholds.shared)),
      K::flag("binarise.learn", BOOLGRAD_MEMBER(binarise.learn)),
      K::positive("binarise.width", BOOLGRAD_MEMBER(binarise.width)),

      head_kind(),
      K::integer("head.outputs", BOOLGRAD_MEMBER(head.outputs), 1, max_gates),
      K::positive("head.temperature", BOOLGRAD_MEMBER(head.temperature)),
      K::non_negative("head.temperature_target", BOOLGRAD_MEMBER(head.temperature_target)),
      K::named<HeadWeights>("head.weights", BOOLGRAD_MEMBER(head.weights),
                            {HeadWeights::ones, HeadWeights::powers}),
      K::integer("head.max_exponent", BOOLGRAD_MEMBER(head.max_exponent), 1, max_weight_exponent),

      K::integers("convolution.kernels", BOOLGRAD_MEMBER(convolution.kernels), false, 1, max_gates),
      K::integers("convolution.window", BOOLGRAD_MEMBER(convolution.window), true, 1, max_side),
      K::integers("convolution.stride", BOOLGRAD_MEMBER(convolution.stride), true, 1, max_side),
      K::integers("convolution.padding", BOOLGRAD_MEMBER(convolution.padding), true, 0, max_side),
      K::integers("convolution.depth", BOOLGRAD_MEMBER(convolution.depth), true, 1, 4),
      K::integers("convolution.arity", BOOLGRAD_MEMBER(convolution.arity), true, 1,
                  logic::max_gate_inputs),
      K::integers("convolution.channels_per_kernel",
                  BOOLGRAD_MEMBER(convolution.channels_per_kernel), true, 1, max_gates),
      K::integers("convolution.groups", BOOLGRAD_MEMBER(convolution.groups), true, 1, max_gates),
      K::integers("convolution.candidates", BOOLGRAD_MEMBER(convolution.candidates), true, 1,
                  max_gates),
      K::integers("convolution.pool", BOOLGRAD_MEMBER(convolution.pool), true, 1, logic::max_pool),

      K::named<Parametrisation>(
          "network.parametrisation", BOOLGRAD_MEMBER(network.parametrisation),
          {Parametrisation::softmax16, Parametrisation::sigmoid, Parametrisation::walsh}),
      K::named<DType>("network.dtype", BOOLGRAD_MEMBER(network.dtype),
                      {DType::float32, DType::float64}),
      K::integers("network.hidden", BOOLGRAD_MEMBER(network.hidden), false, 1, max_gates),
      K::integers("network.arity", BOOLGRAD_MEMBER(network.arity), true, 1, logic::max_gate_inputs),
      K::integers("network.group_size", BOOLGRAD_MEMBER(network.group_size), true, 1, max_gates),
      K::named<WiringKind>("network.wiring", BOOLGRAD_MEMBER(network.wiring),
                           {WiringKind::random, WiringKind::unique, WiringKind::local,
                            WiringKind::butterfly, WiringKind::window}),
      K::non_negative("network.wiring_noise", BOOLGRAD_MEMBER(network.wiring_noise)),
      K::integer("network.window", BOOLGRAD_MEMBER(network.window), 1, max_side),
      K::integers("network.candidates", BOOLGRAD_MEMBER(network.candidates), true, 0, max_gates),
      K::choice<WireForward>("network.wire_forward", BOOLGRAD_MEMBER(network.wire_forward),
                             {{"hard", WireForward::hard}, {"soft", WireForward::soft}}),
      K::non_negative("network.wire_init_strength", BOOLGRAD_MEMBER(network.wire_init_strength)),
      K::positive("network.wire_temperature", BOOLGRAD_MEMBER(network.wire_temperature)),
      K::positive("network.final_wire_temperature",
                  BOOLGRAD_MEMBER(network.final_wire_temperature)),
      K::integer("network.redraw_every", BOOLGRAD_MEMBER(network.redraw_every), 0, max_steps),
      K::choice<RedrawKind>("network.redraw", BOOLGRAD_MEMBER(network.redraw),
                            {{"gradient", RedrawKind::gradient}, {"random", RedrawKind::random}}),
      K::share("network.redraw_share", BOOLGRAD_MEMBER(network.redraw_share)),
      K::share("network.redraw_until", BOOLGRAD_MEMBER(network.redraw_until)),
      K::below_one("network.redraw_keep", BOOLGRAD_MEMBER(network.redraw_keep)),
      K::share("network.redraw_below", BOOLGRAD_MEMBER(network.redraw_below)),
      K::named<logic::Initialisation>(
          "network.init", BOOLGRAD_MEMBER(network.init),
          {logic::Initialisation::gaussian, logic::Initialisation::pass_through,
           logic::Initialisation::residual}),
      K::non_negative("network.init_strength", BOOLGRAD_MEMBER(network.init_strength)),
      K::text("network.init_circuit", BOOLGRAD_MEMBER(network.init_circuit)),
      K::number("network.init_circuit_strength", BOOLGRAD_MEMBER(network.init_circuit_strength),
                "a number above 0 and at most 30",
                [](double x) { return x > 0 && x <= logic::max_table_strength; }),
      K::positive("network.gradient_factor", BOOLGRAD_MEMBER(network.gradient_factor)),

      K::integer("training.steps", BOOLGRAD_MEMBER(training.steps), 1, max_steps),
      K::integer("training.epochs", BOOLGRAD_MEMBER(training.epochs), 0, max_steps),
      K::positive("training.learning_rate", BOOLGRAD_MEMBER(training.learning_rate)),
      K::named<ScheduleKind>(
          "training.schedule", BOOLGRAD_MEMBER(training.schedule),
          {ScheduleKind::constant, ScheduleKind::cosine, ScheduleKind::exponential}),
      K::integer("training.warmup_steps", BOOLGRAD_MEMBER(training.warmup_steps), 0),
      K::share("training.final_learning_rate_factor",
               BOOLGRAD_MEMBER(training.final_learning_rate_factor)),
      K::below_one("training.beta1", BOOLGRAD_MEMBER(training.optimiser.beta1)),
      K::below_one("training.beta2", BOOLGRAD_MEMBER(training.optimiser.beta2)),
      K::positive("training.epsilon", BOOLGRAD_MEMBER(training.optimiser.epsilon)),
      K::non_negative("training.weight_decay", BOOLGRAD_MEMBER(training.optimiser.weight_decay)),
      K::non_negative("training.clip_value", BOOLGRAD_MEMBER(training.optimiser.clip_value)),
      K::non_negative("training.clip_norm", BOOLGRAD_MEMBER(training.optimiser.clip_norm)),
      K::non_negative("training.gradient_noise",
                      BOOLGRAD_MEMBER(training.optimiser.gradient_noise)),
      K::non_negative("training.gate_penalty", BOOLGRAD_MEMBER(training.gate_penalty)),
      spec("training.loss"),
      spec("training.focal_gamma"),
      K::integer("training.batch", BOOLGRAD_MEMBER(training.batch), 0),
      K::integer("training.blocks", BOOLGRAD_MEMBER(training.blocks), 1, 1024),
      K::integer("training.log_every", BOOLGRAD_MEMBER(training.log_every), 0),
      K::integer("training.checkpoint_every", BOOLGRAD_MEMBER(training.checkpoint_every), 0),
      K::integer("training.diagnose_every", BOOLGRAD_MEMBER(training.diagnose_every), 0),
      K::flag("training.stop_when_solved", BOOLGRAD_MEMBER(training.stop_when_solved)),
      K::below_one("training.label_smoothing", BOOLGRAD_MEMBER(training.label_smoothing)),
      K::integer("training.max_shift", BOOLGRAD_MEMBER(training.augmentation.max_shift), 0, 255),
      K::number("training.max_rotation", BOOLGRAD_MEMBER(training.augmentation.max_rotation),
                "a number from 0 to 180", [](double x) { return x >= 0 && x <= 180; }),
      K::share("training.max_scale", BOOLGRAD_MEMBER(training.augmentation.max_scale)),
      K::flag("training.flip", BOOLGRAD_MEMBER(training.augmentation.flip)),
      K::integer("training.cutout", BOOLGRAD_MEMBER(training.augmentation.cutout), 0, max_side),
      K::text("training.teacher", BOOLGRAD_MEMBER(training.teacher.path)),
      K::share("training.teacher_weight", BOOLGRAD_MEMBER(training.teacher.weight)),
      K::positive("training.teacher_temperature", BOOLGRAD_MEMBER(training.teacher.temperature)),
      K::integer("training.patience", BOOLGRAD_MEMBER(training.patience), 0),

      spec("automaton.channels"),
      spec("automaton.kernels"),
      spec("automaton.perceive"),
      spec("automaton.update"),
      spec("automaton.border"),
      spec("automaton.height"),
      spec("automaton.width"),
      spec("automaton.steps"),
      spec("automaton.stay_steps"),
      spec("automaton.batch"),
      spec("automaton.start"),
      spec("automaton.fire_rate"),
      K::share("automaton.training_fire_rate", BOOLGRAD_MEMBER(rollout.fire_rate)),
      K::integer("automaton.loss_steps", BOOLGRAD_MEMBER(rollout.loss_steps), 1, max_gates),
      K::integer("automaton.extra_steps", BOOLGRAD_MEMBER(rollout.extra_steps), 0, max_gates),
      K::integer("automaton.pool", BOOLGRAD_MEMBER(rollout.pool), 0, max_gates),
      spec("automaton.evaluation_starts"),
      K::memory_size("automaton.memory", BOOLGRAD_MEMBER(rollout.memory)),

      K::named<HardeningKind>(
          "hardening.kind", BOOLGRAD_MEMBER(hardening.kind),
          {HardeningKind::none, HardeningKind::blend, HardeningKind::gates, HardeningKind::states,
           HardeningKind::straight_through, HardeningKind::temperature, HardeningKind::noise,
           HardeningKind::freeze}),
      K::positive("hardening.threshold", BOOLGRAD_MEMBER(hardening.threshold)),
      K::integer("hardening.steps", BOOLGRAD_MEMBER(hardening.steps), 1, max_steps),
      K::positive_share("hardening.learning_rate_factor",
                        BOOLGRAD_MEMBER(hardening.learning_rate_factor)),
      K::positive_share("hardening.temperature", BOOLGRAD_MEMBER(hardening.temperature)),
      K::non_negative("hardening.noise", BOOLGRAD_MEMBER(hardening.noise)),
      K::flag("hardening.saturate", BOOLGRAD_MEMBER(hardening.saturate)),

      K::integers("curriculum.until", BOOLGRAD_MEMBER(curriculum.until), false, 1, max_steps),
      K::integers("curriculum.height", BOOLGRAD_MEMBER(curriculum.height), false, 1, max_side),
      K::integers("curriculum.width", BOOLGRAD_MEMBER(curriculum.width), false, 1, max_side),
      K::integers("curriculum.steps", BOOLGRAD_MEMBER(curriculum.steps), false, 1, max_gates),
      K::integers("curriculum.batch", BOOLGRAD_MEMBER(curriculum.batch), false, 1, max_gates),

      K::integer("search.members", BOOLGRAD_MEMBER(search.members), 1, max_channels),
      K::integer("search.until", BOOLGRAD_MEMBER(search.until), 0, max_steps),
      K::choice<RestartKind>("search.restart", BOOLGRAD_MEMBER(search.restart),
                             {{"none", RestartKind::none},
                              {"fresh", RestartKind::fresh},
                              {"best", RestartKind::best}}),
      K::integer("search.patience", BOOLGRAD_MEMBER(search.patience), 1, max_steps),
      K::integer("search.every", BOOLGRAD_MEMBER(search.every), 1, max_steps),
      K::flag("search.keep_best", BOOLGRAD_MEMBER(search.keep_best)),
      K::integer("search.local_search", BOOLGRAD_MEMBER(search.local_search), 0, max_gates),
      K::integer("search.local_search_random_moves",
                 BOOLGRAD_MEMBER(search.local_search_random_moves), 0, max_gates),
      K::integer("search.local_search_every", BOOLGRAD_MEMBER(search.local_search_every), 1,
                 max_steps),
      K::share("search.local_search_max_error", BOOLGRAD_MEMBER(search.local_search_max_error)),

      K::choice<KnockoutPattern>("knockout.pattern", BOOLGRAD_MEMBER(knockout.pattern),
                                 {{"none", KnockoutPattern::none},
                                  {"random", KnockoutPattern::random},
                                  {"list", KnockoutPattern::list},
                                  {"layer", KnockoutPattern::layer},
                                  {"block", KnockoutPattern::block}}),
      K::share("knockout.share", BOOLGRAD_MEMBER(knockout.share)),
      K::integer("knockout.layer", BOOLGRAD_MEMBER(knockout.layer), 0),
      K::integers("knockout.gates", BOOLGRAD_MEMBER(knockout.gates), false, 0, max_gates),
      K::integer("knockout.first", BOOLGRAD_MEMBER(knockout.first), 0, max_gates),
      K::integer("knockout.count", BOOLGRAD_MEMBER(knockout.count), 0, max_gates),
      K::below_one("knockout.at", BOOLGRAD_MEMBER(knockout.at)),
      K::integer("knockout.seed", BOOLGRAD_MEMBER(knockout.seed), -1),
  };
}

}  // namespace

const std::vector<ExperimentKey>& experiment_key_table() {
  static const std::vector<ExperimentKey> table = make_table();
  return table;
}

}  // namespace boolgrad::train
