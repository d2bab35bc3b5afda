#include "boolgrad/train/experiment/experiment_keys.h"

#include <algorithm>

#include "boolgrad/core/error.h"

namespace boolgrad {
namespace {

/// The key of the model's specification.
ExperimentKey spec(std::string_view path) {
  const auto& keys = model_spec_keys();
  const auto found = std::ranges::find(keys, path, &SpecKey<ModelSpec>::path);
  if (found == keys.end()) fail("experiment", "expected a key of models, received {}", path);
  return {found->path, found->expected, found->read, found->write};
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

      spec("data.path"),
      spec("data.target"),
      spec("data.categories"),
      spec("data.validation"),
      spec("data.test"),
      spec("data.limit"),

      K::named<BinarisationKind>(
          "binarise.kind", BOOLGRAD_MEMBER(binarise.levels.kind),
          {BinarisationKind::threshold, BinarisationKind::uniform, BinarisationKind::quantile}),
      K::below_one("binarise.threshold", BOOLGRAD_MEMBER(binarise.levels.threshold)),
      K::integer("binarise.levels", BOOLGRAD_MEMBER(binarise.levels.levels), 1, 255),
      K::below_one("binarise.least", BOOLGRAD_MEMBER(binarise.levels.least)),
      K::flag("binarise.learn", BOOLGRAD_MEMBER(binarise.learn)),
      K::positive("binarise.width", BOOLGRAD_MEMBER(binarise.width)),

      K::named<HeadKind>("head.kind", BOOLGRAD_MEMBER(head.kind),
                         {HeadKind::classes, HeadKind::binary, HeadKind::regression}),
      K::integer("head.outputs", BOOLGRAD_MEMBER(head.outputs), 1, max_gates),
      K::positive("head.temperature", BOOLGRAD_MEMBER(head.temperature)),

      K::named<Parametrisation>(
          "network.parametrisation", BOOLGRAD_MEMBER(network.parametrisation),
          {Parametrisation::softmax16, Parametrisation::sigmoid, Parametrisation::walsh}),
      K::named<DType>("network.dtype", BOOLGRAD_MEMBER(network.dtype),
                      {DType::float32, DType::float64}),
      K::integers("network.hidden", BOOLGRAD_MEMBER(network.hidden), false, 1, max_gates),
      K::integers("network.arity", BOOLGRAD_MEMBER(network.arity), true, 1, most_inputs_per_gate),
      K::integers("network.group_size", BOOLGRAD_MEMBER(network.group_size), true, 1, max_gates),
      K::choice<WiringKind>("network.wiring", BOOLGRAD_MEMBER(network.wiring),
                            {{"random", WiringKind::random},
                             {"unique", WiringKind::unique},
                             {"local", WiringKind::local}}),
      K::non_negative("network.wiring_noise", BOOLGRAD_MEMBER(network.wiring_noise)),
      K::named<Initialisation>(
          "network.init", BOOLGRAD_MEMBER(network.init),
          {Initialisation::gaussian, Initialisation::pass_through, Initialisation::residual}),
      K::non_negative("network.init_strength", BOOLGRAD_MEMBER(network.init_strength)),
      K::positive("network.gradient_factor", BOOLGRAD_MEMBER(network.gradient_factor)),

      K::integer("training.steps", BOOLGRAD_MEMBER(training.steps), 1, max_steps),
      K::integer("training.epochs", BOOLGRAD_MEMBER(training.epochs), 0, max_steps),
      K::positive("training.learning_rate", BOOLGRAD_MEMBER(training.learning_rate)),
      K::named<ScheduleKind>(
          "training.schedule", BOOLGRAD_MEMBER(training.schedule),
          {ScheduleKind::constant, ScheduleKind::cosine, ScheduleKind::exponential}),
      K::integer("training.warm_up", BOOLGRAD_MEMBER(training.warm_up), 0),
      K::share("training.final_share", BOOLGRAD_MEMBER(training.final_share)),
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
      K::integer("training.log_every", BOOLGRAD_MEMBER(training.log_every), 0),
      K::integer("training.checkpoint_every", BOOLGRAD_MEMBER(training.checkpoint_every), 0),
      K::integer("training.diagnose_every", BOOLGRAD_MEMBER(training.diagnose_every), 0),
      K::flag("training.stop_when_solved", BOOLGRAD_MEMBER(training.stop_when_solved)),
      K::below_one("training.label_smoothing", BOOLGRAD_MEMBER(training.label_smoothing)),
      K::integer("training.shift", BOOLGRAD_MEMBER(training.shift), 0, 255),
      K::integer("training.patience", BOOLGRAD_MEMBER(training.patience), 0),

      spec("automaton.channels"),
      spec("automaton.kernels"),
      spec("automaton.perceive"),
      spec("automaton.update"),
      spec("automaton.border"),
      spec("automaton.height"),
      spec("automaton.width"),
      spec("automaton.steps"),
      spec("automaton.batch"),
      spec("automaton.start"),
      spec("automaton.fire_rate"),
      K::share("automaton.training_fire_rate", BOOLGRAD_MEMBER(rollout.fire_rate)),
      K::integer("automaton.loss_steps", BOOLGRAD_MEMBER(rollout.loss_steps), 1, max_gates),
      K::integer("automaton.extra_steps", BOOLGRAD_MEMBER(rollout.extra_steps), 0, max_gates),
      K::integer("automaton.pool", BOOLGRAD_MEMBER(rollout.pool), 0, max_gates),
      spec("automaton.probes"),
      K::memory_size("automaton.memory", BOOLGRAD_MEMBER(rollout.memory)),

      K::named<HardeningKind>(
          "hardening.kind", BOOLGRAD_MEMBER(hardening.kind),
          {HardeningKind::none, HardeningKind::blend, HardeningKind::gates, HardeningKind::states,
           HardeningKind::straight_through, HardeningKind::temperature, HardeningKind::noise,
           HardeningKind::freeze}),
      K::positive("hardening.threshold", BOOLGRAD_MEMBER(hardening.threshold)),
      K::integer("hardening.steps", BOOLGRAD_MEMBER(hardening.steps), 1, max_steps),
      K::positive_share("hardening.rate_share", BOOLGRAD_MEMBER(hardening.rate_share)),
      K::positive_share("hardening.temperature", BOOLGRAD_MEMBER(hardening.temperature)),
      K::non_negative("hardening.noise", BOOLGRAD_MEMBER(hardening.noise)),
      K::flag("hardening.seal", BOOLGRAD_MEMBER(hardening.seal)),

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
      K::integer("search.refit", BOOLGRAD_MEMBER(search.refit), 0, max_gates),
      K::integer("search.refit_walk", BOOLGRAD_MEMBER(search.refit_walk), 0, max_gates),
      K::integer("search.refit_every", BOOLGRAD_MEMBER(search.refit_every), 1, max_steps),
      K::share("search.refit_below", BOOLGRAD_MEMBER(search.refit_below)),

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

}  // namespace boolgrad
