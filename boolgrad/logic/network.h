// Networks of look-up-table layers, with masks that switch gates off.
//
// Tables follow the one order of the library: entry i is the output where input j is bit j of i.
#pragma once

#include <cstdint>
#include <vector>

#include "boolgrad/logic/lut.h"
#include "boolgrad/logic/parametrisation.h"
#include "boolgrad/logic/wire_candidates.h"
#include "boolgrad/logic/wiring.h"
#include "boolgrad/tensor/safetensors.h"

namespace boolgrad::logic {

/// A layer of a network.
struct GateLayer {
  WiringPtr wiring;  ///< learned wires: those to the best candidates, by `Network::choose_wires`
  Tensor logits;     ///< the trainable parameter: [tables, logits per table]; empty for pooling
  Tensor mask;       ///< [tables], multiplied into the outputs; 0 switches a gate off
  // Only for learned wires:
  CandidatesPtr candidates = {};
  Tensor wire_logits = {};  ///< [gates, arity, candidates]

  /// Whether the wires are learned.
  bool learns_wires() const { return candidates != nullptr; }
};

/// The inputs and slots of a layer with learned wires in a forward pass.
struct SlotValues {
  Tensor inputs;  ///< [inputs, samples]; undefined if wires are fixed
  Tensor slots;   ///< [slots, samples]
};

/// Options of a new layer with random wiring.
struct LayerOptions {
  std::int64_t gates = 0;
  int arity = 2;  ///< inputs per gate, 1 to 6; softmax16 requires 2
  /// Candidate sources per gate input. 1: wires are fixed; 0: every source is a candidate.
  std::int64_t candidates = 1;
  /// Layers of one network may share a seed: the layer index enters the random numbers.
  std::uint64_t seed = 0;
  InitialOptions initialisation = {};
};

/// A feed-forward stack of gate layers with one parametrisation.
///
/// A mask is part of the function: it multiplies the table of a gate. A masked gate outputs 0, and
/// by the chain rule the gradient of its parameters is exactly 0.
class Network {
 public:
  /// A network without layers. dtype is float32 or float64.
  explicit Network(std::int64_t inputs,
                   Parametrisation parametrisation = Parametrisation::softmax16,
                   DType dtype = DType::float32);

  /// Adds a layer on top of the last one. `logits` is copied.
  void add_layer(WiringPtr wiring, const Tensor& logits);

  /// Adds a pooling layer, which has no parameters.
  void add_pooling(WiringPtr wiring);

  /// Adds a layer whose wires are learned. Logits are copied.
  void add_layer(CandidatesPtr candidates, const Tensor& wire_logits, const Tensor& logits);

  /// Adds a layer with random wiring and initial logits.
  void add_layer(const LayerOptions& options);

  /// Number of inputs.
  std::int64_t inputs() const { return inputs_; }
  /// Number of gates of the last layer, or of inputs if there is none.
  std::int64_t outputs() const;
  /// How logits become tables.
  Parametrisation parametrisation() const { return parametrisation_; }
  /// The dtype of logits and masks.
  DType dtype() const { return dtype_; }
  /// The layers, from the inputs to the outputs.
  const std::vector<GateLayer>& layers() const { return layers_; }

  /// The trainable parameters: the logits of all layers, then those of learned wires.
  std::vector<Tensor> parameters() const;

  /// Whether the wires of a layer are learned.
  bool learns_wires() const;
  /// Wires every gate to its most probable candidates. Call it after the wire logits have changed.
  void choose_wires();
  /// Replaces candidates and logits of a layer whose wires are learned. Logits are copied in place.
  void set_candidates(std::size_t layer, CandidatesPtr candidates, const Tensor& wire_logits);
  /// Keeps the chosen wires for good: afterwards no wires are learned.
  void fix_wires();

  /// The soft tables [tables, 2^arity] of all layers: one row per gate unless gates share tables.
  /// Masked gates have tables of zeros.
  std::vector<Tensor> tables() const { return tables(parameters()); }
  /// The soft tables that other logits would give. Uses the first ones, one per layer.
  std::vector<Tensor> tables(const std::vector<Tensor>& logits) const;
  /// The wirings of all layers.
  std::vector<WiringPtr> wirings() const;

  /// Soft forward pass: outputs [outputs, samples] for inputs [inputs, samples] between 0 and 1.
  Tensor soft(const Tensor& x) const { return soft(x, tables()); }

  /// Soft forward pass with other tables, which are not masked again.
  Tensor soft(const Tensor& x, const std::vector<Tensor>& tables) const;

  /// Forward pass of training: learned wires are read through their candidates. `wire_logits` has
  /// one tensor per layer, undefined for layers with fixed wires. `values`, if given, receives one
  /// element per layer.
  Tensor soft(const Tensor& x, const std::vector<Tensor>& tables,
              const std::vector<Tensor>& wire_logits, WireForward forward, double temperature,
              std::vector<SlotValues>* values = nullptr) const;

  /// The soft outputs of every layer.
  std::vector<Tensor> soft_layers(const Tensor& x) const;

  /// Hard forward pass on packed bits, masks included. A mask below one half switches a gate off.
  BitMatrix hard(const BitMatrix& x) const;
  /// The hard outputs of every layer.
  std::vector<BitMatrix> hard_layers(const BitMatrix& x) const;

  /// The hard tables of one layer: uint8 [tables, 2^arity]. Masked gates have tables of zeros.
  Tensor hard_tables_of(std::size_t index) const;
  /// The hard tables of all gates of one layer: uint8 [gates, 2^arity].
  Tensor hard_gates_of(std::size_t index) const;

  /// The mask of the inputs: [inputs].
  const Tensor& input_mask() const { return input_mask_; }
  /// Sets the mask of the inputs. It applies from the next forward pass on.
  void set_input_mask(const Tensor& mask);
  /// Sets the mask [tables] of a layer. It applies from the next forward pass on.
  void set_mask(std::size_t layer, const Tensor& mask);

  /// Wires, logits, masks and candidates as tensors, with the architecture as metadata.
  TensorFile to_file() const;
  /// The network of a file. Throws if a part is missing.
  static Network from_file(const TensorFile& file);

 private:
  Tensor masked_tables(const GateLayer& layer, const Tensor& logits) const;
  Tensor masked_inputs(const Tensor& x) const;

  std::int64_t inputs_;
  Parametrisation parametrisation_;
  DType dtype_;
  Tensor input_mask_;
  std::vector<GateLayer> layers_;
};

/// The file of a network without the candidates of learned wires: it keeps the chosen wires.
TensorFile without_candidates(TensorFile file);

}  // namespace boolgrad::logic
