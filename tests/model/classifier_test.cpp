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
#include "tests/support/npy_file.h"
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

  train::Experiment experiment(const std::vector<std::string>& overrides = {}) const {
    return train::parse_experiment("[task]\nkind = 'idx'\n[data]\nvalidation = 0.2\npath = '" +
                                       data_.path().string() +
                                       "'\n[network]\nhidden = [64]\ninit = 'residual'\n"
                                       "[head]\noutputs = 40\ntemperature = 3\n"
                                       "[training]\nbatch = 16\nepochs = 12\nlog_every = 0\n"
                                       "learning_rate = 0.05\ncheckpoint_every = 35\n"
                                       "stop_when_solved = false\n",
                                   "test", "quarters", "", overrides);
  }

  train::RunReport run(const train::Experiment& wanted, const std::string& name,
                       bool resume = false, std::int64_t stop_at = -1) const {
    std::int64_t taken = 0;
    train::RunOptions options{.folder = folder_ / name, .resume = resume};
    options.stop = [&] { return ++taken == stop_at; };
    return train::run_experiment(wanted, options);
  }

  ScratchFolder data_;
  ScratchFolder folder_;
};

TEST_F(ClassifierTest, LearnsAndGeneralises) {
  const train::RunReport report = run(experiment(), "a");
  ASSERT_TRUE(report.best.has_value());
  EXPECT_EQ(report.last.step, 12 * 10);
  EXPECT_GT(report.best->evaluation.hard_accuracy, 0.95);
  const auto [spec, model] = load_model(report.model);
  ASSERT_TRUE(model.classifier().has_value());
  const Classifier& classifier = *model.classifier();
  EXPECT_EQ(classifier.head.classes, 4);
  EXPECT_EQ(classifier.format.width, 4);
  EXPECT_TRUE(classifier.has_bytes);
  const data::SampleSet test = load_test_samples(*spec, classifier);
  EXPECT_EQ(test.count(), 40);
  const Predictions predicted = predict(model, test);
  const Evaluation evaluation = evaluation_of(predicted, classifier.head, test.labels);
  EXPECT_GT(evaluation.hard_accuracy, 0.95);
  std::int64_t right = 0;
  const auto counts = confusion(predicted.hard, test.labels, 4);
  for (std::size_t c = 0; c < 4; ++c) right += counts[c][c];
  EXPECT_DOUBLE_EQ(evaluation.hard_accuracy, static_cast<double>(right) / 40);
}

TEST_F(ClassifierTest, KeepsTheBestModelAndStopsEarly) {
  // With a learning rate so low that nothing improves.
  const train::RunReport report =
      run(experiment({"training.learning_rate=1e-30", "training.patience=2", "training.epochs=60"}),
          "a");
  ASSERT_TRUE(report.best.has_value());
  EXPECT_EQ(report.ending, train::Ending::waited);
  EXPECT_EQ(report.best->step, 0);
  EXPECT_EQ(report.last.step, 20);
  const Model model = load_model(report.model).model;
  const auto samples = train::training_samples_of(experiment());
  const data::SampleSet& kept = samples->validation;
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
  testing_support::write_scores(folder_ / "teacher.npy", 200, 4);
  const std::vector<std::vector<std::string>> kinds = {
      {},
      {"training.max_shift=1", "training.label_smoothing=0.1"},
      {"training.teacher=" + (folder_ / "teacher.npy").string(), "training.teacher_weight=0.7",
       "training.label_smoothing=0.1"},
      {"training.max_rotation=20", "training.max_scale=0.1", "training.flip=true",
       "training.cutout=2"},
      {"hardening.kind=blend", "hardening.threshold=10", "hardening.steps=40"},
      {"hardening.kind=noise", "hardening.threshold=10", "hardening.steps=40"},
      {"hardening.kind=temperature", "hardening.threshold=10", "hardening.steps=40",
       "network.parametrisation=softmax16"},
      {"hardening.kind=freeze", "hardening.threshold=10", "hardening.steps=200",
       "network.parametrisation=walsh", "network.gradient_factor=1.5"},
      {"binarise.learn=true", "binarise.kind=uniform", "binarise.thresholds=2"}};
  for (const auto& overrides : kinds) {
    const train::Experiment wanted = experiment(overrides);
    const std::string name = std::to_string(&overrides - kinds.data());
    run(wanted, name + "whole");
    run(wanted, name + "parts", false, 47);
    run(wanted, name + "parts", true);
    expect_same_files(folder_ / (name + "whole") / train::model_file,
                      folder_ / (name + "parts") / train::model_file);
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
  expect_same_files(folder_ / names[0] / train::model_file, folder_ / names[1] / train::model_file);
  expect_same_files(folder_ / names[0] / train::model_file, folder_ / names[2] / train::model_file);
}

TEST_F(ClassifierTest, TrainsHardTablesStraightThrough) {
  train::Trainer trainer(
      experiment({"hardening.kind=blend", "hardening.threshold=100", "hardening.steps=1"}));
  for (int i = 0; i < 200; ++i) trainer.step();
  EXPECT_GT(trainer.evaluate().hard_accuracy, 0.95);
  // The loss of the next step is that of the hardened network.
  const StepResult next = trainer.step();
  EXPECT_LT(next.loss, 0.5);
  expect_error([&] { experiment({"hardening.kind=states"}); },
               "[experiment] test: hardening.kind = states is for automata only");
}

TEST_F(ClassifierTest, TrainsThresholds) {
  const train::Experiment wanted =
      experiment({"binarise.learn=true", "binarise.threshold=0.9", "training.learning_rate=0.02"});
  train::Trainer trainer(wanted);
  const auto levels = [&] { return trainer.learner().model().classifier()->thresholds.values(); };
  const Tensor before = levels().clone();
  const double first_loss = trainer.evaluate().soft_loss;
  for (int i = 0; i < 100; ++i) trainer.step();
  // From a threshold above most values towards the useful one.
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
  const std::string start =
      "[task]\nkind = 'csv'\n[data]\ntest = 0.25\npath = '" + (data_ / "t.csv").string() +
      "'\n[binarise]\nkind = 'quantile'\nthresholds = 15\n[network]\nhidden = "
      "[64]\ninit = 'residual'\n[training]\nsteps = 400\nlog_every = "
      "100\nlearning_rate = 0.05\ncheckpoint_every = 0\n";
  for (const std::string head : {"[head]\nkind = 'binary'\noutputs = 33\ntemperature = 3\n",
                                 "[head]\nkind = 'regression'\noutputs = 64\n"}) {
    const bool is_value = head.find("regression") != std::string::npos;
    const train::Experiment wanted = train::parse_experiment(
        start + head, "test", "table", "",
        std::vector<std::string>{is_value ? "data.target=y" : "data.target=kind"});
    const train::RunReport report = run(wanted, is_value ? "value" : "class");
    const auto [spec, model] = load_model(report.model);
    const Classifier& classifier = *model.classifier();
    const data::SampleSet test = load_test_samples(*spec, classifier);
    EXPECT_EQ(test.count(), is_value ? 30 : 29);
    const Evaluation evaluation = evaluation_of(predict(model, test), classifier.head, test.labels);
    EXPECT_GT(evaluation.hard_accuracy, 0.85) << head;
    EXPECT_EQ(classifier.format.target, is_value ? "y" : "kind");
  }
}

TEST_F(ClassifierTest, RejectsInvalidCombinations) {
  EXPECT_EQ(train::make_learner(experiment({"head.outputs=41"}))->model().network().outputs(), 44);
  expect_error([&] { train::make_learner(experiment({"head.kind=binary"})); },
               "[data] expected 2 classes for a binary head, received 4");
  expect_error([&] { train::make_learner(experiment({"data.path=/nowhere"})); },
               "[data] /nowhere: no such folder");
  expect_error([&] { train::make_learner(experiment({"data.path=\"\""})); },
               "[data] quarters needs data: give its folder with --data");
  expect_error(
      [&] { train::make_learner(experiment({"data.limit=2"})); },
      "[data] expected classes of the training data, 0 to 1, in the validation labels, received 3 "
      "at sample 0");
  expect_error(
      [&] {
        train::make_learner(experiment({"task.kind=monk1", "training.max_shift=1"}));
      },
      "[data] expected images for training.max_shift, received other samples");
  expect_error(
      [&] {
        train::make_learner(experiment({"task.kind=monk1", "training.max_rotation=5"}));
      },
      "[data] expected images for training.max_rotation, received other samples");
  expect_error([&] { train::make_learner(experiment({"training.cutout=5"})); },
               "[data] expected training.cutout of at most 4, the side of the images, received 5");
}

TEST_F(ClassifierTest, RejectsClassesThatAreNotInTheTrainingData) {
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

TEST_F(ClassifierTest, SamplesInMemoryAreThoseOfFiles) {
  const train::Experiment from_files = experiment();
  run(from_files, "files");
  train::Experiment from_memory = experiment({"data.validation=0"});
  const auto all = train::training_samples_of(from_memory);
  from_memory = experiment();
  from_memory.data.path.clear();
  from_memory.data.in_memory = std::make_shared<const data::DescribedSamples>(
      data::DescribedSamples{all->train, all->format});
  run(from_memory, "memory");
  const Model a = load_model(folder_ / "files" / train::model_file).model;
  const Model b = load_model(folder_ / "memory" / train::model_file).model;
  for (std::size_t i = 0; i < a.parameters().size(); ++i) {
    EXPECT_TRUE(same_bits(a.parameters()[i], b.parameters()[i]));
  }
}

}  // namespace
}  // namespace boolgrad
