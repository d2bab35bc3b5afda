#include "boolgrad/train/run/ranks.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <string_view>

#include "boolgrad/core/build_info.h"
#include "boolgrad/core/fail.h"
#include "boolgrad/model/evaluation.h"
#include "boolgrad/model/tasks.h"
#include "boolgrad/train/learners/network_learner.h"

namespace boolgrad::train {
namespace {

constexpr std::int64_t usual_blocks = 8;

/// Samples, cases or grids of a step.
std::int64_t batch_of(const Experiment& experiment) {
  if (experiment.is_automaton()) {
    return rollout_size(make_automaton_task(experiment), experiment.automaton).batch;
  }
  const std::int64_t count = experiment.is_classifier()
                                 ? training_samples_of(experiment)->train.count()
                                 : make_task(experiment).cases();
  const std::int64_t batch = experiment.training.batch;
  return batch == 0 ? count : std::min(batch, count);
}

std::string_view bytes_of(const Tensor& tensor) {
  if (!tensor.defined()) return {};
  return {static_cast<const char*>(tensor.data()), tensor.bytes()};
}

}  // namespace

Experiment with_blocks(Experiment experiment, const Group& group,
                       std::vector<std::string>& notices) {
  std::int64_t& blocks = experiment.training.blocks;
  const std::int64_t batch = batch_of(experiment);
  if (blocks == 1) {
    blocks = usual_blocks;
    while (batch % blocks != 0) blocks /= 2;
    notices.push_back(
        fmt::format("training.blocks is {}: a batch of {} in equal parts, for up to "
                    "{} ranks",
                    blocks, batch, blocks));
  }
  if (group.size() > blocks) {
    fail("train",
         "expected a batch of {0} equal blocks or more for {0} ranks, received one of {1} in {2}",
         group.size(), batch, blocks);
  }
  return experiment;
}

void check_agreement(const Trainer& trainer) {
  Group& group = trainer.group();
  if (group.size() == 1) return;
  const Experiment& experiment = trainer.experiment();
  check_same_on_ranks(group, "version of boolgrad", version());
  check_same_on_ranks(group, "experiment", to_toml(experiment));
  if (experiment.is_classifier()) {
    const auto samples = training_samples_of(experiment);
    for (const data::SampleSet* set : {&samples->train, &samples->validation}) {
      check_same_on_ranks(group, "training samples", bytes_of(set->features));
      check_same_on_ranks(group, "training samples", bytes_of(set->labels));
    }
  }
  std::string parameters;
  for (const Tensor& one : trainer.learner().model().parameters()) parameters += bytes_of(one);
  if (experiment.is_automaton()) {
    parameters += bytes_of(make_automaton_task(experiment).target);
  }
  check_same_on_ranks(group, "initial model and task", parameters);
}

}  // namespace boolgrad::train
