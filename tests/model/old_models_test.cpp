// Models saved by earlier versions: they load and evaluate to the results of the version that
// saved them.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include "boolgrad/model/evaluation.h"
#include "boolgrad/model/model.h"
#include "boolgrad/model/samples.h"
#include "boolgrad/model/scenario.h"
#include "boolgrad/model/tasks.h"

namespace boolgrad {
namespace {

LoadedModel old_model(const std::string& name) {
  return load_model(std::string(BOOLGRAD_SOURCE_DIR) + "/tests/data/models/" + name +
                    ".safetensors");
}

void expect_near(double received, double expected) {
  EXPECT_NEAR(received, expected, 1e-6 * std::abs(expected));
}

void expect_inspection(const Model& model, std::int64_t gates, std::int64_t active,
                       std::int64_t depth) {
  const Inspection found = model.inspect();
  EXPECT_EQ(found.gates, gates);
  EXPECT_EQ(found.active_gates, active);
  EXPECT_EQ(found.depth, depth);
}

TEST(OldModels, ACircuitIsAsGoodAsItWas) {
  const auto [spec, model] = old_model("add");
  EXPECT_EQ(spec->name, "add");
  EXPECT_EQ(spec->task.kind, data::TaskKind::add);
  const Cases cases(make_task(*spec), model.network().dtype());
  EXPECT_EQ(cases.inputs.shape()[1], 256);
  const Evaluation evaluation = evaluate(model.network(), cases, spec->loss);
  expect_near(evaluation.soft_loss, 0.0025106582324951887);
  EXPECT_EQ(evaluation.hard_loss, 0);
  EXPECT_EQ(evaluation.soft_accuracy, 1);
  EXPECT_EQ(evaluation.hard_accuracy, 1);
  EXPECT_EQ(evaluation.bit_accuracy, 1);
  expect_inspection(model, 933, 465, 5);
}

TEST(OldModels, AClassifierIsAsGoodAsItWas) {
  const auto [spec, model] = old_model("monk2");
  ASSERT_TRUE(model.classifier().has_value());
  const Head& head = model.classifier()->head;
  EXPECT_EQ(head.kind, HeadKind::binary);
  const data::SampleSet test = load_test_samples(*spec, *model.classifier());
  const Predictions predicted = predict(model, test);
  const Evaluation evaluation = evaluation_of(predicted, head, test.labels);
  expect_near(evaluation.soft_loss, 0.39807480573654175);
  EXPECT_EQ(evaluation.soft_accuracy, 0.8958333333333334);
  EXPECT_EQ(evaluation.hard_loss, 38);
  EXPECT_EQ(evaluation.hard_accuracy, 0.912037037037037);
  EXPECT_EQ(confusion(predicted.hard, test.labels, head.classes),
            (std::vector<std::vector<std::int64_t>>{{276, 14}, {24, 118}}));
  expect_inspection(model, 488, 119, 5);
}

TEST(OldModels, AnAutomatonIsAsGoodAsItWas) {
  const LoadedModel loaded = old_model("checkerboard");
  const ModelSpec& spec = *loaded.spec;
  const automata::Rule& rule = loaded.model.rule();
  expect_near(evaluate(rule, spec).soft_loss, 127.13691711425781);
  const std::vector<Scenario> scenarios = scenarios_of(spec);
  const auto wrong_bits = [&](const std::string& name) {
    const auto found = std::ranges::find(scenarios, name, &Scenario::name);
    EXPECT_NE(found, scenarios.end()) << name;
    return play(spec, rule, *found, 32).bits;
  };
  EXPECT_EQ(wrong_bits("fresh starts"), 4030);
  EXPECT_EQ(wrong_bits("twice as large"), 16323);
  EXPECT_EQ(wrong_bits("fire rate 0.6"), 4017);
  expect_inspection(loaded.model, 112, 63, 5);
}

}  // namespace
}  // namespace boolgrad
