// Hardened circuits as straight-line programs on words of 64 samples.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>

#include "boolgrad/circuit/bits/bit_circuit.h"

namespace boolgrad {

struct BitProgramView;

}  // namespace boolgrad

namespace boolgrad::circuit {

/// A scheduled circuit: the reachable gates as steps on slots of a scratch buffer. A gate with a
/// single reader is fused into that reader's step, steps of one kind are grouped into runs, and a
/// slot is reused after its last reader.
class BitProgram {
 public:
  explicit BitProgram(const BitCircuit& circuit);

  /// Computes all outputs. `inputs[i]` and `outputs[o]` point to `words` words of 64 samples each,
  /// at any alignment. Outputs must not overlap inputs or each other. Runs on the calling thread,
  /// and is thread-safe.
  void run(std::span<const std::uint64_t* const> inputs, std::span<std::uint64_t* const> outputs,
           std::size_t words) const;

  /// Number of inputs.
  std::int64_t inputs() const { return inputs_; }
  /// Number of outputs.
  std::int64_t outputs() const { return outputs_; }
  /// Two-input gates evaluated per sample.
  std::int64_t operations() const { return operations_; }
  /// Steps, each of one or two gates.
  std::int64_t steps() const;
  /// Runs of consecutive steps of one kind.
  std::int64_t runs() const;
  /// Slots of the scratch buffer.
  std::int64_t slots() const { return slots_; }
  /// Words per slot.
  std::int64_t row_words() const { return row_words_; }

  /// The program as a view for device kernels, valid as long as this object.
  BitProgramView code() const;

 private:
  std::int64_t inputs_;
  std::int64_t outputs_;
  std::int64_t operations_;
  std::int64_t slots_ = 0;
  std::int64_t row_words_ = 0;
  struct Lists;
  std::shared_ptr<const Lists> lists_;  ///< shared by copies, as a program does not change
};

}  // namespace boolgrad::circuit
