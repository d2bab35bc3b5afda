#include "boolgrad/backend/plan/network_buffers.h"
#include "boolgrad/backend/plan/lut_wires.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <numeric>
#include <set>
#include <vector>

#include "boolgrad/backend/plan/network_evaluation.h"
#include "boolgrad/logic/wiring.h"

namespace boolgrad {
namespace {

using namespace layout;
using Indices = std::vector<std::int32_t>;

std::size_t index(std::int64_t i) { return static_cast<std::size_t>(i); }

Indices sorted(Indices indices) {
  std::ranges::sort(indices);
  return indices;
}

Indices in_order(std::int64_t count) {
  Indices indices(index(count));
  std::iota(indices.begin(), indices.end(), 0);
  return indices;
}

/// Layers of random wires, and the wirings that own them.
struct Wired {
  std::vector<logic::WiringPtr> wirings;
  std::vector<LutWires> layers;

  Wired(std::int64_t inputs, const std::vector<std::int64_t>& widths,
        const std::vector<int>& arities) {
    for (std::uint32_t i = 0; i < widths.size(); ++i) {
      wirings.push_back(logic::random_wiring({inputs, widths[i], arities[i]}, 3, i));
      layers.push_back(wirings.back()->view());
      inputs = widths[i];
    }
  }
};

std::vector<Wired> networks() {
  std::vector<Wired> all;
  all.emplace_back(13, std::vector<std::int64_t>{40, 40, 10}, std::vector<int>{2, 2, 2});
  all.emplace_back(1, std::vector<std::int64_t>{6, 1}, std::vector<int>{2, 2});
  all.emplace_back(9, std::vector<std::int64_t>{12, 10, 8, 6, 5, 4},
                   std::vector<int>{4, 2, 2, 6, 1, 3});
  all.emplace_back(50, std::vector<std::int64_t>{3, 30, 7}, std::vector<int>{2, 3, 2});
  return all;
}

TEST(NetworkBuffers, ContainEveryGateAndInputOnce) {
  for (const Wired& network : networks()) {
    const std::vector<LayerBuffers> rows = plan_network_buffers(network.layers, 0);
    ASSERT_EQ(rows.size(), network.layers.size());
    for (std::size_t i = 0; i < rows.size(); ++i) {
      const LutWires& wires = network.layers[i];
      EXPECT_EQ(sorted(rows[i].gate_order), in_order(wires.gates));
      EXPECT_EQ(sorted(rows[i].input_order), in_order(wires.inputs));
      EXPECT_EQ(sorted(rows[i].input_rows), in_order(wires.inputs));
      EXPECT_EQ(sorted(rows[i].output_rows), in_order(wires.gates));
      EXPECT_EQ(rows[i].gradient_rows, rows[i].output_rows);
    }
  }
}

TEST(NetworkBuffers, LayersAgreeOnTheRowsBetweenThem) {
  for (const Wired& network : networks()) {
    const std::vector<LayerBuffers> rows = plan_network_buffers(network.layers, 0);
    EXPECT_EQ(rows.front().input_rows, in_order(network.layers.front().inputs));
    EXPECT_EQ(rows.back().output_rows, in_order(network.layers.back().gates));
    for (std::size_t i = 1; i < rows.size(); ++i) {
      EXPECT_EQ(rows[i].input_rows, rows[i - 1].output_rows) << "layer " << i;
      if (network.layers[i].arity != 2) {
        EXPECT_EQ(rows[i].input_rows, in_order(network.layers[i].inputs)) << "layer " << i;
        continue;
      }
      // Inputs are stored in the input order.
      for (std::size_t at = 0; at < rows[i].input_order.size(); ++at) {
        EXPECT_EQ(rows[i].input_rows[index(rows[i].input_order[at])],
                  static_cast<std::int32_t>(at));
      }
    }
  }
}

TEST(NetworkBuffers, SummedGatesAreOrderedByGroup) {
  constexpr std::int64_t groups = 5;
  for (const int arity : {2, 3}) {
    const Wired network(20, {30, 40}, {2, arity});
    const LayerBuffers last = plan_network_buffers(network.layers, groups).back();
    EXPECT_EQ(sorted(last.gate_order), in_order(40));
    for (std::size_t i = 0; i < last.gate_order.size(); ++i) {
      EXPECT_EQ(last.gate_order[i] / 8, static_cast<std::int32_t>(i) / 8);
    }
    for (std::int32_t gate = 0; gate < 40; ++gate) {
      EXPECT_EQ(last.gradient_rows[index(gate)], gate / 8);
      EXPECT_EQ(last.output_rows[index(gate)], gate);
    }
  }
}

TEST(NetworkBuffers, PairGatesReadTheRowsOfTheirInputs) {
  const Wired network(13, {40, 40, 10}, {2, 2, 2});
  const std::vector<LayerBuffers> rows = plan_network_buffers(network.layers, 2);
  for (std::size_t i = 0; i < rows.size(); ++i) {
    const LutWires& wires = network.layers[i];
    const std::vector<PairGate> gates = pair_gates_of(wires, rows[i]);
    ASSERT_EQ(std::ssize(gates), wires.gates);
    for (std::size_t at = 0; at < gates.size(); ++at) {
      const PairGate& gate = gates[at];
      EXPECT_EQ(gate.gate, rows[i].gate_order[at]);
      EXPECT_EQ(gate.row, rows[i].gradient_rows[index(gate.gate)]);
      const Indices sources = source_rows_of(wires, rows[i]);
      EXPECT_EQ(gate.a, sources[index(gate.gate) * 2]);
      EXPECT_EQ(gate.b, sources[index(gate.gate) * 2 + 1]);
    }
  }
}

TEST(NetworkBuffers, PairInputsListEveryReaderOnce) {
  constexpr std::int32_t zero_row = 1000;
  for (const Wired& network : networks()) {
    const std::vector<LayerBuffers> rows = plan_network_buffers(network.layers, 0);
    for (std::size_t i = 0; i < rows.size(); ++i) {
      const LutWires& wires = network.layers[i];
      if (wires.arity != 2) continue;
      std::multiset<std::pair<std::int32_t, std::int32_t>> read;  // gate and slot
      Indices ended;
      std::int32_t open = -1;
      for (const PairInput& entry : pair_inputs_of(wires, rows[i], zero_row)) {
        EXPECT_EQ((entry.flags & continues) != 0, open >= 0);
        if (open >= 0) {
          EXPECT_EQ(entry.row, open);
        }
        open = (entry.flags & ends) != 0 ? -1 : entry.row;
        if (open < 0) ended.push_back(entry.row);
        const auto look_at = [&](const PairReader& reader, bool second) {
          if (reader.g == zero_row) {
            EXPECT_TRUE(second) << "a missing reader must not contribute to sums";
            EXPECT_EQ(reader.partner, entry.row);
            return;
          }
          read.emplace(reader.gate, second ? 1 : 0);
          EXPECT_EQ(reader.g, rows[i].gradient_rows[index(reader.gate)]);
          const auto sources = wires.sources.subspan(index(reader.gate) * 2, 2);
          EXPECT_EQ(rows[i].input_rows[index(sources[second ? 1 : 0])], entry.row);
          EXPECT_EQ(rows[i].input_rows[index(sources[second ? 0 : 1])], reader.partner);
        };
        look_at(entry.first, (entry.flags & first_reads_second) != 0);
        look_at(entry.second, (entry.flags & second_reads_second) != 0);
      }
      EXPECT_EQ(sorted(ended), in_order(wires.inputs));
      EXPECT_EQ(std::ssize(read), wires.gates * 2);
      EXPECT_EQ(std::set(read.begin(), read.end()).size(), read.size());
    }
  }
}

TEST(NetworkBuffers, OffsetsHaveNoGapsExceptAlignment) {
  const Wired network(9, {3, 5, 7, 6}, {1, 2, 2, 3});
  const NetworkSpec spec{.parametrisation = Parametrisation::sigmoid, .gradient_factor = 2};
  const NetworkOffsets offsets = plan_network_offsets(network.layers, spec);
  const auto& layers = offsets.layers;
  ASSERT_EQ(layers.size(), 4U);
  EXPECT_EQ(layers[0].first_entry, 0U);
  EXPECT_EQ(layers[1].first_entry, 8U) << "six entries, and the next multiple of four";
  EXPECT_EQ(layers[2].first_entry, 28U);
  EXPECT_EQ(layers[3].first_entry, 56U);
  EXPECT_EQ(offsets.entries, 104U);
  EXPECT_EQ(layers[2].first_table, 8U);
  EXPECT_EQ(offsets.tables, 21U);
  EXPECT_EQ(layers[1].first_logit, 6U);
  EXPECT_EQ(layers[3].first_logit, 54U);
  EXPECT_EQ(offsets.logits, 102U);
  EXPECT_EQ(layers[0].gradient_factor, 8);
  EXPECT_EQ(layers[3].gradient_factor, 1);
  EXPECT_EQ(offsets.input_gradient_factor, 16);
  const std::vector<Shape> shapes = logit_shapes(network.layers, spec);
  EXPECT_EQ(shapes[0], (Shape{3, 2}));
  EXPECT_EQ(shapes[3], (Shape{6, 8}));
}

TEST(NetworkBuffers, GatesThatShareATableHaveOneSetOfParameters) {
  Wired network(4, {6, 5}, {2, 2});
  network.layers[0].positions = 3;
  const NetworkSpec spec{.parametrisation = Parametrisation::sigmoid};
  const NetworkOffsets offsets = plan_network_offsets(network.layers, spec);
  EXPECT_EQ(offsets.tables, 2U + 5U);
  EXPECT_EQ(offsets.layers[1].first_entry, 8U);
  EXPECT_EQ(offsets.logits, 28U);
  EXPECT_EQ(logit_shapes(network.layers, spec)[0], (Shape{2, 4}));
  network.layers[0].pools = true;
  EXPECT_EQ(plan_network_offsets(network.layers, spec).tables, 5U);
  EXPECT_EQ(logit_shapes(network.layers, spec)[0], (Shape{0, 4}));
}

TEST(NetworkBuffers, InputBitsHavePixelCoordinates) {
  const std::vector<std::int32_t> sources{0, 7, 29};
  const std::vector<float> thresholds{1, 2, 3};
  FeatureSamples samples;
  samples.sources = sources;
  samples.thresholds = thresholds;
  samples.height = 3;
  samples.width = 5;
  const std::vector<InputBit> bits = input_bits_of(samples);
  ASSERT_EQ(bits.size(), 3U);
  EXPECT_EQ(bits[1].feature, 7);
  EXPECT_EQ(bits[1].x, 2);
  EXPECT_EQ(bits[1].y, 1);
  EXPECT_EQ(bits[2].x, 4);
  EXPECT_EQ(bits[2].y, 2) << "of the second channel";
  EXPECT_EQ(bits[2].threshold, 3);
  samples.height = samples.width = 0;
  EXPECT_EQ(input_bits_of(samples)[1].x, 0) << "which is no image";
}

TEST(NetworkEvaluation, BatchesAreAsLargeAsMemoryAllows) {
  EXPECT_EQ(evaluation_batch(500, 10, 1 << 20, 128), 500);
  EXPECT_EQ(evaluation_batch(5000, 10, 80 * 1000, 128), 896);
  EXPECT_EQ(evaluation_batch(5000, 1000, 8, 128), 128) << "at least one unit";
  EXPECT_EQ(evaluation_batch(100, 1000, 8, 128), 100);
}

TEST(NetworkEvaluation, CollectsScoresOfBatches) {
  ScoreCollector outputs({}, 2, 5);
  outputs.add_soft({0, 3}, std::vector<float>{1, 2, 3, -1, 4, 5, 6, -1}, 4);
  outputs.add_soft({3, 2}, std::vector<float>{7, 8, 9, 10}, 2);
  outputs.add_hard_bits({0, 3}, std::vector<std::uint32_t>{0b101, 0b011}, 1);
  outputs.add_hard_bits({3, 2}, std::vector<std::uint32_t>{0b10, 0b01}, 1);
  const NetworkScores scores = outputs.take();
  EXPECT_EQ(scores.soft.shape(), (Shape{2, 5}));
  const std::vector<double> soft{1, 2, 3, 7, 8, 4, 5, 6, 9, 10};
  const std::vector<double> hard{1, 0, 1, 0, 1, 1, 1, 0, 1, 0};
  for (std::int64_t i = 0; i < 10; ++i) {
    EXPECT_EQ(scores.soft.at(i), soft[index(i)]);
    EXPECT_EQ(scores.hard.at(i), hard[index(i)]);
  }
  ScoreCollector sums({.head = Head{.classes = 2}}, 8, 3);
  sums.add_hard_sums({0, 3}, std::vector<std::int32_t>{1, 2, 3, 0, 4, 5, 6, 0}, 4);
  const NetworkScores counted = sums.take();
  EXPECT_EQ(counted.hard.dtype(), DType::int32);
  EXPECT_EQ(counted.hard.shape(), (Shape{2, 3}));
  EXPECT_EQ(counted.hard.at(3), 4);
}

}  // namespace
}  // namespace boolgrad
