#include "boolgrad/model/evaluation.h"

#include <algorithm>
#include <utility>

#include "boolgrad/autograd/tape.h"
#include "boolgrad/automata/bit_grid.h"
#include "boolgrad/automata/grid_errors.h"
#include "boolgrad/automata/host_automaton.h"
#include "boolgrad/core/random_streams.h"
#include "boolgrad/logic/head.h"
#include "boolgrad/logic/host_network.h"
#include "boolgrad/model/device_evaluation.h"
#include "boolgrad/ops/loss.h"
#include "boolgrad/ops/shaping.h"

namespace boolgrad {
namespace {

double accuracy_of(std::int64_t errors, std::int64_t all) {
  return static_cast<double>(all - errors) / static_cast<double>(all);
}

struct CaseErrors {
  std::int64_t bits = 0;
  std::int64_t cases = 0;  ///< with at least one wrong bit
};

CaseErrors errors_of(const Tensor& outputs, const Tensor& targets) {
  const auto count = static_cast<std::size_t>(targets.shape()[1]);
  std::vector<bool> wrong_case(count, false);
  CaseErrors errors;
  visit_dtype(outputs.dtype(), [&](auto zero) {
    using T = decltype(zero);
    visit_dtype(targets.dtype(), [&](auto other) {
      using U = decltype(other);
      const auto received = outputs.values<T>();
      const auto wanted = targets.values<U>();
      for (std::size_t i = 0; i < received.size(); ++i) {
        const bool is_on = convert<double>(received[i]) > 0.5;
        if (is_on == (convert<double>(wanted[i]) > 0.5)) continue;
        ++errors.bits;
        wrong_case[i % count] = true;
      }
    });
  });
  errors.cases = std::ranges::count(wrong_case, true);
  return errors;
}

double squared_error(const std::vector<double>& predicted, const Tensor& labels) {
  double total = 0;
  for (std::size_t i = 0; i < predicted.size(); ++i) {
    const double off = predicted[i] - labels.at(static_cast<std::int64_t>(i));
    total += off * off;
  }
  return total / static_cast<double>(predicted.size());
}

double variance(const Tensor& labels) {
  double mean = 0;
  for (std::int64_t i = 0; i < labels.size(); ++i) mean += labels.at(i);
  const std::vector<double> constant(static_cast<std::size_t>(labels.size()),
                                     mean / static_cast<double>(labels.size()));
  return squared_error(constant, labels);
}

std::int64_t misclassified(const std::vector<double>& predicted, const Tensor& labels) {
  std::int64_t errors = 0;
  for (std::size_t i = 0; i < predicted.size(); ++i) {
    errors += predicted[i] != labels.at(static_cast<std::int64_t>(i)) ? 1 : 0;
  }
  return errors;
}

}  // namespace

Cases::Cases(const data::BooleanTask& task, DType dtype)
    : inputs(cast(task.inputs, dtype)), targets(cast(task.targets, dtype)) {}

Evaluation evaluation_of(const NetworkScores& scores, const Cases& cases, const LossOptions& loss) {
  // Losses are summed in single precision within a block only.
  constexpr std::int64_t block = 8192;
  const NoGrad off_the_tape;
  const std::int64_t count = cases.inputs.shape()[1];
  Evaluation result;
  for (std::int64_t begin = 0; begin < count; begin += block) {
    const std::int64_t end = std::min(begin + block, count);
    result.soft_loss +=
        loss_of(loss, slice(scores.soft, 1, begin, end), slice(cases.targets, 1, begin, end))
            .item();
  }
  result.soft_accuracy = accuracy_of(errors_of(scores.soft, cases.targets).cases, count);
  const CaseErrors hard = errors_of(scores.hard, cases.targets);
  result.hard_loss = static_cast<double>(hard.bits);
  result.hard_accuracy = accuracy_of(hard.cases, count);
  result.bit_accuracy = accuracy_of(hard.bits, cases.targets.size());
  return result;
}

Predictions predictions_of(const NetworkScores& scores, const Head& head, std::int64_t outputs,
                           const Tensor& labels) {
  const NoGrad off_the_tape;
  const Tensor soft = cast(scores.soft, DType::float64);
  return {.soft = logic::predictions(head, soft, outputs),
          .hard = logic::predictions(head, cast(scores.hard, DType::float64), outputs),
          .soft_loss =
              logic::head_loss_of_sums(head, {soft, logic::largest_sums(head, outputs)}, labels)
                  .item()};
}

Evaluation evaluation_of(const Predictions& predicted, const Head& head, const Tensor& labels) {
  Evaluation result;
  result.soft_loss = predicted.soft_loss;
  if (head.kind == HeadKind::regression) {
    const double all = variance(labels);
    const auto explained = [&](double error) { return all > 0 ? 1 - error / all : 0; };
    result.hard_loss = squared_error(predicted.hard, labels);
    result.soft_accuracy = explained(squared_error(predicted.soft, labels));
    result.hard_accuracy = explained(result.hard_loss);
  } else {
    const auto count = static_cast<double>(labels.size());
    result.hard_loss = static_cast<double>(misclassified(predicted.hard, labels));
    result.soft_accuracy = 1 - static_cast<double>(misclassified(predicted.soft, labels)) / count;
    result.hard_accuracy = 1 - result.hard_loss / count;
  }
  result.bit_accuracy = result.hard_accuracy;
  return result;
}

std::string_view accuracy_name(HeadKind head) {
  return head == HeadKind::regression ? "explained variance" : "accuracy";
}

std::vector<std::vector<std::int64_t>> confusion(const std::vector<double>& predicted,
                                                 const Tensor& labels, std::int64_t classes) {
  const auto count = static_cast<std::size_t>(classes);
  std::vector<std::vector<std::int64_t>> result(count, std::vector<std::int64_t>(count, 0));
  const auto wanted = labels.values<std::int32_t>();
  for (std::size_t i = 0; i < predicted.size(); ++i) {
    ++result.at(static_cast<std::size_t>(wanted[i])).at(static_cast<std::size_t>(predicted[i]));
  }
  return result;
}

Evaluation evaluate(const logic::Network& network, const Cases& cases, const LossOptions& loss,
                    const Device& device) {
  const auto program = logic::make_network_program(
      device, network, {.batch = 1, .parametrisation = network.parametrisation(), .loss = loss});
  program->set_cases(DataRole::training, cases.inputs, cases.targets);
  program->set_parameters(logic::detached(network.parameters()), masks_of(network),
                          network.input_mask());
  return evaluation_of(program->evaluate(), cases, loss);
}

FeatureSamples feature_samples(const Classifier& classifier, const data::SampleSet& samples) {
  return {.features = samples.features,
          .sources = classifier.thresholds.sources(),
          .thresholds = classifier.thresholds.values().values<float>(),
          .height = classifier.format.height,
          .width = classifier.format.width};
}

NetworkScores scores_of(const Model& model, const data::SampleSet& samples, const Device& device) {
  const logic::Network& network = model.network();
  const Classifier& classifier = *model.classifier();
  const auto program = logic::make_network_program(
      device, network,
      {.batch = 1, .parametrisation = network.parametrisation(), .head = classifier.head});
  program->set_samples(DataRole::training, feature_samples(classifier, samples), samples.labels);
  program->set_parameters(logic::detached(network.parameters()), masks_of(network),
                          network.input_mask());
  return program->evaluate();
}

Predictions predict(const Model& model, const data::SampleSet& samples, const Device& device) {
  return predictions_of(scores_of(model, samples, device), model.classifier()->head,
                        model.network().outputs(), samples.labels);
}

automata::RolloutSize rollout_size(const data::AutomatonTask& task,
                                   const AutomatonOptions& options) {
  const std::int64_t batch = task.starts.defined() ? task.batch : options.batch;
  return {batch, task.height(), task.width(), options.steps + options.stay_steps};
}

EvaluationStarts evaluation_starts(const ModelSpec& spec, const data::AutomatonTask& task) {
  const AutomatonOptions& options = spec.automaton;
  const auto seed = static_cast<std::uint64_t>(spec.seed);
  automata::RolloutSize size = rollout_size(task, options);
  size.batch = task.starts.defined() ? task.starts.shape()[1] : evaluation_start_count(options);
  const Tensor starts = make_starts(task, options, size, seed, evaluation_start_stream, 0);
  EvaluationStarts result{size, automata::BitGrid::from(starts), {}};
  if (options.fire_rate == 1) return result;
  const Tensor fire = automata::fire_masks(size, options.fire_rate, seed, evaluation_fire_stream);
  for (std::int64_t step = 0; step < size.steps; ++step) {
    result.fire.push_back(automata::BitGrid::from(slice(fire, 0, step, step + 1)));
  }
  return result;
}

automata::GridErrors errors_from(const EvaluationStarts& starts, const automata::Rule& rule,
                                 const ModelSpec& spec, const data::AutomatonTask& task) {
  return automata::hard_errors(rule, starts.starts, starts.fire, starts.size.steps,
                               spec.automaton.stay_steps + 1, task.target);
}

void set_errors(Evaluation& evaluation, const automata::GridErrors& errors) {
  evaluation.hard_loss = static_cast<double>(errors.bits);
  evaluation.hard_accuracy = accuracy_of(errors.grids, errors.all_grids);
  evaluation.bit_accuracy = accuracy_of(errors.bits, errors.all_bits);
}

Evaluation evaluate(DeviceAutomaton& program, const ModelSpec& spec,
                    const data::AutomatonTask& task) {
  const AutomatonOptions& options = spec.automaton;
  const auto seed = static_cast<std::uint64_t>(spec.seed);
  automata::RolloutSize size = rollout_size(task, options);
  const std::int64_t batch = size.batch;
  size.batch = task.starts.defined() ? task.starts.shape()[1] : evaluation_start_count(options);
  RolloutArguments draws{.seed = seed,
                         .random_starts = !starts_are_fixed(task, options),
                         .start_stream = evaluation_start_stream,
                         .fire_rate = options.fire_rate,
                         .fire_stream = evaluation_fire_stream};
  AutomatonInputs inputs{{}, {}, task.target};
  if (!draws.random_starts) {
    inputs.starts = make_starts(task, options, size, seed, evaluation_start_stream, 0);
  }
  Evaluation result;
  const HardErrors hard = program.hard_rollout(size.batch, inputs, draws);
  automata::GridErrors errors{
      .bits = hard.bits,
      .grids = hard.samples,
      .all_bits = size.batch * task.channels() * task.height() * task.width(),
      .all_grids = size.batch};
  if (automata::has_any_value(task.target)) {
    errors = automata::compare(automata::BitGrid::from(program.hard_state()), task.target);
  }
  set_errors(result, errors);

  // Soft rollouts are expensive: use the first starts only, as many as in a training step.
  const std::int64_t few = std::min(batch, size.batch);
  draws.samples = size.batch;
  if (inputs.starts.defined()) inputs.starts = slice(inputs.starts, 1, 0, few);
  if (task.target.shape()[1] > 1) inputs.target = slice(task.target, 1, 0, few);
  Tensor last;
  result.soft_loss = program.soft_rollout(few, inputs, draws, last);
  result.soft_accuracy = automata::compare(automata::BitGrid::from(last), inputs.target).accuracy();
  result.picture = slice(slice(last, 1, 0, 1), 0, 0, task.channels());
  return result;
}

Evaluation evaluate(const automata::Rule& rule, const ModelSpec& spec, const Device& device) {
  const data::AutomatonTask task = make_automaton_task(spec);
  const auto program = automata::make_automaton_program(device, rule,
                                                        {.size = rollout_size(task, spec.automaton),
                                                         .loss_channels = task.channels(),
                                                         .loss = spec.loss});
  Evaluation evaluation = evaluate(*program, spec, task);
  if (spec.automaton.stay_steps > 0) {
    set_errors(evaluation, errors_from(evaluation_starts(spec, task), rule, spec, task));
  }
  return evaluation;
}

}  // namespace boolgrad
