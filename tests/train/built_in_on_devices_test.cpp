// Every built-in experiment and every single feature, for a few steps on every available device,
// compared with the CPU.
#include <gtest/gtest.h>

#include <algorithm>
#include <bitset>
#include <cmath>
#include <filesystem>
#include <map>
#include <string>
#include <tuple>
#include <vector>

#include "boolgrad/core/error.h"
#include "boolgrad/train/experiment/requirements.h"
#include "boolgrad/train/search/trainer.h"
#include "tests/support/devices.h"
#include "tests/support/generated_data.h"
#include "tests/support/light_pictures.h"
#include "tests/support/npy_file.h"
#include "tests/support/scratch.h"

namespace boolgrad::train {
namespace {

using testing_support::ScratchFolder;

using Overrides = std::vector<std::string>;

/// What training leaves after a few steps: their losses, then the loss of the evaluation, and the
/// first moments of all parameters, which show gradients that AdamW's update does not.
struct Outcome {
  std::vector<double> losses;
  std::vector<Tensor> moments;
};

Outcome outcome_on(const Device& device, const Experiment& experiment, int steps) {
  Trainer trainer(experiment, device);
  Outcome outcome;
  for (int step = 0; step < steps; ++step) {
    const StepResult result = trainer.step();
    EXPECT_TRUE(result.finite) << "step " << step;
    outcome.losses.push_back(result.loss);
  }
  outcome.losses.push_back(trainer.evaluate().soft_loss);
  outcome.moments = trainer.learner().moments().first;
  return outcome;
}

/// The largest relative difference.
double difference(const Outcome& received, const Outcome& expected) {
  double largest = 0;
  const auto note = [&](double error) {
    if (!(error <= largest)) largest = error;
  };
  for (std::size_t i = 0; i < expected.losses.size(); ++i) {
    note(std::abs(received.losses[i] - expected.losses[i]) / std::abs(expected.losses[i]));
  }
  for (std::size_t i = 0; i < expected.moments.size(); ++i) {
    if (received.moments[i].shape() != expected.moments[i].shape()) return 1;
    note(largest_error(received.moments[i], expected.moments[i]));
  }
  return largest;
}

constexpr double tolerance = 1e-3;

std::string test_name(const Device& device, std::string name) {
  for (char& c : name) {
    if (std::isalnum(static_cast<unsigned char>(c)) == 0) c = '_';
  }
  return to_string(device) + "_" + name;
}

// ---------------------------------------------------------------------------------------------
// Built-in experiments

const std::filesystem::path folder = std::filesystem::path(BOOLGRAD_SOURCE_DIR) / "experiments";

std::vector<std::string> built_in_names() {
  std::vector<std::string> names;
  for (const auto& entry : std::filesystem::directory_iterator(folder)) {
    if (entry.path().extension() == ".toml") names.push_back(entry.path().stem().string());
  }
  std::ranges::sort(names);
  return names;
}

/// Reduces sizes that would take too long on a software device. Nothing else is changed.
const std::map<std::string, Overrides> smaller = {
    {"mnist-384k", {"network.hidden=[8000, 8000, 8000, 8000, 8000]", "head.outputs=8000"}},
    {"fashion-mnist-384k", {"network.hidden=[8000, 8000, 8000, 8000, 8000]", "head.outputs=8000"}},
    {"mnist-l", {"head.outputs=8000"}},
    {"mnist-lut6", {"head.outputs=500"}},
    {"fashion-mnist-l", {"head.outputs=8000"}},
    {"cifar10-conv-s", {"training.batch=16"}},
    {"checkerboard", {"search.members=2"}},
    {"checkerboard-async", {"search.members=2"}},
    {"lizard", {"search.members=1"}},
    {"lizard-torus", {"search.members=1"}},
    {"letter-g", {"search.members=1"}},
    {"picture", {"search.members=1", "automaton.height=16", "automaton.width=16"}},
};

class BuiltInOnDevices : public testing::TestWithParam<std::tuple<Device, std::string>> {};

TEST_P(BuiltInOnDevices, TrainsAsOnTheCpu) {
  const Device device = std::get<0>(GetParam());
  const std::string& name = std::get<1>(GetParam());
  if (const std::string why_not = why_unavailable(device); !why_not.empty()) {
    GTEST_SKIP() << why_not;
  }
  const ScratchFolder data;
  const auto found = smaller.find(name);
  Overrides overrides = found == smaller.end() ? Overrides() : found->second;
  const std::filesystem::path file = folder / (name + ".toml");
  switch (read_experiment(file).task.kind) {
    case data::TaskKind::idx:
      testing_support::write_digits(data.path(), 130);
      overrides.push_back("data.path=" + data.path().string());
      break;
    case data::TaskKind::cifar10:
      testing_support::write_cifar10(data.path(), 130);
      overrides.push_back("data.path=" + data.path().string());
      break;
    case data::TaskKind::csv:
      testing_support::write_flowers(data / "flowers.csv", 150);
      overrides.push_back("data.path=" + (data / "flowers.csv").string());
      break;
    case data::TaskKind::rule:
      overrides.insert(overrides.end(), {"task.rule=B2/S/3", "automaton.channels=2"});
      break;
    case data::TaskKind::picture:
      if (name == "picture") overrides.push_back("task.file=" + (folder / "letter-g.txt").string());
      break;
    default: break;
  }
  const Experiment experiment = read_experiment(file, overrides);
  // Positions of an image often tie for the maximum. Once AdamW has turned rounding errors of zero
  // gradients into updates, they decide which position is larger.
  const int steps = experiment.convolution.size() > 0 ? 1 : 3;
  EXPECT_LE(difference(outcome_on(device, experiment, steps), outcome_on({}, experiment, steps)),
            tolerance);
}

INSTANTIATE_TEST_SUITE_P(All, BuiltInOnDevices,
                         testing::Combine(all_other_devices, testing::ValuesIn(built_in_names())),
                         [](const auto& info) {
                           return test_name(std::get<0>(info.param), std::get<1>(info.param));
                         });

// ---------------------------------------------------------------------------------------------
// Single features

const char* const circuit = R"(
[task]
kind = "add"
bits = 6
[network]
hidden = [40, 24]
[training]
learning_rate = 0.05
[hardening]
threshold = 100
steps = 10
)";

const char* const automaton = R"(
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
batch = 2
evaluation_starts = 3
[network]
init = "pass_through"
init_strength = 3
[training]
learning_rate = 0.05
[hardening]
threshold = 100
steps = 10
)";

/// Two classes, so that both heads fit.
const char* const classifier = R"(
[task]
kind = "monk1"
[network]
hidden = [48]
init = "residual"
[head]
outputs = 30
temperature = 3
[training]
learning_rate = 0.05
batch = 32
[hardening]
threshold = 100
steps = 10
)";

/// Images of 4 by 4 pixels.
const char* const images = R"(
[task]
kind = "idx"
[binarise]
kind = "uniform"
thresholds = 3
[network]
hidden = [48]
init = "residual"
[head]
outputs = 40
temperature = 3
[training]
learning_rate = 0.05
batch = 32
)";

const char* const values = R"(
[task]
kind = "csv"
[data]
target = "price"
[binarise]
kind = "quantile"
thresholds = 7
[network]
hidden = [48]
init = "residual"
[head]
kind = "regression"
outputs = 32
[training]
learning_rate = 0.05
batch = 32
)";

constexpr int feature_steps = 4;

struct FeatureCase {
  std::string name;
  const char* base;
  Overrides overrides;   ///< TEACHER stands for a file
  bool is_base = false;  ///< whether it equals the base experiment
};

std::vector<FeatureCase> feature_cases() {
  std::vector<FeatureCase> cases = {
      {"softmax16", circuit, {"network.parametrisation=softmax16"}},
      {"walsh", circuit, {"network.parametrisation=walsh"}},
      {"walsh arity 4", circuit, {"network.parametrisation=walsh", "network.arity=4"}},
      {"mixed arities", circuit, {"network.arity=[3, 1, 5]"}},
      {"shared wires", circuit, {"network.group_size=[2, 1, 1]"}},
      {"learned wires", circuit, {"network.candidates=4"}},
      {"mixed wires", circuit, {"network.candidates=4", "network.wire_forward=soft"}},
      {"gradient factor", circuit, {"network.gradient_factor=1.5"}},
      {"knockout", circuit, {"knockout.pattern=random", "knockout.share=0.3", "knockout.at=0"}},
      {"batches", circuit, {"training.batch=17"}},
      {"clipped values", circuit, {"training.clip_value=0.01"}},
      {"clipped norm", circuit, {"training.clip_norm=0.1"}},
      {"gradient noise", circuit, {"training.gradient_noise=0.1"}},
      {"weight decay", circuit, {"training.weight_decay=0.5"}},
      {"sigmoid automaton", automaton, {}, true},
      {"softmax16 automaton", automaton, {"network.parametrisation=softmax16"}},
      {"walsh automaton", automaton, {"network.parametrisation=walsh"}},
      {"periodic border", automaton, {"automaton.border=periodic"}},
      {"seed", automaton, {"automaton.start=seed"}},
      {"fire rate", automaton, {"automaton.fire_rate=0.6"}},
      {"training fire rate", automaton, {"automaton.training_fire_rate=0.6"}},
      {"loss steps", automaton, {"automaton.loss_steps=3"}},
      {"extra steps", automaton, {"automaton.extra_steps=4"}},
      {"extra steps and loss steps",
       automaton,
       {"automaton.extra_steps=4", "automaton.loss_steps=2"}},
      {"pool", automaton, {"automaton.pool=4"}},
      {"gate penalty", automaton, {"training.gate_penalty=100"}},
      {"gate penalty and clipped norm",
       automaton,
       {"training.gate_penalty=100", "training.clip_norm=0.1"}},
      {"noisy automaton", automaton, {"training.gradient_noise=0.01", "training.clip_value=0.1"}},
      {"memory", automaton, {"automaton.memory=24000B", "automaton.steps=12"}},
      {"curriculum",
       automaton,
       {"curriculum.until=[2]", "curriculum.height=[5]", "curriculum.steps=[3]"}},
      {"classes", classifier, {}, true},
      {"binary", classifier, {"head.kind=binary"}},
      {"convolutions", images, {"convolution.kernels=[4]", "convolution.window=2"}},
      {"padded convolutions",
       images,
       {"convolution.kernels=[4, 8]", "convolution.padding=1", "convolution.pool=[2, 1]",
        "network.parametrisation=softmax16"}},
      {"learned leaves",
       images,
       {"convolution.kernels=[4]", "convolution.padding=1", "convolution.candidates=5"}},
      {"mixed leaves",
       images,
       {"convolution.kernels=[4]", "convolution.padding=1", "convolution.candidates=5",
        "network.wire_forward=soft", "convolution.arity=3", "convolution.depth=2"}},
      {"class bits", images, {"head.kind=bits"}},
      {"weights of outputs", classifier, {"head.weights=powers", "training.learning_rate=1"}},
      {"weights and learned thresholds",
       images,
       {"head.weights=powers", "binarise.learn=true", "head.kind=bits",
        "training.learning_rate=1"}},
      {"adapted temperature", classifier, {"head.temperature_target=1.2"}},
      {"label smoothing", classifier, {"training.label_smoothing=0.2"}},
      {"binary label smoothing", classifier, {"head.kind=binary", "training.label_smoothing=0.2"}},
      {"teacher", images, {"training.teacher=TEACHER"}},
      {"teacher alone", images, {"training.teacher=TEACHER", "training.teacher_weight=1"}},
      {"all samples at once", classifier, {"training.batch=0"}},
      {"classifier of tables", classifier, {"network.arity=6"}},
      {"regression", values, {}, true},
      {"learned thresholds of numbers", values, {"binarise.learn=true"}},
      {"learned thresholds", images, {"binarise.learn=true"}},
      {"learned thresholds of shifted images",
       images,
       {"binarise.learn=true", "training.max_shift=1"}},
      {"image shifts", images, {"training.max_shift=2"}},
      {"image rotations", images, {"training.max_rotation=20"}},
      {"image scales", images, {"training.max_scale=0.2"}},
      {"image flips", images, {"training.flip=true"}},
      {"cut-outs", images, {"training.cutout=2"}},
      {"learned thresholds of rotated images",
       images,
       {"binarise.learn=true", "training.max_rotation=20", "training.max_shift=1"}},
  };
  for (const std::string arity : {"1", "2", "3", "4", "5", "6"}) {
    cases.push_back({"arity " + arity, circuit, {"network.arity=" + arity}, arity == "2"});
  }
  for (const std::string loss : {"squares", "l4", "bce", "focal"}) {
    const bool is_base = loss == "squares";
    cases.push_back({"loss " + loss, circuit, {"training.loss=" + loss}, is_base});
    cases.push_back({"loss " + loss + " automaton", automaton, {"training.loss=" + loss}, is_base});
  }
  for (const std::string kind :
       {"blend", "gates", "straight_through", "temperature", "noise", "freeze"}) {
    const std::string key = "hardening.kind=" + kind;
    cases.push_back({"hardening " + kind, circuit, {key, "network.arity=[3, 2, 4]"}});
    cases.push_back(
        {"hardening " + kind + " softmax16", circuit, {key, "network.parametrisation=softmax16"}});
    cases.push_back(
        {"hardening " + kind + " walsh", circuit, {key, "network.parametrisation=walsh"}});
    cases.push_back({"hardening " + kind + " automaton", automaton, {key}});
    cases.push_back({"hardening " + kind + " walsh automaton",
                     automaton,
                     {key, "network.parametrisation=walsh"}});
    cases.push_back({"hardening " + kind + " classifier", classifier, {key}});
  }
  cases.push_back({"hardening states automaton",
                   automaton,
                   {"hardening.kind=states", "network.init_strength=4"}});
  return cases;
}

/// The experiment of a case, with its data in `data`.
Experiment experiment_of(const FeatureCase& one, const ScratchFolder& data) {
  Overrides overrides = one.overrides;
  if (one.base == images) {
    testing_support::write_pictures(data.path(), "train", 80);
    overrides.push_back("data.path=" + data.path().string());
    testing_support::write_scores(data / "teacher.npy", 80, 4);
    std::ranges::replace(overrides, std::string("training.teacher=TEACHER"),
                         "training.teacher=" + (data / "teacher.npy").string());
  }
  if (one.base == values) {
    testing_support::write_flowers(data / "flowers.csv", 90);
    overrides.push_back("data.path=" + (data / "flowers.csv").string());
  }
  return parse_experiment(one.base, "test", one.name, "", overrides);
}

bool has_all_features(const Device& device, const Experiment& experiment) {
  return std::ranges::all_of(required_features(experiment),
                             [&](Feature feature) { return supports(device.backend, feature); });
}

class FeatureOnDevices : public testing::TestWithParam<Device> {};

TEST_P(FeatureOnDevices, TrainsAsOnTheCpu) {
  const Device& device = GetParam();
  if (const std::string why_not = why_unavailable(device); !why_not.empty()) {
    GTEST_SKIP() << why_not;
  }
  for (const FeatureCase& one : feature_cases()) {
    SCOPED_TRACE(one.name);
    const ScratchFolder data;
    const Experiment experiment = experiment_of(one, data);
    if (!has_all_features(device, experiment)) {
      EXPECT_THROW(Trainer(experiment, device), Error);
      continue;
    }
    EXPECT_LE(difference(outcome_on(device, experiment, feature_steps),
                         outcome_on({}, experiment, feature_steps)),
              tolerance);
  }
}

INSTANTIATE_TEST_SUITE_P(All, FeatureOnDevices, all_other_devices, name_of_device);

// Otherwise a device that ignores a feature would go unnoticed.
TEST(FeatureCases, MakeADifference) {
  for (const FeatureCase& one : feature_cases()) {
    if (one.is_base) continue;
    const ScratchFolder data;
    const Outcome plain =
        outcome_on({}, experiment_of({one.name, one.base, {}}, data), feature_steps);
    const Outcome with = outcome_on({}, experiment_of(one, data), feature_steps);
    EXPECT_GT(difference(with, plain), 10 * tolerance) << one.name;
  }
}

TEST(FeatureCases, CoverAllFeaturesOfTraining) {
  // The last two are those of the CPU alone.
  Capabilities covered =
      capabilities(Feature::hardened_grids, Feature::float64, Feature::network_gate_penalty);
  for (const FeatureCase& one : feature_cases()) {
    const ScratchFolder data;
    for (const Feature feature : required_features(experiment_of(one, data))) {
      covered.set(static_cast<std::size_t>(feature));
    }
  }
  for (const FeatureText& text : feature_texts()) {
    EXPECT_TRUE(covered[static_cast<std::size_t>(text.feature)]) << text.name;
  }
}

}  // namespace
}  // namespace boolgrad::train
