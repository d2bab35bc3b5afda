#include "boolgrad/train/learners/teacher.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <string>
#include <vector>

#include "boolgrad/train/learners/learner.h"
#include "boolgrad/train/learners/network_learner.h"
#include "tests/support/generated_data.h"
#include "tests/support/light_pictures.h"
#include "tests/support/messages.h"
#include "tests/support/npy_file.h"
#include "tests/support/scratch.h"

namespace boolgrad::train {
namespace {

using testing_support::npy;
using testing_support::write_bytes;
using testing_support::write_npy;

class TeacherTest : public testing::Test {
 protected:
  TeacherTest() {
    testing_support::write_pictures(data_.path(), "train", 40);
    testing_support::write_flowers(data_ / "flowers.csv", 90);
  }

  Experiment images(const std::vector<std::string>& overrides = {}) const {
    return parse_experiment("[task]\nkind = 'idx'\n[data]\npath = '" + data_.path().string() +
                                "'\n[network]\nhidden = [16]\n[head]\noutputs = 8\n",
                            "my.toml", "images", "", overrides);
  }
  Experiment flowers(const std::vector<std::string>& overrides = {}) const {
    return parse_experiment("[task]\nkind = 'csv'\n[data]\npath = '" +
                                (data_ / "flowers.csv").string() +
                                "'\n[network]\nhidden = [16]\n[head]\noutputs = 9\n",
                            "my.toml", "flowers", "", overrides);
  }
  std::string file() const { return (data_ / "teacher.npy").string(); }

  /// Scores whose first column is the number of the row; the others are 0.
  void write_row_numbers(std::size_t rows, std::size_t classes) const {
    std::vector<float> scores(rows * classes);
    for (std::size_t row = 0; row < rows; ++row) scores[row * classes] = static_cast<float>(row);
    write_npy(file(), static_cast<int>(classes), scores);
  }

  testing_support::ScratchFolder data_;
};

TEST_F(TeacherTest, GivesTheSoftmaxOfItsScores) {
  std::vector<double> scores(40 * 4);
  for (std::size_t i = 0; i < scores.size(); ++i) {
    scores[i] = static_cast<double>(i * 37 % 101) / 10 - 900;  // exp would underflow
  }
  write_bytes(file(), npy("<f8", "(40, 4)",
                          std::string(reinterpret_cast<const char*>(scores.data()),
                                      scores.size() * sizeof(double))));
  const auto samples = training_samples_of(images());
  const Tensor targets = soft_targets({.path = file(), .temperature = 2.5}, *samples);
  ASSERT_EQ(targets.shape(), (Shape{40, 4}));
  for (std::size_t row = 0; row < 40; ++row) {
    double sum = 0;
    for (std::size_t c = 0; c < 4; ++c) sum += std::exp((scores[row * 4 + c] + 900) / 2.5);
    for (std::size_t c = 0; c < 4; ++c) {
      EXPECT_NEAR(targets.at(static_cast<std::int64_t>(row * 4 + c)),
                  std::exp((scores[row * 4 + c] + 900) / 2.5) / sum, 1e-7);
    }
  }
}

/// The row of the training file, from the soft targets of `write_row_numbers`.
double row_of(const Tensor& targets, std::int64_t sample, double temperature) {
  const std::int64_t classes = targets.shape()[1];
  return temperature * std::log(targets.at(sample * classes) / targets.at(sample * classes + 1));
}

/// The rows are those of the file, before the samples are split and limited.
TEST_F(TeacherTest, HasTheRowsOfTheTrainingFile) {
  write_row_numbers(40, 4);
  const auto all = training_samples_of(images());
  const auto some = training_samples_of(images({"data.validation=0.25", "data.limit=20"}));
  ASSERT_EQ(some->train.count(), 20);
  EXPECT_EQ(some->file_rows, 40);
  const Tensor targets = soft_targets({.path = file(), .temperature = 20}, *some);
  bool skips = false;
  for (std::int64_t s = 0; s < 20; ++s) {
    const auto row = static_cast<std::int64_t>(std::lround(row_of(targets, s, 20)));
    EXPECT_NEAR(row_of(targets, s, 20), static_cast<double>(row), 1e-3);
    for (std::int64_t f = 0; f < 16; ++f) {
      EXPECT_EQ(some->train.features.at(s * 16 + f), all->train.features.at(row * 16 + f));
    }
    skips = skips || row != s;
  }
  EXPECT_TRUE(skips);
}

TEST_F(TeacherTest, HasRowsForTheTestSamplesOfTheSameFile) {
  write_row_numbers(90, 3);
  const auto all = training_samples_of(flowers());
  const auto some = training_samples_of(flowers({"data.test=0.3", "data.validation=0.2"}));
  EXPECT_EQ(some->file_rows, 90);
  const Tensor targets = soft_targets({.path = file(), .temperature = 40}, *some);
  ASSERT_EQ(targets.shape()[0], some->train.count());
  const std::int64_t width = some->train.feature_count();
  for (std::int64_t s = 0; s < some->train.count(); ++s) {
    const auto row = static_cast<std::int64_t>(std::lround(row_of(targets, s, 40)));
    for (std::int64_t f = 0; f < width; ++f) {
      EXPECT_EQ(some->train.features.at(s * width + f), all->train.features.at(row * width + f));
    }
  }
}

TEST_F(TeacherTest, RejectsOtherFiles) {
  const auto refuses = [&](const std::string& message) {
    expect_error([&] { make_learner(images({"training.teacher=" + file()})); },
                 "[teacher] " + file() + ": " + message);
  };
  const std::string shape =
      "expected scores [40, 4], one row per sample of the training file and one column per class, "
      "received ";
  testing_support::write_scores(file(), 39, 4);
  refuses(shape + "[39, 4]");
  testing_support::write_scores(file(), 40, 3);
  refuses(shape + "[40, 3]");
  write_bytes(file(), npy("|u1", "(40, 4)", std::string(160, 1)));
  refuses("expected scores of float32 or float64, received uint8");
  std::vector<float> scores(160);
  scores[14] = std::numeric_limits<float>::quiet_NaN();
  write_npy(file(), 4, scores);
  refuses("expected finite scores, received nan in row 3");
  scores[14] = std::numeric_limits<float>::infinity();
  write_npy(file(), 4, scores);
  refuses("expected finite scores, received inf in row 3");
}

TEST_F(TeacherTest, NeedsClasses) {
  const std::string message =
      "[experiment] my.toml: training.teacher is for classifiers with head.kind = classes only";
  for (const std::string kind : {"binary", "regression"}) {
    expect_error([&] { images({"training.teacher=t.npy", "head.kind=" + kind}); }, message);
  }
  expect_error([] { parse_experiment("[training]\nteacher = 't.npy'", "my.toml", "circuit", ""); },
               message);
}

/// A teacher that knows better than wrong labels: the student follows it as its weight grows.
TEST_F(TeacherTest, PullsTheStudent) {
  std::vector<float> scores(40 * 4);
  for (std::size_t row = 0; row < 40; ++row) scores[row * 4 + (row + 1) % 4] = 8;
  write_npy(file(), 4, scores);
  std::vector<double> losses;
  for (const std::string weight : {"0", "0.5", "1"}) {
    const auto learner =
        make_learner(images({"training.teacher=" + file(), "training.teacher_weight=" + weight,
                             "head.temperature=2", "training.learning_rate=0.05"}));
    for (std::int64_t step = 0; step < 60; ++step) learner->step(step, 0.05);
    losses.push_back(learner->evaluate().soft_loss);
  }
  EXPECT_LT(losses[0], losses[1]);
  EXPECT_LT(losses[1], losses[2]);
}

}  // namespace
}  // namespace boolgrad::train
