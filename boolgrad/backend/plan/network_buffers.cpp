#include "boolgrad/backend/plan/network_buffers.h"

#include <cmath>
#include <numeric>
#include <utility>

#include "boolgrad/backend/plan/gate_order.h"

namespace boolgrad {

using namespace layout;

namespace {

using Indices = std::vector<std::int32_t>;

std::size_t index(std::int64_t i) { return static_cast<std::size_t>(i); }

Indices in_order(std::int64_t count) {
  Indices indices(index(count));
  std::iota(indices.begin(), indices.end(), 0);
  return indices;
}

/// The inverse permutation.
Indices inverse_of(const Indices& order) {
  Indices rows(order.size());
  for (std::size_t i = 0; i < order.size(); ++i) {
    rows[index(order[i])] = static_cast<std::int32_t>(i);
  }
  return rows;
}

/// Whether the gates of a layer are ordered by shared inputs. With learned wires, gates read their
/// slots in order. Convolutions read images in order.
bool has_gate_order(const LutWires& wires) {
  return wires.arity == 2 && !wires.learns_wires() && wires.has_own_tables();
}

Indices gates_by_group(const LutWires& wires, std::int64_t groups) {
  Indices order;
  order.reserve(index(wires.gates));
  const std::int64_t per_group = wires.gates / groups;
  for (std::int64_t group = 0; group < groups; ++group) {
    const Indices part = order_gates(wires, group * per_group, (group + 1) * per_group);
    order.insert(order.end(), part.begin(), part.end());
  }
  return order;
}

}  // namespace

std::vector<LayerBuffers> plan_network_buffers(std::span<const LutWires> layers,
                                               std::int64_t groups) {
  std::vector<LayerBuffers> all;
  for (const LutWires& wires : layers) {
    LayerBuffers layer;
    layer.gate_order = layer.output_rows = layer.gradient_rows = in_order(wires.gates);
    layer.input_order = layer.input_rows = in_order(wires.inputs);
    if (has_gate_order(wires)) {
      layer.gate_order = order_gates(wires, 0, wires.gates);
      layer.input_order = order_inputs(wires, layer.gate_order);
      if (!all.empty()) {
        layer.input_rows = inverse_of(layer.input_order);
        all.back().output_rows = all.back().gradient_rows = layer.input_rows;
      }
    }
    all.push_back(std::move(layer));
  }
  if (groups > 0) {
    LayerBuffers& last = all.back();
    const std::int64_t per_group = layers.back().gates / groups;
    if (has_gate_order(layers.back())) last.gate_order = gates_by_group(layers.back(), groups);
    for (std::int32_t& row : last.gradient_rows) row = static_cast<std::int32_t>(row / per_group);
  }
  return all;
}

std::vector<PairGate> pair_gates_of(const LutWires& wires, const LayerBuffers& rows) {
  std::vector<PairGate> gates;
  gates.reserve(rows.gate_order.size());
  for (const std::int32_t gate : rows.gate_order) {
    const auto sources = wires.sources.subspan(index(gate) * 2, 2);
    gates.push_back({gate, rows.gradient_rows[index(gate)], rows.input_rows[index(sources[0])],
                     rows.input_rows[index(sources[1])]});
  }
  return gates;
}

std::vector<PairInput> pair_inputs_of(const LutWires& wires, const LayerBuffers& rows,
                                      std::int32_t zero_row) {
  const auto reader = [&](std::size_t k, std::size_t end, std::int32_t own) {
    if (k >= end) return PairReader{0, own, zero_row};
    const std::int32_t gate = wires.consumers[k].gate;
    return PairReader{gate, rows.input_rows[index(wires.partners[k])],
                      rows.gradient_rows[index(gate)]};
  };
  const auto reads_second = [&](std::size_t k, std::size_t end) {
    return k >= end || wires.consumers[k].slot == 1;
  };
  std::vector<PairInput> entries;
  for (const std::int32_t input : rows.input_order) {
    const std::size_t begin = wires.first_consumer[index(input)];
    const std::size_t end = wires.first_consumer[index(input) + 1];
    const auto own = rows.input_rows[index(input)];
    std::size_t k = begin;
    do {
      entries.push_back({.row = own,
                         .flags = (k > begin ? continues : 0) | (k + 2 >= end ? ends : 0) |
                                  (reads_second(k, end) ? first_reads_second : 0) |
                                  (reads_second(k + 1, end) ? second_reads_second : 0),
                         .first = reader(k, end, own),
                         .second = reader(k + 1, end, own)});
      k += 2;
    } while (k < end);
  }
  return entries;
}

std::vector<std::int32_t> source_rows_of(const LutWires& wires, const LayerBuffers& rows) {
  Indices result;
  result.reserve(wires.sources.size());
  for (const std::int32_t source : wires.sources) result.push_back(rows.input_rows[index(source)]);
  return result;
}

NetworkOffsets plan_network_offsets(std::span<const LutWires> layers, const NetworkSpec& spec) {
  NetworkOffsets all;
  int arity = layers.front().arity;  // of the last layer with tables
  for (std::size_t i = 0; i < layers.size(); ++i) {
    const LutWires& wires = layers[i];
    // Tables of two-input gates are loaded as vectors of four entries.
    if (!wires.pools && arity != wires.arity) {
      all.entries = (all.entries + 3) / 4 * 4;
      arity = wires.arity;
    }
    const auto layers_above = static_cast<double>(layers.size() - 1 - i);
    all.layers.push_back({.first_table = all.tables,
                          .first_entry = all.entries,
                          .first_logit = all.logits,
                          .gradient_factor = std::pow(spec.gradient_factor, layers_above)});
    all.tables += index(wires.tables());
    all.entries += index(wires.tables()) * wires.entries();
    all.logits += index(wires.tables() * logit_count(spec.parametrisation, wires.arity));
  }
  for (std::size_t i = 0; i < layers.size(); ++i) {
    all.layers[i].first_wire_logit = all.logits + all.wire_logits;
    all.wire_logits += index(layers[i].candidates.logit_slots() * layers[i].candidates.count);
  }
  all.input_gradient_factor = std::pow(spec.gradient_factor, static_cast<double>(layers.size()));
  return all;
}

std::vector<Shape> logit_shapes(std::span<const LutWires> layers, const NetworkSpec& spec) {
  std::vector<Shape> shapes;
  for (const LutWires& wires : layers) {
    shapes.push_back({wires.tables(), logit_count(spec.parametrisation, wires.arity)});
  }
  for (const LutWires& wires : layers) {
    if (wires.learns_wires()) {
      const CandidateWires& candidates = wires.candidates;
      shapes.push_back({wires.gates / candidates.positions, wires.arity, candidates.count});
    }
  }
  return shapes;
}

std::vector<InputBit> input_bits_of(const FeatureSamples& samples) {
  const bool is_image = samples.height > 0;
  std::vector<InputBit> bits;
  bits.reserve(samples.sources.size());
  for (std::size_t b = 0; b < samples.sources.size(); ++b) {
    const std::int64_t feature = samples.sources[b];
    const std::int64_t x = is_image ? feature % samples.width : 0;
    const std::int64_t y = is_image ? feature / samples.width % samples.height : 0;
    bits.push_back({static_cast<std::int32_t>(feature), static_cast<std::int32_t>(x),
                    static_cast<std::int32_t>(y), samples.thresholds[b]});
  }
  return bits;
}

}  // namespace boolgrad
