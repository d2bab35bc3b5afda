// The layout of a gate network in its buffers. Inside of `vulkan/`.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "boolgrad/backend/device/network.h"
#include "boolgrad/backend/plan/lut_wires.h"

namespace boolgrad::vulkan {

/// Threads per group, of all shaders of networks.
constexpr int network_threads = 128;

struct LayerLayout {
  int number, inputs, gates, arity;
  int in_row, out_row;                      ///< first rows among the activations
  int sources, first_reader, readers;       ///< offsets among the wires
  int first_gate, first_quad, first_logit;  ///< of all layers'
  int first_part;                           ///< of what is said of its gradients
  float factor;                             ///< of its gradients
  int table_threads;                        ///< for its tables, and for gradients of its logits

  int quads() const { return arity > 2 ? 1 << (arity - 2) : 1; }  ///< of a gate
};

struct NetworkLayout {
  std::vector<LayerLayout> layers;
  std::vector<std::int32_t> wires;
  std::vector<Shape> logit_shapes;
  int rows = 0;    ///< of activations: inputs and all layers
  int widest = 0;  ///< rows of gradients of a layer's outputs
  int gates = 0;
  int quads = 0;
  int logits = 0;
  int gradient_parts = 0;
  float input_factor = 1;  ///< of the gradients of the inputs

  const LayerLayout& last() const { return layers.back(); }
  std::int64_t inputs() const { return layers.front().inputs; }
  std::int64_t outputs() const { return last().gates; }
  std::vector<std::int64_t> gates_of_layers() const;
};

/// Refuses what no device can have.
NetworkLayout network_layout(std::span<const LutWires> layers, const NetworkSpec& spec);

}  // namespace boolgrad::vulkan
