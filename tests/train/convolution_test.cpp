// Training of classifiers with convolutions.
#include <gtest/gtest.h>

#include <filesystem>
#include <string>
#include <vector>

#include "boolgrad/model/evaluation.h"
#include "boolgrad/model/model.h"
#include "boolgrad/train/run/run.h"
#include "boolgrad/train/search/trainer.h"
#include "tests/support/generated_data.h"
#include "tests/support/messages.h"
#include "tests/support/scratch.h"
#include "tests/support/trainer_checks.h"

namespace boolgrad::train {
namespace {

using testing_support::ScratchFolder;

class ConvolutionTraining : public testing::Test {
 protected:
  ConvolutionTraining() { testing_support::write_digits(data_.path(), 200); }

  Experiment digits(const std::vector<std::string>& overrides = {}) const {
    return parse_experiment(
        "[task]\nkind = 'idx'\n[data]\npath = '" + data_.path().string() +
            "'\nvalidation = 0.2\n[convolution]\nkernels = [4, 8]\nwindow = [5, 3]\npadding = [0, "
            "1]\ndepth = 2\n[network]\nhidden = [200]\ninit = 'residual'\n[head]\noutputs = "
            "100\ntemperature = 3\n[training]\nsteps = 60\nbatch = 32\nlearning_rate = 0.05\n",
        "test", "digits", "", overrides);
  }

  ScratchFolder data_;
};

TEST_F(ConvolutionTraining, ResumesToTheSameBitsAndIsTheSameOnAnyThreads) {
  const std::vector<std::vector<std::string>> variations = {
      {},
      {"convolution.candidates=[4, 1]", "hardening.kind=straight_through"},
      {"convolution.candidates=3", "network.wire_forward=soft", "network.candidates=4",
       "network.redraw_every=6"},
      {"network.parametrisation=softmax16", "hardening.kind=noise", "hardening.threshold=10",
       "hardening.steps=20"},
      {"convolution.arity=3", "convolution.pool=[3, 1]", "binarise.kind=uniform",
       "binarise.thresholds=2"},
      {"knockout.pattern=random", "knockout.share=0.2", "hardening.kind=gates",
       "hardening.threshold=10", "hardening.steps=20"},
  };
  for (const auto& variation : variations) {
    SCOPED_TRACE(testing::PrintToString(variation));
    expect_resumable(digits(variation), 12, {5});
    expect_same_on_any_threads(digits(variation), 8);
  }
}

TEST_F(ConvolutionTraining, FindsBars) {
  Trainer trainer(digits(
      {"training.steps=300", "training.learning_rate=0.1", "training.stop_when_solved=false"}));
  for (int i = 0; i < 300; ++i) ASSERT_TRUE(trainer.step().finite);
  EXPECT_GE(trainer.evaluate().hard_accuracy, 0.9);
}

TEST_F(ConvolutionTraining, ASavedModelIsOneNetworkWithoutCandidates) {
  const ScratchFolder folder;
  const RunReport report =
      run_experiment(digits({"convolution.candidates=3"}), {.folder = folder.path()});
  const LoadedModel loaded = load_model(report.model);
  EXPECT_FALSE(loaded.model.network().learns_wires());
  EXPECT_TRUE(load_model(report.checkpoint).model.network().learns_wires());
  EXPECT_EQ(loaded.model.network().layers().size(), 8U);
  EXPECT_TRUE(loaded.model.network().layers()[2].wiring->pools());
}

TEST_F(ConvolutionTraining, RejectsWhatDoesNotFit) {
  expect_error([&] { Trainer(digits({"convolution.window=29"})); },
               "[convolution] expected a window of at most 28, the side of the padded image, "
               "received 29");
  expect_error([&] { Trainer(digits({"convolution.groups=2"})); },
               "[convolution] expected a number of groups that divides 1 channels and 4 kernels, "
               "received 2");
  expect_error([&] { Trainer(digits({"convolution.candidates=26"})); },
               "[convolution] expected from 2 to 25 candidates per leaf, the places that a kernel "
               "reads, received 26");
  expect_error(
      [] {
        Trainer(parse_experiment("[task]\nkind = 'monk1'\n[convolution]\nkernels = [4]", "test",
                                 "monk", ""));
      },
      "[data] expected images for convolution.kernels, received other samples");
  expect_error(
      [] {
        Trainer(parse_experiment("[task]\nkind = 'monk1'\n[binarise]\nshared = true", "test",
                                 "monk", ""));
      },
      "[data] expected images for binarise.shared, received other samples");
}

TEST(BuiltInConvolutions, TakeImagesInTheFormatOfCifar10) {
  const ScratchFolder data;
  testing_support::write_cifar10(data.path(), 130);
  const std::filesystem::path file =
      std::filesystem::path(BOOLGRAD_SOURCE_DIR) / "experiments" / "cifar10-conv-s.toml";
  Trainer trainer(read_experiment(
      file, std::vector<std::string>{"data.path=" + data.path().string(), "training.batch=16"}));
  const logic::Network& network = trainer.learner().model().network();
  EXPECT_EQ(network.inputs(), 6 * 32 * 32);
  EXPECT_EQ(network.layers().size(), 4U * 4 + 3);
  EXPECT_EQ(network.layers()[15].wiring->gates(), 1024 * 2 * 2);
  for (int i = 0; i < 2; ++i) ASSERT_TRUE(trainer.step().finite);
  EXPECT_GE(trainer.evaluate().hard_accuracy, 0);
}

}  // namespace
}  // namespace boolgrad::train
