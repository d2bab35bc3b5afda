// The layout of a gate network in its buffers. Internal to `vulkan/`.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "boolgrad/backend/device/network.h"
#include "boolgrad/backend/plan/lut_wires.h"

namespace boolgrad::vulkan {

/// Workgroup size of all network shaders.
constexpr int network_threads = 128;

/// A layer of gates, or the slots of learned wires. The latter are laid out as a layer whose gates
/// are the slots: its sources are the candidates, its readers are the candidates that are an input,
/// its tables are the slots with logits of their own, and its quads are the probabilities of their
/// candidates.
///
/// Trees of gates are laid out as a layer whose gates are the outputs, whose tables are the
/// kernels, and whose arity is the number of roots that an output pools. Their sources are the
/// inputs of all leaves, their readers are leaf rows: see `TreePlan`.
struct LayerLayout {
  int number, inputs, gates, arity;
  int levels;                   ///< of trees; 0 for layers and slots
  int first_section, sections;  ///< of trees: offset in the wires, and number
  bool pools;
  bool shares_tables;                  ///< gates share tables, or read places outside of an image
  int tables, positions;               ///< `positions` consecutive gates share a table
  int candidates;                      ///< per slot; 0 for gates
  bool has_outside;                    ///< slots: whether a place outside is a candidate
  int turn;                            ///< its place among gates and slots of all layers
  int in_row, out_row;                 ///< first rows among the activations
  int hard_in_row, hard_out_row;       ///< first rows among the words of the hardened circuit
  int sources, first_reader, readers;  ///< offsets in the wires; no sources (-1) if all inputs are
                                       ///< candidates
  int first_table, first_quad, first_logit;  ///< offsets among all layers
  int first_part;                            ///< offset of its partial sums of squared gradients
  float factor;                              ///< scale of its gradients
  int sum_chunks;                            ///< partial sums of its gradients; 0: as many as the
                                             ///< samples need
  int table_threads;                         ///< for its tables and the gradients of its logits

  int quads() const { return arity > 2 ? 1 << (arity - 2) : 1; }  ///< quads per table
  int lanes() const;                                              ///< threads per slot
  std::int64_t leaf_rows() const { return (std::int64_t{gates} * arity) << levels; }
  /// The numbers of slots and candidates, without their sources.
  CandidateWires size() const;
};

/// Layers that are computed at once: a single one, or trees.
struct StageLayout {
  std::size_t first, last;
  std::optional<LayerLayout> trees;
};

struct NetworkLayout {
  /// Those within trees have the rows and the turn of the trees.
  std::vector<LayerLayout> layers;
  std::vector<StageLayout> stages;
  std::vector<std::optional<LayerLayout>> slots;  ///< by layer, if its wires are learned
  std::vector<std::int32_t> wires;
  std::vector<Shape> logit_shapes;
  int rows = 0;       ///< rows of activations: inputs, slots and all stages
  int hard_rows = 0;  ///< of the hardened circuit: inputs, slots and all layers
  int widest = 0;     ///< maximum rows of output gradients of a stage, or of slots
  int tables = 0;
  int quads = 0;
  int logit_slots = 0;          ///< slots with logits of their own
  int weights = 0;              ///< one per candidate of these
  int logits = 0;               ///< of tables and of learned wires
  bool weighs_outputs = false;  ///< whether outputs count more than once in the sums of a head
  int exponents = 0;            ///< number of trained weights of outputs
  int gradient_parts = 0;
  float input_factor = 1;  ///< scale of the input gradients

  const LayerLayout& last() const { return layers.back(); }
  /// The gates or slots that read the inputs.
  const LayerLayout& first() const { return slots.front() ? *slots.front() : layers.front(); }
  std::int64_t inputs() const { return first().inputs; }
  std::int64_t outputs() const { return last().gates; }
  std::vector<std::int64_t> tables_of_layers() const;
};

/// The sources of candidates as shaders read them: -1 is a place outside of an image.
std::vector<std::int32_t> candidate_sources(const CandidateWires& candidates);

/// Throws if the network is too large for any device.
NetworkLayout network_layout(std::span<const LutWires> layers, const NetworkSpec& spec);

}  // namespace boolgrad::vulkan
