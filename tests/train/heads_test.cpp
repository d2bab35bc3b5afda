// Training of classifiers with the options of heads.
#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "boolgrad/logic/head.h"
#include "boolgrad/model/evaluation.h"
#include "boolgrad/model/model.h"
#include "boolgrad/train/learners/network_learner.h"
#include "boolgrad/train/run/run.h"
#include "boolgrad/train/search/trainer.h"
#include "tests/support/messages.h"
#include "tests/support/scratch.h"
#include "tests/support/trainer_checks.h"

namespace boolgrad::train {
namespace {

Experiment monk(const std::vector<std::string>& overrides = {}) {
  return parse_experiment(
      "[task]\nkind = 'monk1'\n[data]\nvalidation = 0.2\n[network]\nhidden = [64]\ninit = "
      "'residual'\n[head]\noutputs = 40\ntemperature = 3\n[training]\nsteps = 100\nbatch = "
      "16\nlearning_rate = 0.05\n",
      "test", "monk", "", overrides);
}

const std::vector<std::vector<std::string>>& variations() {
  static const std::vector<std::vector<std::string>> all = {
      {"head.temperature_target=1"},
      {"head.temperature_target=1.5", "network.dtype=float64"},
      {"head.kind=bits"},
      {"head.weights=powers", "training.learning_rate=0.5"},
      {"head.weights=powers", "head.temperature_target=1", "binarise.learn=true",
       "training.learning_rate=0.2"},
      {"head.weights=powers", "head.kind=binary", "network.dtype=float64",
       "training.learning_rate=0.2"},
  };
  return all;
}

double temperature_of(const Trainer& trainer) {
  return trainer.learner().model().classifier()->head.temperature;
}

TEST(Heads, ResumeToTheSameBitsAndAreTheSameOnAnyThreads) {
  for (const auto& variation : variations()) {
    SCOPED_TRACE(testing::PrintToString(variation));
    expect_resumable(monk(variation), 40, {13, 30});
    expect_same_on_any_threads(monk(variation), 30);
  }
}

TEST(Heads, EvaluationsOfTrainerAndModelAgree) {
  for (const auto& variation : variations()) {
    SCOPED_TRACE(testing::PrintToString(variation));
    Trainer trainer(monk(variation));
    take(trainer, 30);
    const Evaluation by_trainer = trainer.evaluate();
    const Model& model = trainer.learner().model();
    const auto samples = training_samples_of(trainer.experiment());
    const Evaluation by_model = evaluation_of(predict(model, samples->validation),
                                              model.classifier()->head, samples->validation.labels);
    EXPECT_EQ(by_model.soft_loss, by_trainer.soft_loss);
    EXPECT_EQ(by_model.soft_accuracy, by_trainer.soft_accuracy);
    EXPECT_EQ(by_model.hard_loss, by_trainer.hard_loss);
    EXPECT_EQ(trainer.learner().hard_loss(), by_trainer.hard_loss);
  }
}

TEST(Heads, AdaptTheTemperatureOfClasses) {
  Trainer fixed(monk());
  take(fixed, 50);
  EXPECT_EQ(temperature_of(fixed), 3);

  Trainer adapted(monk({"head.temperature_target=1"}));
  double before = temperature_of(adapted);
  EXPECT_EQ(before, 3);
  for (int i = 0; i < 50; ++i) {
    ASSERT_TRUE(adapted.step().finite);
    const double after = temperature_of(adapted);
    EXPECT_NE(after, before);
    EXPECT_GE(after, 0.97 * before - 1e-12);
    EXPECT_LE(after, 20.0 / 6);
    before = after;
  }

  // The limit applies from the first step on.
  Trainer limited(monk({"head.temperature_target=1", "head.temperature=30"}));
  take(limited, 1);
  EXPECT_EQ(temperature_of(limited), 20.0 / 6);
  Trainer weighted(monk({"head.temperature_target=1", "head.temperature=300", "head.weights=powers",
                         "head.max_exponent=2"}));
  take(weighted, 1);
  EXPECT_EQ(temperature_of(weighted), 80.0 / 6);
}

TEST(Heads, SaveTheAdaptedTemperature) {
  const testing_support::ScratchFolder folder;
  const Experiment experiment = monk({"head.temperature_target=1"});
  const RunReport report = run_experiment(experiment, {.folder = folder.path()});
  const Model model = load_model(report.model).model;
  EXPECT_NE(model.classifier()->head.temperature, 3);
  const auto samples = training_samples_of(experiment);
  const Evaluation evaluation = evaluation_of(predict(model, samples->validation),
                                              model.classifier()->head, samples->validation.labels);
  ASSERT_TRUE(report.best.has_value());
  EXPECT_EQ(evaluation.soft_loss, report.best->evaluation.soft_loss);
}

TEST(Heads, SaveTheLearnedWeights) {
  const testing_support::ScratchFolder folder;
  const Experiment experiment =
      monk({"head.weights=powers", "head.max_exponent=2", "training.learning_rate=0.2"});
  const RunReport report = run_experiment(experiment, {.folder = folder.path()});
  TensorFile file = load_safetensors(report.model);
  const Model model = Model::from_file(file, "model");
  const std::vector<std::int32_t>& exponents = model.classifier()->head.exponents;
  ASSERT_EQ(exponents.size(), 40U);
  EXPECT_EQ(*std::ranges::min_element(exponents), 0);
  EXPECT_GT(*std::ranges::max_element(exponents), 0);
  EXPECT_LE(*std::ranges::max_element(exponents), 2);

  const auto load_with = [&](std::vector<std::int32_t> other) {
    Classifier classifier = *model.classifier();
    classifier.head.exponents = std::move(other);
    classifier.save(file);
    return Model::from_file(file, "model");
  };
  EXPECT_EQ(load_with(exponents).classifier()->head, model.classifier()->head);
  expect_error(
      [&] {
        load_with({0, 1});
      },
      "[classifier] model: expected 40 exponents of weights, received 2");
  expect_error([&] { load_with(std::vector<std::int32_t>(40, 7)); },
               "[classifier] model: expected exponents of weights from 0 to 6, received 7");
}

TEST(Heads, AdaptNoTemperatureButThatOfClasses) {
  const Experiment binary = monk({"head.kind=binary", "head.temperature_target=1"});
  EXPECT_EQ(why_no_effect(binary, "head.temperature_target"),
            "head.temperature_target has no effect without head.kind = classes");
  Trainer trainer(binary);
  take(trainer, 5);
  EXPECT_EQ(temperature_of(trainer), 3);
}

}  // namespace
}  // namespace boolgrad::train
