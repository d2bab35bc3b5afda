// Networks of look-up-table layers, with masks that switch gates off.
#pragma once

#include <cstdint>
#include <vector>

#include "boolgrad/logic/lut.h"
#include "boolgrad/logic/parametrisation.h"
#include "boolgrad/logic/wiring.h"
#include "boolgrad/tensor/safetensors.h"

namespace boolgrad {

struct LogicLayer {
  WiringPtr wiring;
  Tensor logits;  ///< a parameter: [gates, logits]
  Tensor mask;    ///< [gates], multiplied into the outputs; 0 switches a gate off
};

/// Layers on top of one another, all of one parametrisation.
///
/// A mask belongs to the function: a masked gate outputs 0, and because its table is multiplied by
/// 0, the chain rule alone gives its parameters a gradient of exactly 0.
class LogicNetwork {
 public:
  LogicNetwork(std::int64_t inputs, Parametrisation parametrisation, DType dtype);

  /// Adds a layer that reads the one before (or the inputs). `logits` is copied.
  void add_layer(WiringPtr wiring, const Tensor& logits);

  std::int64_t inputs() const { return inputs_; }
  std::int64_t outputs() const;
  Parametrisation parametrisation() const { return parametrisation_; }
  DType dtype() const { return dtype_; }
  const std::vector<LogicLayer>& layers() const { return layers_; }

  /// The logits of all layers, to be trained.
  std::vector<Tensor> parameters() const;

  /// The soft tables [gates, 2^arity] of all layers, masked gates all 0, and their wirings; also
  /// those of other logits.
  std::vector<Tensor> tables() const { return tables(parameters()); }
  std::vector<Tensor> tables(const std::vector<Tensor>& logits) const;
  std::vector<WiringPtr> wirings() const;

  /// The outputs [outputs, samples] for inputs [inputs, samples] between 0 and 1.
  Tensor soft(const Tensor& x) const { return soft(x, tables()); }

  /// The same with other tables, masked as they are.
  Tensor soft(const Tensor& x, const std::vector<Tensor>& tables) const;

  /// The same, of every layer.
  std::vector<Tensor> soft_layers(const Tensor& x) const;

  /// What the hardened circuit computes: bits in, bits out, masks included (a mask below one half
  /// switches off).
  BitMatrix hard(const BitMatrix& x) const;
  std::vector<BitMatrix> hard_layers(const BitMatrix& x) const;

  /// The hard tables of a layer, masked gates all 0. uint8.
  Tensor hard_tables_of(std::size_t index) const;

  /// Masks: of the inputs, and of the gates of a layer. Taken into account from the next forward
  /// on; nothing is rebuilt.
  const Tensor& input_mask() const { return input_mask_; }
  void set_input_mask(const Tensor& mask);
  void set_mask(std::size_t layer, const Tensor& mask);

  /// Wires, logits and masks, with the architecture as metadata. `from_file` takes nothing less:
  /// a file that lacks a part is refused.
  TensorFile to_file() const;
  static LogicNetwork from_file(const TensorFile& file);

 private:
  Tensor masked_tables(const LogicLayer& layer, const Tensor& logits) const;
  Tensor masked_inputs(const Tensor& x) const;

  std::int64_t inputs_;
  Parametrisation parametrisation_;
  DType dtype_;
  Tensor input_mask_;
  std::vector<LogicLayer> layers_;
};

}  // namespace boolgrad
