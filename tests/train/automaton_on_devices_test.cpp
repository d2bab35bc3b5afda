// Automata trained on devices, compared with the CPU. Skipped without a device.
#include <gtest/gtest.h>

#include <cmath>
#include <string>
#include <vector>

#include "boolgrad/model/evaluation.h"
#include "boolgrad/train/search/trainer.h"
#include "tests/support/devices.h"
#include "tests/support/messages.h"
#include "tests/support/trainer_checks.h"

namespace boolgrad::train {
namespace {

class AutomatonOnDevices : public DeviceTest {};

/// An automaton with asynchronous updates, hardening, clipping and gradient noise.
Experiment busy(const std::vector<std::string>& overrides = {}) {
  return parse_experiment(R"(
    seed = 5
    [task]
    kind = "checkerboard"
    [automaton]
    channels = 3
    kernels = 4
    perceive = [8, 4, 2]
    update = [40, 20]
    height = 8
    width = 7
    steps = 6
    batch = 3
    fire_rate = 0.7
    [network]
    parametrisation = "softmax16"
    init = "residual"
    init_strength = 2
    [training]
    steps = 100
    learning_rate = 0.03
    weight_decay = 0.01
    clip_value = 1
    clip_norm = 20
    gradient_noise = 0.001
    [hardening]
    kind = "blend"
    threshold = 1
    steps = 40
  )",
                          "test", "busy", ".", overrides);
}

std::vector<double> losses(const Experiment& experiment, const Device& device, int steps) {
  Trainer trainer(experiment, device);
  std::vector<double> all;
  for (int i = 0; i < steps; ++i) {
    const StepResult result = trainer.step();
    EXPECT_TRUE(result.finite);
    all.push_back(result.loss);
  }
  return all;
}

void expect_same_curve(const Device& device, const Experiment& experiment) {
  const std::vector<double> cpu = losses(experiment, cpu_device, 50);
  const std::vector<double> there = losses(experiment, device, 50);
  for (std::size_t i = 0; i < cpu.size(); ++i) {
    EXPECT_NEAR(there[i], cpu[i], 2e-4 * cpu[i]) << experiment.name << ", step " << i;
  }
}

TEST_P(AutomatonOnDevices, HasTheLossesOfTheCpu) {
  expect_same_curve(device(), busy());
  expect_same_curve(device(), busy({"training.clip_norm=0"}));  // fused update
  // Rounding and hard gates turn the smallest difference into a large one, so they start late.
  for (const std::string kind : {"none", "gates", "states"}) {
    expect_same_curve(device(), busy({"hardening.kind=" + kind, "hardening.threshold=0.0001"}));
  }
  for (const std::string loss : {"l4", "bce", "focal"}) {
    expect_same_curve(device(), busy({"training.loss=" + loss, "hardening.kind=none"}));
  }
  expect_same_curve(device(), busy({"network.parametrisation=sigmoid", "network.init=gaussian",
                                    "automaton.start=seed", "automaton.border=periodic"}));
}

TEST_P(AutomatonOnDevices, HardensTheSameShareAsTheCpu) {
  // Hard gates and rounded states from the second step on, of wires that pass on nearly everything:
  // no state is near one half, where it might round to either side.
  const std::vector<std::string> sure = {
      "network.init=pass_through", "network.init_strength=6", "training.learning_rate=0.0001",
      "training.gradient_noise=0", "hardening.steps=4",       "hardening.threshold=100"};
  const auto with_kind = [&](const std::string& kind) {
    std::vector<std::string> overrides = sure;
    overrides.push_back("hardening.kind=" + kind);
    return busy(overrides);
  };
  const std::vector<double> soft = losses(with_kind("none"), cpu_device, 4);
  for (const std::string kind : {"gates", "states"}) {
    const std::vector<double> cpu = losses(with_kind(kind), cpu_device, 4);
    const std::vector<double> there = losses(with_kind(kind), device(), 4);
    for (std::size_t i = 0; i < cpu.size(); ++i) {
      EXPECT_NEAR(there[i], cpu[i], 1e-5 * cpu[i]) << kind << ", step " << i;
    }
    EXPECT_GT(std::abs(cpu[3] - soft[3]), 1e-3 * soft[3]) << kind << " make no difference";
  }
}

void expect_close(const Evaluation& a, const Evaluation& b) {
  EXPECT_NEAR(a.soft_loss, b.soft_loss, 1e-4 * b.soft_loss);
  EXPECT_EQ(a.hard_loss, b.hard_loss);
  EXPECT_DOUBLE_EQ(a.hard_accuracy, b.hard_accuracy);
  EXPECT_NEAR(a.bit_accuracy, b.bit_accuracy, 1e-12);
  EXPECT_EQ(a.soft_accuracy, b.soft_accuracy);
  EXPECT_LT(largest_error(a.picture, b.picture), 1e-4);
}

TEST_P(AutomatonOnDevices, EvaluatesAsTheCpuDoes) {
  for (const auto& overrides :
       std::vector<std::vector<std::string>>{{},
                                             {"automaton.start=seed", "automaton.fire_rate=1"},
                                             {"automaton.evaluation_starts=40"}}) {
    Trainer trainer(busy(overrides), device());
    take(trainer, 5);
    const Learner& learner = trainer.learner();
    expect_close(trainer.evaluate(), evaluate(learner.model().rule(), learner.experiment()));
  }
}

TEST_P(AutomatonOnDevices, GivesTheSameBitsTwiceAndAfterAStop) {
  for (const std::string clip : {"training.clip_norm=20", "training.clip_norm=0"}) {
    Trainer straight(busy({clip}), device());
    take(straight, 20);
    Trainer stopped(busy({clip}), device());
    take(stopped, 11);
    Trainer resumed(busy({clip}), device());
    resumed.restore(stopped.state(), "memory");
    take(resumed, 9);
    const TensorFile expected = straight.state();
    const TensorFile state = resumed.state();
    EXPECT_EQ(state.metadata, expected.metadata);
    for (const auto& [name, tensor] : expected.tensors) {
      EXPECT_TRUE(same_bits(state.tensors.at(name), tensor)) << name;
    }
  }
}

TEST_P(AutomatonOnDevices, ContinuesARunOfAnotherDevice) {
  for (const Device& first : {cpu_device, device()}) {
    const Device second = first.is_cpu() ? device() : cpu_device;
    Trainer begun(busy(), first);
    take(begun, 10);
    Trainer continued(busy(), second);
    continued.restore(begun.state(), "memory");
    EXPECT_EQ(continued.steps(), 10);
    const double there = continued.step().loss;
    const double here = begun.step().loss;
    EXPECT_NEAR(there, here, 1e-4 * here);
  }
}

TEST_P(AutomatonOnDevices, SearchesAsTheCpuDoes) {
  // Members, a curriculum and evaluations of hardened models, before hardening begins.
  const Experiment experiment =
      busy({"search.members=3", "search.until=12", "search.keep_best=true", "search.every=4",
            "hardening.kind=none", "curriculum.until=[5,9]", "curriculum.height=[5,6]",
            "curriculum.steps=[3,4]", "curriculum.batch=[2,4]"});
  Trainer cpu(experiment, cpu_device);
  Trainer other(experiment, device());
  for (int i = 0; i < 20; ++i) {
    const double expected = cpu.step().loss;
    EXPECT_NEAR(other.step().loss, expected, 2e-4 * expected) << "step " << i;
  }
  EXPECT_EQ(other.members(), 1);
  EXPECT_NEAR(other.evaluate().soft_loss, cpu.evaluate().soft_loss,
              2e-4 * cpu.evaluate().soft_loss);
}

TEST_P(AutomatonOnDevices, SearchIsResumable) {
  expect_resumable(
      busy({"search.members=2", "search.restart=fresh", "search.patience=4", "search.every=2",
            "search.local_search=5", "search.local_search_every=5",
            "search.local_search_max_error=1", "curriculum.until=[6]", "curriculum.height=[5]"}),
      16, {3, 9}, device());
}

TEST_P(AutomatonOnDevices, LearnsLife) {
  Trainer trainer(parse_experiment(R"(
    [task]
    kind = "life"
    [automaton]
    channels = 1
    kernels = 8
    perceive = [8, 4, 2, 1]
    update = [64, 32, 16, 8, 4, 2]
    steps = 1
    [network]
    parametrisation = "softmax16"
    init = "pass_through"
    init_strength = 5
    [training]
    learning_rate = 0.1
  )",
                                   "test", "life", "."),
                  device());
  const Evaluation before = trainer.evaluate();
  take(trainer, 120);
  const Evaluation after = trainer.evaluate();
  EXPECT_LT(after.soft_loss, 0.6 * before.soft_loss);
}

TEST_P(AutomatonOnDevices, EvaluatesTheWholeTaskDuringACurriculum) {
  Trainer trainer(busy({"curriculum.until=[9]", "curriculum.height=[4]"}), device());
  take(trainer, 3);
  const Learner& learner = trainer.learner();
  expect_close(trainer.evaluate(), evaluate(learner.model().rule(), learner.experiment()));
}

TEST_P(AutomatonOnDevices, EveryTechniqueIsResumable) {
  for (const std::vector<std::string>& technique : std::vector<std::vector<std::string>>{
           {"automaton.loss_steps=3", "automaton.extra_steps=4", "automaton.pool=5"},
           {"automaton.training_fire_rate=0.4", "training.gate_penalty=0.01"},
           {"hardening.kind=noise"},
           {"hardening.kind=freeze", "network.parametrisation=walsh", "network.init=gaussian"}}) {
    SCOPED_TRACE(technique[0]);
    expect_resumable(busy(technique), 10, {4}, device());
  }
}

TEST_P(AutomatonOnDevices, RejectsDoublePrecision) {
  expect_error([&] { Trainer(busy({"network.dtype=float64"}), device()); },
               "[device] " + to_string(device()) +
                   " does not support double precision (network.dtype = float64): train on the "
                   "cpu, or see `boolgrad devices`");
}

INSTANTIATE_TEST_SUITE_P(All, AutomatonOnDevices, all_other_devices, name_of_device);

}  // namespace
}  // namespace boolgrad::train
