#include "boolgrad/model/classifier.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "boolgrad/core/parallel.h"
#include "boolgrad/model/evaluation.h"
#include "boolgrad/model/samples.h"
#include "boolgrad/train/learners/network_learner.h"
#include "boolgrad/train/run/run.h"
#include "boolgrad/train/search/trainer.h"
#include "tests/support/light_pictures.h"
#include "tests/support/messages.h"
#include "tests/support/random_tensor.h"
#include "tests/support/scratch.h"

namespace boolgrad {
namespace {

using testing_support::read_bytes;
using testing_support::ScratchFolder;
using testing_support::write_bytes;
using testing_support::write_pictures;

class ClassifierTest : public testing::Test {
 protected:
  void SetUp() override {
    write_pictures(data_.path(), "train", 200);
    write_pictures(data_.path(), "t10k", 40);
  }

  Experiment experiment(const std::vector<std::string>& overrides = {}) const {
    return parse_experiment("[task]\nkind = 'idx'\n[data]\nvalidation = 0.2\npath = '" +
                                data_.path().string() +
                                "'\n[network]\nhidden = [64]\ninit = 'residual'\n"
                                "[head]\noutputs = 40\ntemperature = 3\n"
                                "[training]\nbatch = 16\nepochs = 12\nlog_every = 0\n"
                                "learning_rate = 0.05\ncheckpoint_every = 35\n"
                                "stop_when_solved = false\n",
                            "test", "quarters", "", overrides);
  }

  RunReport run(const Experiment& wanted, const std::string& name, bool resume = false,
                std::int64_t stop_at = -1) const {
    std::int64_t taken = 0;
    RunOptions options{.folder = folder_ / name, .resume = resume};
    options.stop = [&] { return ++taken == stop_at; };
    return run_experiment(wanted, options);
  }

  ScratchFolder data_;
  ScratchFolder folder_;
};

TEST_F(ClassifierTest, LearnsAndIsEvaluatedOnOtherSamples) {
  const RunReport report = run(experiment(), "a");
  ASSERT_TRUE(report.best.has_value());
  EXPECT_EQ(report.last.step, 12 * 10);
  EXPECT_GT(report.best->evaluation.hard_accuracy, 0.95);
  const auto [spec, model] = load_model(report.model);
  ASSERT_TRUE(model.classifier().has_value());
  const Classifier& classifier = *model.classifier();
  EXPECT_EQ(classifier.head.classes, 4);
  EXPECT_EQ(classifier.form.width, 4);
  EXPECT_TRUE(classifier.has_bytes);
  const SampleSet test = load_test_samples(*spec, classifier);
  EXPECT_EQ(test.count(), 40);
  const Predictions predicted = predict(model, test);
  const Evaluation evaluation = evaluation_of(predicted, classifier.head, test.labels);
  EXPECT_GT(evaluation.hard_accuracy, 0.95);
  std::int64_t right = 0;
  const auto counts = confusion(predicted.hard, test.labels, 4);
  for (std::size_t c = 0; c < 4; ++c) right += counts[c][c];
  EXPECT_DOUBLE_EQ(evaluation.hard_accuracy, static_cast<double>(right) / 40);
}

TEST_F(ClassifierTest, KeepsTheBestModelAndWaits) {
  // So slowly that nothing ever gets better.
  const RunReport report =
      run(experiment({"training.learning_rate=1e-30", "training.patience=2", "training.epochs=60"}),
          "a");
  ASSERT_TRUE(report.best.has_value());
  EXPECT_EQ(report.ending, Ending::waited);
  EXPECT_EQ(report.best->step, 0);
  EXPECT_EQ(report.last.step, 20);
  const Model model = load_model(report.model).model;
  const auto samples = training_samples_of(experiment());
  const SampleSet& kept = samples->validation;
  const Evaluation again =
      evaluation_of(predict(model, kept), model.classifier()->head, kept.labels);
  EXPECT_EQ(again.hard_accuracy, report.best->evaluation.hard_accuracy);
  EXPECT_EQ(again.soft_loss, report.best->evaluation.soft_loss);
}

void expect_same_files(const std::filesystem::path& a, const std::filesystem::path& b) {
  const TensorFile first = load_safetensors(a);
  const TensorFile second = load_safetensors(b);
  ASSERT_EQ(first.tensors.size(), second.tensors.size());
  for (const auto& [name, tensor] : first.tensors) {
    EXPECT_TRUE(same_bits(tensor, second.tensors.at(name))) << name;
  }
}

TEST_F(ClassifierTest, ResumesToTheSameBits) {
  const std::vector<std::vector<std::string>> kinds = {
      {},
      {"training.shift=1", "training.label_smoothing=0.1"},
      {"hardening.kind=blend", "hardening.threshold=10", "hardening.steps=40"},
      {"hardening.kind=noise", "hardening.threshold=10", "hardening.steps=40"},
      {"hardening.kind=temperature", "hardening.threshold=10", "hardening.steps=40",
       "network.parametrisation=softmax16"},
      {"hardening.kind=freeze", "hardening.threshold=10", "hardening.steps=200",
       "network.parametrisation=walsh", "network.gradient_factor=1.5"},
      {"binarise.learn=true", "binarise.kind=uniform", "binarise.levels=2"}};
  for (const auto& overrides : kinds) {
    const Experiment wanted = experiment(overrides);
    const std::string name = std::to_string(&overrides - kinds.data());
    run(wanted, name + "whole");
    run(wanted, name + "parts", false, 47);
    run(wanted, name + "parts", true);
    expect_same_files(folder_ / (name + "whole") / model_file,
                      folder_ / (name + "parts") / model_file);
  }
}

TEST_F(ClassifierTest, GivesTheSameBitsForAnyNumberOfThreads) {
  std::vector<std::string> names;
  const int before = thread_count();
  for (const int threads : {1, 2, 7}) {
    set_thread_count(threads);
    run(experiment(), names.emplace_back(std::to_string(threads)));
  }
  set_thread_count(before);
  expect_same_files(folder_ / names[0] / model_file, folder_ / names[1] / model_file);
  expect_same_files(folder_ / names[0] / model_file, folder_ / names[2] / model_file);
}

TEST_F(ClassifierTest, TrainsHardTablesStraightThrough) {
  Trainer trainer(
      experiment({"hardening.kind=blend", "hardening.threshold=100", "hardening.steps=1"}));
  for (int i = 0; i < 200; ++i) trainer.step();
  EXPECT_GT(trainer.evaluate().hard_accuracy, 0.95);
  // The loss of the next step is that of the hardened network.
  const StepResult next = trainer.step();
  EXPECT_LT(next.loss, 0.5);
  expect_error([&] { experiment({"hardening.kind=states"}); },
               "[experiment] test: expected hardening.kind states of automata only, received it of "
               "a circuit");
}

TEST_F(ClassifierTest, LearnsLevels) {
  const Experiment wanted =
      experiment({"binarise.learn=true", "binarise.threshold=0.9", "training.learning_rate=0.02"});
  Trainer trainer(wanted);
  const auto levels = [&] { return trainer.learner().model().classifier()->thresholds.levels(); };
  const Tensor before = levels().clone();
  const double first_loss = trainer.evaluate().soft_loss;
  for (int i = 0; i < 100; ++i) trainer.step();
  // From where hardly a light is seen down to where it is.
  EXPECT_LT(levels().at(0), before.at(0));
  EXPECT_LT(trainer.evaluate().soft_loss, first_loss);
}

TEST_F(ClassifierTest, LearnsTwoClassesAndValuesFromATable) {
  std::string text = "a,b,kind,y\n";
  for (int i = 0; i < 120; ++i) {
    const int a = i * 37 % 100;
    const bool b = i % 3 == 0;
    text += std::to_string(a) + (b ? ",yes," : ",no,") + (a > 50 ? "big," : "small,") +
            std::to_string(a * 0.5 + (b ? 10 : 0)) + "\n";
  }
  write_bytes(data_ / "t.csv", text);
  const std::string start = "[task]\nkind = 'csv'\n[data]\ntest = 0.25\npath = '" +
                            (data_ / "t.csv").string() +
                            "'\n[binarise]\nkind = 'quantile'\nlevels = 15\n[network]\nhidden = "
                            "[64]\ninit = 'residual'\n[training]\nsteps = 400\nlog_every = "
                            "100\nlearning_rate = 0.05\ncheckpoint_every = 0\n";
  for (const std::string head : {"[head]\nkind = 'binary'\noutputs = 33\ntemperature = 3\n",
                                 "[head]\nkind = 'regression'\noutputs = 64\n"}) {
    const bool is_value = head.find("regression") != std::string::npos;
    const Experiment wanted =
        parse_experiment(start + head, "test", "table", "",
                         std::vector<std::string>{is_value ? "data.target=y" : "data.target=kind"});
    const RunReport report = run(wanted, is_value ? "value" : "class");
    const auto [spec, model] = load_model(report.model);
    const Classifier& classifier = *model.classifier();
    const SampleSet test = load_test_samples(*spec, classifier);
    EXPECT_EQ(test.count(), is_value ? 30 : 29);
    const Evaluation evaluation = evaluation_of(predict(model, test), classifier.head, test.labels);
    EXPECT_GT(evaluation.hard_accuracy, 0.85) << head;
    EXPECT_EQ(classifier.form.target, is_value ? "y" : "kind");
  }
}

TEST_F(ClassifierTest, RefusesWhatDoesNotFit) {
  EXPECT_EQ(make_learner(experiment({"head.outputs=41"}))->model().network().outputs(), 44);
  expect_error([&] { make_learner(experiment({"head.kind=binary"})); },
               "[data] expected 2 classes for a binary head, received 4");
  expect_error([&] { make_learner(experiment({"data.path=/nowhere"})); },
               "[data] /nowhere: expected a folder of data, received none");
  expect_error([&] { make_learner(experiment({"data.path=\"\""})); },
               "[data] expected --data with the folder of quarters, received none");
  expect_error(
      [&] { make_learner(experiment({"data.limit=2"})); },
      "[data] expected classes of the training data, 0 to 1, in the validation labels, received 3 "
      "at sample 0");
  expect_error(
      [&] {
        make_learner(experiment({"task.kind=monk1", "training.shift=1"}));
      },
      "[data] expected images for training.shift, received other samples");
}

TEST_F(ClassifierTest, RefusesClassesThatTheTrainingDataLacks) {
  const auto [spec, model] = load_model(run(experiment({"training.epochs=1"}), "a").model);
  std::string labels = read_bytes(data_ / "t10k-labels-idx1-ubyte");
  labels.back() = 7;
  write_bytes(data_ / "t10k-labels-idx1-ubyte", labels);
  const ModelSpec& trained = *spec;
  const Classifier& classifier = *model.classifier();
  expect_error([&] { load_test_samples(trained, classifier); },
               "[data] expected classes of the training data, 0 to 3, in the test labels, received "
               "7 at sample 39");
}

}  // namespace
}  // namespace boolgrad
