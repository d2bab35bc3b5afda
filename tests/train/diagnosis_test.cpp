#include "boolgrad/train/run/diagnosis.h"
#include "boolgrad/train/learners/learner.h"

#include <gtest/gtest.h>

#include <cmath>
#include <fstream>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "boolgrad/train/run/run.h"
#include "tests/support/random_tensor.h"
#include "tests/support/scratch.h"

namespace boolgrad::train {
namespace {

Experiment small(const std::vector<std::string>& overrides = {}) {
  return parse_experiment(R"(
[task]
kind = "checkerboard"
[automaton]
channels = 3
kernels = 2
perceive = [8, 4]
update = [24]
height = 6
width = 7
steps = 4
[network]
init = "pass_through"
init_strength = 1
[training]
steps = 20
log_every = 5
)",
                          "small", "small", "", overrides);
}

// Central differences of the loss of a step, at a negligible learning rate.
TEST(Diagnosis, NormsAreThoseOfTheTrainingLoss) {
  const Experiment experiment =
      small({"automaton.pool=4", "network.dtype=float64", "automaton.update=[6]",
             "automaton.kernels=1", "automaton.channels=1"});
  const std::unique_ptr<Learner> learner = make_learner(experiment);
  const std::vector<double> norms = learner->gradient_norms(3);
  // The second call gives the same result: the learner's state is unchanged.
  EXPECT_EQ(learner->gradient_norms(3), norms);
  ASSERT_EQ(norms.size(), 4U);
  const auto loss_with = [&](std::size_t layer, std::size_t place, double change) {
    const std::unique_ptr<Learner> other = make_learner(experiment);
    Tensor logits = other->model().parameters()[layer];
    logits.mutable_values<double>()[place] += change;
    return other->step(3, 1e-300).loss;
  };
  constexpr double step = 1e-5;
  for (std::size_t layer = 0; layer < norms.size(); ++layer) {
    double sum = 0;
    const auto size = static_cast<std::size_t>(learner->model().parameters()[layer].size());
    for (std::size_t i = 0; i < size; ++i) {
      const double slope = (loss_with(layer, i, step) - loss_with(layer, i, -step)) / (2 * step);
      sum += slope * slope;
    }
    EXPECT_NEAR(norms[layer], std::sqrt(sum), 1e-6 * std::sqrt(sum)) << "layer " << layer;
    EXPECT_GT(norms[layer], 0);
  }
}

TEST(Diagnosis, CountsUndecidedGates) {
  const Experiment experiment = small();
  const std::unique_ptr<Learner> learner = make_learner(experiment);
  for (const LayerDiagnosis& layer : diagnose(*learner, 0)) {
    EXPECT_EQ(layer.inspection.undecided, 1) << "a logit of 1 is a value of 0.73";
  }
  Tensor logits = learner->model().parameters()[0];
  for (std::size_t i = 0; i < 4; ++i) logits.mutable_values<float>()[i] = 5;
  const LayerInspection first = diagnose(*learner, 0)[0].inspection;
  EXPECT_NEAR(first.undecided, 1 - 1.0 / static_cast<double>(first.gates), 1e-12);
}

TEST(Diagnosis, IsWrittenToTheMetrics) {
  const testing_support::ScratchFolder folder;
  run_experiment(small({"training.diagnose_every=10", "search.members=2"}),
                 {.folder = folder / "run"});
  std::ifstream file(folder / "run" / metrics_file);
  std::string line;
  int diagnosed = 0;
  while (std::getline(file, line)) {
    const nlohmann::json entry = nlohmann::json::parse(line);
    EXPECT_EQ(entry.contains("layers"), entry["step"].get<int>() % 10 == 0) << line;
    if (!entry.contains("layers")) continue;
    ++diagnosed;
    EXPECT_EQ(entry["layers"].size(), 4U) << "two of perception, two of the update";
    for (const auto& layer : entry["layers"]) {
      for (const char* key : {"gates", "unused", "entropy", "undecided", "soft_hard_gap",
                              "disagreement", "gradient_norm"}) {
        EXPECT_TRUE(layer.contains(key)) << key;
      }
    }
  }
  EXPECT_EQ(diagnosed, 3);
}

TEST(Diagnosis, DoesNotChangeTheRun) {
  const testing_support::ScratchFolder folder;
  const auto model = [&](const char* name, const char* every) {
    return load_safetensors(
        run_experiment(small({std::string("training.diagnose_every=") + every, "automaton.pool=4"}),
                       {.folder = folder / name})
            .model);
  };
  const TensorFile plain = model("plain", "0");
  const TensorFile watched = model("watched", "5");
  for (const auto& [name, tensor] : plain.tensors) {
    EXPECT_TRUE(same_bits(tensor, watched.tensors.at(name))) << name;
  }
}

}  // namespace
}  // namespace boolgrad::train
