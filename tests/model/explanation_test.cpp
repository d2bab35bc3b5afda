#include "boolgrad/model/explanation.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <string>
#include <vector>

#include "boolgrad/core/random.h"
#include "boolgrad/model/explanation_picture.h"
#include "boolgrad/model/export.h"
#include "boolgrad/model/prediction.h"
#include "boolgrad/ops/shaping.h"
#include "boolgrad/picture/png.h"
#include "boolgrad/train/learners/network_learner.h"
#include "boolgrad/train/search/trainer.h"
#include "tests/support/messages.h"
#include "tests/support/scratch.h"

namespace boolgrad {
namespace {

LoadedModel trained(const std::string& toml, int steps = 60) {
  const train::Experiment experiment = train::parse_experiment(toml, "test", "test", "");
  train::Trainer trainer(experiment);
  for (int i = 0; i < steps; ++i) trainer.step();
  trainer.evaluate();
  return {experiment, Model::from_file(trainer.state(), "test")};
}

std::string monk(const std::string& head) {
  return "[task]\nkind = 'monk1'\n[network]\nhidden = [64]\ninit = 'residual'\n[head]\nkind = '" +
         head + "'\noutputs = 40\ntemperature = 3\n[training]\nlearning_rate = 0.1\n";
}

class ExplanationTest : public testing::TestWithParam<std::string> {
 protected:
  LoadedModel loaded_ = trained(monk(GetParam()));
  Tensor samples_ = samples_to_explain(loaded_);
};

TEST_P(ExplanationTest, InfluencesOfFeaturesAreThoseOfTheirBits) {
  const Influences influences = influences_of(loaded_, samples_);
  const HardClassifier hard(*loaded_.model.classifier(), netlist_of(loaded_));
  const std::vector<double> expected = hard.feature_influences(samples_);
  ASSERT_EQ(influences.inputs.size(), expected.size());
  for (std::size_t i = 0; i < expected.size(); ++i) {
    EXPECT_DOUBLE_EQ(influences.inputs[i].influence, expected[i]) << influences.inputs[i].name;
    EXPECT_LE(influences.inputs[i].read, influences.inputs[i].bits);
    if (influences.inputs[i].read == 0) {
      EXPECT_EQ(expected[i], 0);
    }
  }
  EXPECT_EQ(influences.samples, samples_.shape()[0]);
  EXPECT_EQ(influences.bits[0].condition, "a1 = 1");
  EXPECT_EQ(influences.bits[0].opposite, "a1 is not 1");
}

// The features are zeros and ones with one threshold each.
TEST_P(ExplanationTest, TheAnswerFollowsFromTheConditionsAlone) {
  const Influences influences = influences_of(loaded_, samples_);
  const HardClassifier hard(*loaded_.model.classifier(), netlist_of(loaded_));
  std::size_t freed = 0;
  for (std::int64_t row = 0; row < 10; ++row) {
    const Tensor sample = slice(samples_, 0, row, row + 1);
    const Decision decision = decision_of(loaded_, influences, sample);
    std::vector<bool> is_fixed(influences.inputs.size(), false);
    // A known category says what the others of its column are.
    for (const std::size_t kept : decision.kept_inputs) {
      const std::string& name = influences.inputs[kept].name;
      const std::string column = name.substr(0, name.find(" = "));
      for (std::size_t i = 0; i < is_fixed.size(); ++i) {
        if (influences.inputs[i].name.starts_with(column + " = ")) is_fixed[i] = true;
      }
    }
    freed += static_cast<std::size_t>(std::ranges::count(is_fixed, false));
    const double answer = hard.predict(sample)[0];
    for (std::uint32_t draw = 0; draw < 64; ++draw) {
      Tensor other = cast(sample, DType::float32).clone();
      const auto values = other.mutable_values<float>();
      for (std::size_t i = 0; i < values.size(); ++i) {
        if (!is_fixed[i])
          values[i] = static_cast<float>(random_bits({.step = draw, .index = i})[0] & 1);
      }
      EXPECT_EQ(hard.predict(other)[0], answer) << "sample " << row;
    }
  }
  if (GetParam() != "regression") {
    EXPECT_GT(freed, 0U);
  }
}

INSTANTIATE_TEST_SUITE_P(Heads, ExplanationTest,
                         testing::Values("classes", "binary", "bits", "regression"));

TEST(CircuitExplanation, FindsTheInputThatDecidesAnAnd) {
  const LoadedModel loaded = trained(
      "[task]\nkind = 'and'\nbits = 2\n[network]\nhidden = [16]\ninit = 'residual'\n"
      "[training]\nlearning_rate = 0.1\n",
      400);
  const Influences influences = influences_of(loaded);
  ASSERT_EQ(influences.inputs.size(), 2U);
  EXPECT_EQ(influences.samples, 4);
  for (const InputInfluence& input : influences.inputs) EXPECT_EQ(input.influence, 0.5);
  const Decision one = decision_of(loaded, influences, circuit_inputs(loaded, 3));
  EXPECT_EQ(one.answer, "1");
  EXPECT_EQ(one.conditions, (std::vector<std::string>{"a[0]", "b[0]"}));
  const Decision zero = decision_of(loaded, influences, circuit_inputs(loaded, 0));
  EXPECT_EQ(zero.answer, "0");
  ASSERT_EQ(zero.conditions.size(), 1U) << "either input is enough";
  EXPECT_TRUE(zero.conditions[0] == "not a[0]" || zero.conditions[0] == "not b[0]");
  ASSERT_FALSE(zero.gates.empty());
  EXPECT_FALSE(zero.gates.back().value);
  EXPECT_LE(std::ssize(zero.gates), zero.circuit_gates);
  expect_error([&] { circuit_inputs(loaded, 4); },
               "[explain] expected an input from 0 to 3, received 4");
  expect_error(
      [&] {
        influences_of(loaded, Tensor::zeros({1, 2}, DType::uint8));
      },
      "[explain] expected no samples for a circuit, received some");
  expect_error(
      [&] {
        decision_of(loaded, influences, Tensor::zeros({1, 3}, DType::uint8));
      },
      "[explain] expected one sample [1, 2], received [1, 3]");
}

TEST(ImageExplanation, DrawsAHeatMap) {
  // Images of 3 by 2 pixels, of which only the first matters.
  auto described = std::make_shared<data::DescribedSamples>();
  described->samples.features = Tensor({64, 6}, DType::uint8);
  described->samples.labels = Tensor({64}, DType::int32);
  const auto pixels = described->samples.features.mutable_values<std::uint8_t>();
  for (std::size_t i = 0; i < pixels.size(); ++i) {
    pixels[i] = static_cast<std::uint8_t>(random_bits({.index = i})[0] & 255U);
    if (i % 6 == 0)
      described->samples.labels.mutable_values<std::int32_t>()[i / 6] = pixels[i] > 127;
  }
  described->format = {.classes = {"dark", "bright"}, .channels = 1, .height = 2, .width = 3};
  train::Experiment experiment = train::parse_experiment(
      "[task]\nkind = 'npy'\n[network]\nhidden = [48]\ninit = 'residual'\n[head]\noutputs = 20\n"
      "temperature = 3\n[training]\nlearning_rate = 0.1\n",
      "test", "test", "");
  experiment.data.in_memory = described;
  train::Trainer trainer(experiment);
  for (int i = 0; i < 100; ++i) trainer.step();
  trainer.evaluate();
  const LoadedModel loaded{experiment, Model::from_file(trainer.state(), "test")};
  const Influences influences = influences_of(loaded, described->samples.features);
  const testing_support::ScratchFolder scratch;
  save_influences(scratch / "influences.png", loaded, influences);
  const picture::Image map = picture::read_png(scratch / "influences.png");
  const std::int64_t side = map.width / 3;
  EXPECT_EQ(map.height, 2 * side);
  EXPECT_EQ(map.at(0, 0), (picture::Colour{185, 0, 0})) << "the pixel with the most influence";
  const Tensor first = slice(described->samples.features, 0, 0, 1);
  save_decision(scratch / "decision.png", loaded, influences,
                decision_of(loaded, influences, first), first);
  const picture::Colour corner = picture::read_png(scratch / "decision.png").at(0, 0);
  EXPECT_EQ(corner,
            pixels[0] > 127 ? (picture::Colour{0, 150, 60}) : (picture::Colour{190, 30, 140}));
}

}  // namespace
}  // namespace boolgrad
