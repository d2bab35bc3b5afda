#include "boolgrad/model/prediction.h"

#include <gtest/gtest.h>

#include <cmath>
#include <vector>

#include "boolgrad/circuit/harden.h"
#include "boolgrad/circuit/passes/passes.h"
#include "boolgrad/logic/head.h"
#include "boolgrad/model/evaluation.h"
#include "boolgrad/ops/shaping.h"
#include "boolgrad/train/learners/network_learner.h"
#include "boolgrad/train/search/trainer.h"
#include "tests/support/messages.h"
#include "tests/support/random_tensor.h"

namespace boolgrad {
namespace {

train::Experiment monk(const std::string& head) {
  return train::parse_experiment(
      "[task]\nkind = 'monk1'\n[network]\nhidden = [64]\ninit = 'residual'\n[head]\nkind = '" +
          head + "'\noutputs = 40\ntemperature = 3\n[training]\nlearning_rate = 0.1\n",
      "monk", "monk", "");
}

/// A classifier after some steps.
Model trained(const train::Experiment& experiment) {
  train::Trainer trainer(experiment);
  for (int i = 0; i < 30; ++i) trainer.step();
  trainer.evaluate();
  return Model::from_file(trainer.state(), "test");
}

class HardClassifierTest : public testing::TestWithParam<std::string> {
 protected:
  train::Experiment experiment_ = monk(GetParam());
  Model model_ = trained(experiment_);
  data::SampleSet samples_ = train::training_samples_of(experiment_)->train;
};

TEST_P(HardClassifierTest, AgreesWithTheNetwork) {
  const circuit::Netlist netlist = circuit::harden(model_.network());
  const HardClassifier hard(*model_.classifier(), netlist);
  const HardClassifier simplified(*model_.classifier(), circuit::simplify(netlist));
  const Predictions expected = predict(model_, samples_);
  EXPECT_EQ(hard.predict(samples_.features), expected.hard);
  EXPECT_EQ(simplified.predict(samples_.features), expected.hard);
  const Tensor sums = soft_sums(model_, samples_.features);
  EXPECT_EQ(logic::predictions(model_.classifier()->head, sums, model_.network().outputs()),
            expected.soft);
}

TEST_P(HardClassifierTest, InfluencesAreThoseOfFlippedBits) {
  const circuit::Netlist netlist = circuit::harden(model_.network());
  const HardClassifier hard(*model_.classifier(), netlist);
  const std::vector<double> influences = hard.influences(samples_.features);
  const std::vector<double> before = hard.predict(samples_.features);
  // The features are zeros and ones with one threshold each: flipping a feature flips its bit.
  const logic::Thresholds& thresholds = model_.classifier()->thresholds;
  const Head& head = model_.classifier()->head;
  double total = 0;
  ASSERT_EQ(influences.size(), static_cast<std::size_t>(thresholds.bits()));
  for (std::size_t bit = 0; bit < influences.size(); ++bit) {
    Tensor flipped = cast(samples_.features, DType::float32).clone();
    const auto width = static_cast<std::size_t>(thresholds.features());
    const auto values = flipped.mutable_values<float>();
    for (std::size_t s = 0; s < before.size(); ++s) {
      float& value = values[s * width + static_cast<std::size_t>(thresholds.sources()[bit])];
      value = 1 - value;
    }
    const std::vector<double> after = hard.predict(flipped);
    double change = 0;
    for (std::size_t s = 0; s < before.size(); ++s) {
      change += head.kind == HeadKind::regression
                    ? std::abs(after[s] - before[s]) / (head.high - head.low)
                    : static_cast<double>(after[s] != before[s]);
    }
    EXPECT_NEAR(influences[bit], change / static_cast<double>(before.size()), 1e-12);
    total += influences[bit];
  }
  EXPECT_GT(total, 0);
}

TEST_P(HardClassifierTest, RejectsOtherSamples) {
  const HardClassifier hard(*model_.classifier(), circuit::harden(model_.network()));
  const Tensor narrow = Tensor::zeros({3, 2}, DType::float32);
  const std::string message = "[predict] expected samples [samples, 17], received [3, 2]";
  expect_error([&] { hard.predict(narrow); }, message);
  expect_error([&] { hard.sums(narrow); }, message);
  expect_error([&] { soft_sums(model_, narrow); }, message);
  const Tensor none = Tensor::zeros({0, 17}, DType::float32);
  EXPECT_TRUE(hard.predict(none).empty());
  EXPECT_EQ(soft_sums(model_, none).shape()[1], 0);
  expect_error([&] { hard.influences(none); },
               "[influences] expected at least one sample, received none");
}

INSTANTIATE_TEST_SUITE_P(Heads, HardClassifierTest, testing::Values("classes", "binary", "bits"));

/// Minus the logarithm of the probability of the labels is the loss.
TEST(Probabilities, AreThoseOfTheLoss) {
  constexpr std::int64_t samples = 50;
  for (const HeadKind kind : {HeadKind::classes, HeadKind::binary, HeadKind::bits}) {
    const std::int64_t classes = kind == HeadKind::binary ? 2 : 4;
    const Head head{.kind = kind, .classes = classes, .temperature = 2.5};
    const std::int64_t outputs = 8 * head.groups();
    const Tensor sums =
        random_tensor({head.groups(), samples}, DType::float64, 1, {.low = 0, .high = 8});
    const Tensor p = logic::probabilities(head, sums, outputs);
    ASSERT_EQ(p.shape(), (Shape{classes, samples}));
    double loss = 0;
    Tensor labels = Tensor::zeros({samples}, DType::int32);
    for (std::int64_t s = 0; s < samples; ++s) {
      double total = 0;
      for (std::int64_t c = 0; c < classes; ++c) total += p.at(c * samples + s);
      EXPECT_NEAR(total, 1, 1e-12);
      labels.mutable_values<std::int32_t>()[static_cast<std::size_t>(s)] =
          static_cast<std::int32_t>(s % classes);
      loss -= std::log(p.at(s % classes * samples + s));
    }
    const double expected =
        logic::head_loss_of_sums(head, {sums, logic::largest_sums(head, outputs)}, labels).item();
    // The loss of bits is their mean, the probability of a class their product.
    const auto votes = static_cast<double>(kind == HeadKind::bits ? head.groups() : 1);
    EXPECT_NEAR(loss / samples / votes, expected, 1e-9);
  }
}

TEST(Probabilities, OfManyBitsDoNotUnderflow) {
  const Head head{.kind = HeadKind::bits, .classes = 600, .temperature = 0.001};
  const Tensor sums = Tensor::full({head.groups(), 1}, 8, DType::float64);
  const Tensor p = logic::probabilities(head, sums, 8 * head.groups());
  double total = 0;
  for (std::int64_t c = 0; c < head.classes; ++c) total += p.at(c);
  EXPECT_NEAR(total, 1, 1e-12) << "bits that give no class";
  expect_error([] { logic::probabilities({.kind = HeadKind::regression}, {}, 8); },
               "[probabilities] expected a head of classes, received regression");
}

TEST(SoftOutputs, AreSampleMajor) {
  logic::Network network(3, Parametrisation::sigmoid);
  network.add_layer({.gates = 2, .arity = 2, .seed = 1});
  const Tensor x = random_tensor({5, 3}, DType::float32, 1, {.low = 0, .high = 1});
  const Tensor y = soft_outputs(network, x);
  ASSERT_EQ(y.shape(), (Shape{5, 2}));
  Tensor one({3, 1}, DType::float32);
  for (std::size_t i = 0; i < 3; ++i) {
    one.mutable_values<float>()[i] = static_cast<float>(x.at(static_cast<std::int64_t>(6 + i)));
  }
  EXPECT_EQ(y.at(5), network.soft(one).at(1));
  EXPECT_EQ(soft_outputs(network, Tensor::zeros({0, 3}, DType::float32)).shape(), (Shape{0, 2}));
  expect_error(
      [&] {
        soft_outputs(network, Tensor::zeros({5, 2}, DType::float32));
      },
      "[predict] expected inputs [samples, 3], received [5, 2]");
}

}  // namespace
}  // namespace boolgrad
