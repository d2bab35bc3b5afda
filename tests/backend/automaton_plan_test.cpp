#include "boolgrad/backend/plan/automaton_plan.h"

#include <gtest/gtest.h>
#include <rapidcheck.h>

#include <algorithm>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "boolgrad/automata/rule.h"
#include "boolgrad/backend/plan/lut_wires.h"
#include "tests/support/messages.h"

namespace boolgrad {
namespace {

using namespace layout;

std::size_t index(std::int64_t i) { return static_cast<std::size_t>(i); }

/// The wires of a rule, and the wirings that own them.
struct Wired {
  std::vector<logic::WiringPtr> perceive_wirings, update_wirings;
  std::vector<LutWires> perceive, update;
  RuleWires rule;

  explicit Wired(const automata::Rule& of)
      : perceive_wirings(of.perceive().wirings()), update_wirings(of.update().wirings()) {
    for (const logic::WiringPtr& wiring : perceive_wirings) perceive.push_back(wiring->view());
    for (const logic::WiringPtr& wiring : update_wirings) update.push_back(wiring->view());
    rule = {of.channels(), of.kernels(), perceive, update};
  }
};

automata::Rule rule_of(const automata::RuleShape& shape, std::uint64_t seed = 3) {
  return automata::Rule::make(shape, Border::zero, Parametrisation::softmax16, DType::float32, {},
                              seed);
}

RulePlan plan_of(const Wired& wired, int classes = 8) {
  return plan_rule(wired.rule, {.layers = 64, .tree_kernels = 16, .classes = classes});
}

/// The rows of the edges of a value.
std::vector<int> rows_of(const RulePlan& plan, const Reads& reads) {
  std::vector<int> rows;
  for (const std::uint32_t row : {reads.rows & 0xFFFF, reads.rows >> 16}) {
    if (row != 0) rows.push_back(static_cast<int>(row));
  }
  if (reads.rest >= 0) {
    const Rest& rest = plan.rest[index(reads.rest)];
    for (int i = 0; i < rest.count; ++i) rows.push_back(rest.first + i);
  }
  std::ranges::sort(rows);
  return rows;
}

int half(std::uint32_t pair, int which) { return static_cast<int>(pair >> (16 * which) & 0xFFFF); }

/// Checks that every wire of a layer has its own edge, and that the owner of an input reads all
/// edges to it.
void expect_edges_fit(const RulePlan& plan, std::size_t l, const std::vector<Reads>& owners) {
  const Layer& layer = plan.layers[l];
  std::map<int, std::vector<int>> written;  // by input
  std::set<int> all;
  for (int of = 0; of < layer.gates; ++of) {
    const Wires& wires = plan.wires[index(layer.first_gate + of)];
    for (int slot = 0; slot < 2; ++slot) {
      const int row = half(wires.edges, slot);
      EXPECT_GT(row, 0);
      EXPECT_LT(row, plan.edge_rows[l]);
      EXPECT_TRUE(all.insert(row).second) << "layer " << l << " writes row " << row << " twice";
      written[half(wires.sources, slot)].push_back(row);
    }
  }
  for (std::size_t input = 0; input < owners.size(); ++input) {
    std::vector<int>& rows = written[static_cast<int>(input)];
    std::ranges::sort(rows);
    EXPECT_EQ(rows_of(plan, owners[input]), rows) << "layer " << l << ", input " << input;
  }
}

std::vector<Reads> owners_of(const RulePlan& plan, std::size_t l) {
  if (l == index(plan.perceive_layers)) return plan.input_reads;
  if (l == 0) return {plan.patch_reads.begin(), plan.patch_reads.end()};
  const Layer& before = plan.layers[l - 1];
  std::vector<Reads> owners;
  for (int i = 0; i < before.gates; ++i) {
    owners.push_back(plan.wires[index(before.first_gate + i)].reads);
  }
  return owners;
}

/// The row of input u of the update.
int update_row(const RulePlan& plan, int channels, int u) {
  if (u < channels) return u;
  const int outputs = plan.kernel_outputs;
  return (1 + (u - channels) % outputs) * channels + (u - channels) / outputs;
}

/// Checks that positions and rows are a renumbering of the rule's gates and wires.
void expect_same_rule(const RulePlan& plan, const Wired& wired) {
  std::vector<int> row;
  for (std::int64_t u = 0; u < wired.update.front().inputs; ++u) {
    row.push_back(update_row(plan, static_cast<int>(wired.rule.channels), static_cast<int>(u)));
  }
  std::uint32_t first = 0;  // parameter of the layer
  for (const LutWires& wires : wired.perceive) first += static_cast<std::uint32_t>(wires.gates);
  for (std::size_t i = 0; i < wired.update.size(); ++i) {
    const Layer& layer = plan.layers[index(plan.perceive_layers) + i];
    ASSERT_EQ(layer.gates, wired.update[i].gates);
    std::vector<int> next(index(layer.gates), -1);
    for (int of = 0; of < layer.gates; ++of) {
      const std::size_t at = index(layer.first_gate + of);
      const std::uint32_t gate = plan.origin[at] - first;
      ASSERT_LT(gate, static_cast<std::uint32_t>(layer.gates));
      next[gate] = of;
      for (int slot = 0; slot < 2; ++slot) {
        const std::int32_t source = wired.update[i].sources[gate * 2 + index(slot)];
        EXPECT_EQ(half(plan.wires[at].sources, slot), row[index(source)]);
      }
    }
    EXPECT_EQ(std::ranges::count(next, -1), 0);
    row = next;
    first += static_cast<std::uint32_t>(layer.gates);
  }
  // The outputs of the last layer are the channels, in order.
  for (std::size_t c = 0; c < row.size(); ++c) EXPECT_EQ(row[c], static_cast<int>(c));
}

void expect_sound(const automata::Rule& rule, int classes) {
  const Wired wired(rule);
  const RulePlan plan = plan_of(wired, classes);
  expect_same_rule(plan, wired);
  const std::size_t first = plan.tree_outputs > 0 ? index(plan.perceive_layers) : 0;
  for (std::size_t l = first; l < plan.layers.size(); ++l) {
    expect_edges_fit(plan, l, owners_of(plan, l));
  }
  std::set<std::uint32_t> parameters;
  for (const std::uint32_t origin : plan.origin) parameters.insert(origin & ~swapped_inputs);
  EXPECT_EQ(static_cast<std::int64_t>(parameters.size()), plan.gates());
}

TEST(AutomatonPlan, RenumbersTheRule) {
  for (const int classes : {1, 2, 8}) {
    expect_sound(rule_of({1, 1, {8}, {}}), classes);
    expect_sound(rule_of({3, 2, {8, 4, 2}, {11, 7}}), classes);
    expect_sound(rule_of({2, 3, {8, 5}, {40, 7}}), classes);
    expect_sound(rule_of({8, 16, {8, 4, 2}, {256, 256, 128, 64, 8}}), classes);
    expect_sound(rule_of({1, 16, {8, 4, 2, 1}, {128, 64, 2}}), classes);
  }
}

TEST(AutomatonPlan, RecognisesTrees) {
  EXPECT_EQ(plan_of(Wired(rule_of({3, 2, {8, 4, 2}, {8}}))).tree_outputs, 2);
  EXPECT_EQ(plan_of(Wired(rule_of({3, 2, {8, 4, 2, 1}, {8}}))).tree_outputs, 1);
  EXPECT_EQ(plan_of(Wired(rule_of({3, 2, {8, 5}, {8}}))).tree_outputs, 0);
  EXPECT_EQ(plan_of(Wired(rule_of({3, 17, {8, 4, 2}, {8}}))).tree_outputs, 0);
  const RulePlan plan = plan_of(Wired(rule_of({3, 2, {8, 4, 2}, {8}})));
  std::vector<int> neighbours(plan.neighbours.begin(), plan.neighbours.end());
  EXPECT_EQ(neighbours.back(), 4);
  std::ranges::sort(neighbours);
  for (int i = 0; i < neighbourhood; ++i) EXPECT_EQ(neighbours[index(i)], i);
}

TEST(AutomatonPlan, KeepsGroupsOnDifferentBanks) {
  const RulePlan plan = plan_of(Wired(rule_of({8, 16, {8, 4, 2}, {256, 256, 256}})));
  const Layer& layer = plan.layers[4];
  int clean = 0;
  for (int first = 0; first < layer.gates; first += 8) {
    std::set<int> a;
    std::set<int> b;
    for (int of = first; of < first + 8; ++of) {
      const std::uint32_t sources = plan.wires[index(layer.first_gate + of)].sources;
      a.insert(half(sources, 0) % 8);
      b.insert(half(sources, 1) % 8);
    }
    clean += a.size() == 8 && b.size() == 8 ? 1 : 0;
  }
  EXPECT_GE(clean, 30) << "of 32 groups";
}

TEST(AutomatonPlan, MatchingsContainEveryEdgeOnce) {
  EXPECT_TRUE(rc::check([] {
    const int classes = *rc::gen::inRange(1, 9);
    const auto edges = *rc::gen::container<std::vector<std::pair<int, int>>>(
        rc::gen::pair(rc::gen::inRange(0, classes), rc::gen::inRange(0, classes)));
    RC_PRE(!edges.empty());
    std::vector<std::array<int, 2>> pairs;
    for (const auto& [a, b] : edges) pairs.push_back({a, b});
    std::vector<int> order = in_matchings(pairs, classes);
    std::vector<int> sorted = order;
    std::ranges::sort(sorted);
    for (std::size_t i = 0; i < sorted.size(); ++i) {
      RC_ASSERT(sorted[i] == static_cast<int>(i));
    }
    RC_ASSERT(sorted.size() == pairs.size());
    // In a regular graph all groups are matchings.
    std::vector<std::array<int, 2>> regular;
    for (int d = 0; d < 5; ++d) {
      for (int v = 0; v < classes; ++v) regular.push_back({v, (v + d * 3) % classes});
    }
    order = in_matchings(regular, classes);
    for (std::size_t first = 0; first < order.size(); first += index(classes)) {
      std::set<int> a;
      std::set<int> b;
      for (std::size_t i = first; i < first + index(classes); ++i) {
        a.insert(regular[index(order[i])][0]);
        b.insert(regular[index(order[i])][1]);
      }
      RC_ASSERT(a.size() == index(classes));
      RC_ASSERT(b.size() == index(classes));
    }
  }));
}

TEST(AutomatonPlan, DetectsCompressibleEdges) {
  // Layers of equal width: two readers per gate, and three for at most one gate.
  const automata::Rule rule = rule_of({8, 16, {8, 4, 2}, {256, 256, 128, 64, 8}});
  const Wired wired(rule);
  RulePlan plan = plan_of(wired);
  EXPECT_TRUE(plan.edges_are_in_place());
  const std::size_t first = index(plan.layers[index(plan.perceive_layers)].first_gate);

  RulePlan moved = plan;
  moved.wires[first].reads.rows += 1;
  EXPECT_FALSE(moved.edges_are_in_place());
  RulePlan far = plan;
  far.wires[first].sources = 4096;
  EXPECT_FALSE(far.edges_are_in_place());
  RulePlan read_often = plan;
  read_often.wires[first].reads.rest = static_cast<int>(plan.rest.size());
  read_often.rest.push_back({513, 2});
  EXPECT_FALSE(read_often.edges_are_in_place());
  read_often.rest.back() = {513, 1};
  EXPECT_TRUE(read_often.edges_are_in_place());

  // 64 gates that are read 512 times.
  const automata::Rule narrow = rule_of({8, 16, {8, 4, 2}, {64, 256, 8}});
  EXPECT_FALSE(plan_of(Wired(narrow)).edges_are_in_place());
}

TEST(AutomatonPlan, RefusesTooManyLayers) {
  const Wired wired(rule_of({1, 1, {8, 4, 2}, {8, 8}}));
  expect_error([&] { plan_rule(wired.rule, {.layers = 5}); },
               "[automaton plan] expected at most 5 layers, received 6");
}

}  // namespace
}  // namespace boolgrad
