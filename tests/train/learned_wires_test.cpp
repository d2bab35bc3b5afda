// Training of networks whose wires are learned.
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "boolgrad/logic/network.h"
#include "boolgrad/model/model.h"
#include "boolgrad/train/run/run.h"
#include "boolgrad/train/search/trainer.h"
#include "tests/support/light_pictures.h"
#include "tests/support/messages.h"
#include "tests/support/random_tensor.h"
#include "tests/support/scratch.h"
#include "tests/support/trainer_checks.h"

namespace boolgrad::train {
namespace {

using testing_support::ScratchFolder;

Experiment monk(std::vector<std::string> overrides = {}) {
  return parse_experiment(
      "[task]\nkind = 'monk1'\n[data]\nvalidation = 0.2\n[network]\nhidden = [32]\ncandidates = "
      "4\n[head]\noutputs = 40\ntemperature = 3\n[training]\nsteps = 100\nbatch = "
      "16\nlearning_rate = 0.05\n[hardening]\nkind = 'straight_through'\n",
      "test", "monk", "", overrides);
}

const std::vector<std::vector<std::string>>& variations() {
  static const std::vector<std::vector<std::string>> all = {
      {},
      {"network.candidates=0", "hardening.kind=none", "network.wire_forward=soft",
       "network.final_wire_temperature=0.2"},
      {"network.candidates=[6,1]", "network.redraw_every=10"},
      {"network.redraw_every=10", "network.wire_forward=soft", "hardening.kind=none"},
      {"network.candidates=[3,5]", "network.redraw_every=7", "network.redraw=random",
       "network.redraw_keep=0.5", "network.redraw_below=0.4"},
      {"network.arity=3", "network.parametrisation=walsh", "network.wire_temperature=2"},
      {"network.parametrisation=softmax16", "network.dtype=float64"},
  };
  return all;
}

TEST(LearnedWires, ResumeToTheSameBitsAndAreTheSameOnAnyThreads) {
  for (const auto& variation : variations()) {
    SCOPED_TRACE(testing::PrintToString(variation));
    expect_resumable(monk(variation), 40, {13, 30});
    expect_same_on_any_threads(monk(variation), 30);
  }
}

TEST(LearnedWires, SaturatedModelsAreAsAccurateSoftAsHard) {
  ScratchFolder folder;
  const auto run = [&](const std::string& name, const std::string& saturate) {
    const Experiment experiment = monk({"hardening.saturate=" + saturate});
    return run_experiment(experiment, {.folder = folder / name});
  };
  const RunReport plain = run("plain", "false");
  const RunReport saturated = run("saturated", "true");
  ASSERT_TRUE(plain.best && saturated.best && saturated.unsaturated);
  const Evaluation& before = *saturated.unsaturated;
  const Evaluation& after = saturated.best->evaluation;
  EXPECT_EQ(before.soft_loss, plain.best->evaluation.soft_loss);
  EXPECT_NE(before.soft_loss, after.soft_loss);
  EXPECT_EQ(before.hard_accuracy, after.hard_accuracy);
  EXPECT_EQ(after.soft_accuracy, after.hard_accuracy);
  EXPECT_EQ(saturated.best->step, plain.best->step);
  // Saturation changes logits only: both files hold the same circuit.
  const Model a = load_model(plain.model).model;
  const Model b = load_model(saturated.model).model;
  const logic::BitMatrix bits =
      logic::pack_bits(random_tensor({a.network().inputs(), 500}, DType::float32, 1));
  EXPECT_EQ(a.network().hard(bits).words, b.network().hard(bits).words);
}

TEST(LearnedWires, LearnWhatFixedWiresCannot) {
  // Each of a few gates has to find its two inputs among seventeen.
  const std::vector<std::string> small{"network.hidden=[]", "head.outputs=16", "training.steps=400",
                                       "training.learning_rate=0.1"};
  const auto accuracy = [&](const std::string& candidates) {
    std::vector<std::string> overrides = small;
    overrides.push_back("network.candidates=" + candidates);
    Trainer trainer(monk(overrides));
    for (int i = 0; i < 400; ++i) trainer.step();
    return trainer.evaluate().hard_accuracy;
  };
  EXPECT_GT(accuracy("0"), accuracy("1"));
}

TEST(LearnedWires, ASavedModelHasPlainWires) {
  const ScratchFolder folder;
  const RunReport report = run_experiment(monk(), {.folder = folder.path()});
  const TensorFile file = load_safetensors(report.model);
  for (const auto& [name, tensor] : file.tensors) {
    EXPECT_FALSE(name.ends_with("wire_logits") || name.ends_with("candidates")) << name;
  }
  const Model model = load_model(report.model).model;
  EXPECT_FALSE(model.network().learns_wires());
  EXPECT_TRUE(load_safetensors(report.checkpoint).tensors.contains("layer.0.wire_logits"));
}

TEST(LearnedWires, EvaluationsOfTrainerAndModelAgree) {
  for (const auto& variation : variations()) {
    SCOPED_TRACE(testing::PrintToString(variation));
    Trainer trainer(monk(variation));
    for (int i = 0; i < 30; ++i) trainer.step();
    EXPECT_EQ(trainer.learner().hard_loss(), trainer.evaluate().hard_loss);
  }
}

TEST(LearnedWires, RejectWhatDoesNotFit) {
  expect_error([] { Trainer(monk({"network.candidates=18"})); },
               "[network] expected network.candidates of at most 17, the inputs of layer 1, "
               "received 18");
  expect_error([] { monk({"network.wiring=local"}); },
               "[experiment] test: expected network.wiring = random or window with "
               "network.candidates, received local");
  expect_error([] { monk({"network.group_size=2"}); },
               "[experiment] test: expected network.group_size = 1 with learned wires, received 2");
  expect_error([] { monk({"network.candidates=[4,4,4]"}); },
               "[experiment] test: expected network.candidates with 1 or 2 values (hidden layers "
               "and output layer), received 3");
  expect_error([] { Trainer(monk({"network.wiring=window"})); },
               "[data] expected images for network.wiring = window, received other samples");
  const ScratchFolder data;
  testing_support::write_pictures(data.path(), "train", 60);
  expect_error(
      [&] {
        Trainer(monk({"task.kind=idx", "data.path=" + data.path().string(), "network.wiring=window",
                      "network.window=29"}));
      },
      "[data] expected network.window of at most 4, the side of the images, received 29");
}

}  // namespace
}  // namespace boolgrad::train
