#include "boolgrad/train/learners/training_outputs.h"

#include <gtest/gtest.h>

#include <cmath>

#include "boolgrad/autograd/gradcheck.h"
#include "boolgrad/autograd/tape.h"
#include "boolgrad/ops/loss.h"
#include "boolgrad/train/learners/problem.h"
#include "tests/support/messages.h"
#include "tests/support/random_tensor.h"
#include "tests/support/trainer_checks.h"

namespace boolgrad {
namespace {

Experiment adder(const std::vector<std::string>& overrides = {}) {
  return parse_experiment(
      "[task]\nkind = 'add'\nbits = 6\n[network]\nhidden = [30, 20]\ndtype = 'float64'\n"
      "[training]\nsteps = 100\nlearning_rate = 0.05\nbatch = 20\n",
      "test", "adder", "", overrides);
}

LogicNetwork network_of(const Experiment& experiment) { return make_network(experiment, 6, 4); }

/// A loop that has come so far.
Hardening at_progress(const HardeningOptions& options, double progress) {
  Hardening hardening(options);
  TensorFile file;
  file.metadata["hardening.progress"] = std::to_string(progress);
  hardening.load(file);
  return hardening;
}

const std::vector<std::string> every_parametrisation = {"softmax16", "sigmoid", "walsh"};

TEST(TrainingOutputs, AreThoseOfTheNetworkWhereNothingHardens) {
  const Experiment experiment = adder({"network.gradient_factor=2"});
  const LogicNetwork network = network_of(experiment);
  const Tensor x = random_tensor({6, 15}, DType::float64, 1, {0, 1});
  const Tensor y = training_outputs(network, x, Hardening({}), experiment, 0);
  EXPECT_TRUE(same_bits(y.detach(), network.soft(x).detach()));
}

TEST(TrainingOutputs, HaveTrueDerivativesWithEveryParametrisation) {
  for (const std::string& name : every_parametrisation) {
    for (const auto kind :
         {HardeningKind::none, HardeningKind::noise, HardeningKind::temperature}) {
      const Experiment experiment = adder({"network.parametrisation=" + name});
      const Hardening hardening = at_progress({.kind = kind}, 0.5);
      const LogicNetwork network = network_of(experiment);
      const Tensor x = random_tensor({6, 4}, DType::float64, 1, {0.1, 0.9});
      std::vector<Tensor> inputs{x};
      for (const Tensor& logits : network.parameters()) inputs.push_back(logits.detach());
      const GradcheckResult result = gradcheck(
          [&](std::span<const Tensor> in) {
            return network.soft(in[0],
                                network.tables(hardening.logits({in.begin() + 1, in.end()},
                                                                network.parametrisation(), 1, 3)));
          },
          inputs);
      EXPECT_TRUE(result.pass) << name << ": " << result.describe();
    }
  }
}

// Layer i of n has f^(n - i) times its gradient, the inputs f^n times.
TEST(TrainingOutputs, ScaleGradientsLayerByLayer) {
  for (const std::string& name : every_parametrisation) {
    const Experiment plain = adder({"network.parametrisation=" + name});
    const Experiment scaled =
        adder({"network.parametrisation=" + name, "network.gradient_factor=1.5"});
    const LogicNetwork network = network_of(plain);
    const Tensor x = parameter(random_tensor({6, 15}, DType::float64, 1, {0, 1}));
    const Tensor target = random_tensor({4, 15}, DType::float64, 2, {0, 1});
    std::vector<Tensor> wanted = network.parameters();
    wanted.push_back(x);
    const auto gradients = [&](const Experiment& experiment) {
      const Tensor y = training_outputs(network, x, Hardening({}), experiment, 0);
      return grad(sum_of_squares(y, target), wanted);
    };
    const std::vector<Tensor> before = gradients(plain);
    const std::vector<Tensor> after = gradients(scaled);
    const double factors[] = {1.5 * 1.5, 1.5, 1, 1.5 * 1.5 * 1.5};
    for (std::size_t i = 0; i < before.size(); ++i) {
      for (std::int64_t k = 0; k < before[i].size(); ++k) {
        ASSERT_NEAR(after[i].at(k), factors[i] * before[i].at(k), 1e-12) << name << " " << i;
      }
    }
  }
}

TEST(TrainingOutputs, StraightThroughAreThoseOfTheHardenedCircuit) {
  for (const std::string& name : every_parametrisation) {
    const Experiment experiment = adder({"network.parametrisation=" + name});
    LogicNetwork network = network_of(experiment);
    Tensor mask = Tensor::ones({30}, DType::float64);
    mask.mutable_values<double>()[4] = 0;
    network.set_mask(0, mask);
    const Tensor bits =
        unpack_bits(pack_bits(random_tensor({6, 70}, DType::float64, 1, {0, 1})), DType::float64);
    const Hardening hardening({.kind = HardeningKind::straight_through});
    const Tensor y = training_outputs(network, bits, hardening, experiment, 0);
    const Tensor hard = unpack_bits(network.hard(pack_bits(bits)), DType::float64);
    for (std::int64_t i = 0; i < y.size(); ++i) ASSERT_NEAR(y.at(i), hard.at(i), 1e-12) << name;
  }
}

TEST(TrainingOutputs, OfNoiseFollowFromSeedAndStep) {
  const Experiment experiment = adder();
  const LogicNetwork network = network_of(experiment);
  const Hardening hardening = at_progress({.kind = HardeningKind::noise}, 1);
  const Tensor x = random_tensor({6, 15}, DType::float64, 1, {0, 1});
  const auto outputs = [&](std::int64_t step) {
    return training_outputs(network, x, hardening, experiment, step).detach();
  };
  EXPECT_TRUE(same_bits(outputs(4), outputs(4)));
  EXPECT_FALSE(same_bits(outputs(4), outputs(5)));
}

TEST(TrainingOutputs, CircuitsHardenAndResumeToTheSameBits) {
  for (const std::string kind :
       {"blend", "gates", "straight_through", "temperature", "noise", "freeze"}) {
    const Experiment experiment =
        adder({"hardening.kind=" + kind, "hardening.threshold=1", "hardening.steps=40",
               "network.parametrisation=walsh", "network.gradient_factor=1.1"});
    expect_resumable(experiment, 60, {17, 43});
    Trainer with(experiment);
    Trainer without(adder({"network.parametrisation=walsh", "network.gradient_factor=1.1"}));
    take(with, 10);
    take(without, 10);
    EXPECT_FALSE(same_bits(with.learner().parameters()[0].detach(),
                           without.learner().parameters()[0].detach()))
        << kind;
  }
}

TEST(TrainingOutputs, AreRefusedWhereTheyMeanNothing) {
  expect_error([] { adder({"hardening.kind=states"}); },
               "[experiment] test: expected hardening.kind states of automata only, received it of "
               "a circuit");
  expect_error([] { adder({"network.gradient_factor=0"}); },
               "[experiment] --set: expected network.gradient_factor to be a number above 0, "
               "received 0");
  expect_error(
      [] {
        adder({"task.kind=checkerboard", "network.gradient_factor=2"});
      },
      "[experiment] test: expected network.gradient_factor of circuits only, received 2 of an "
      "automaton");
  expect_error(
      [] {
        adder({"network.parametrisation=walsh", "search.refit=100"});
      },
      "[experiment] test: expected softmax16 or sigmoid for search.refit, received walsh");
}

}  // namespace
}  // namespace boolgrad
