// Hardened circuits as straight-line programs on words of samples.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "boolgrad/backend/plan/bit_code.h"
#include "boolgrad/circuit/bits/bit_circuit.h"

namespace boolgrad {

/// The gates that a circuit's outputs need, as steps on slots (rows of scratch). A gate that only
/// one other reads is computed in its reader's step, steps of one kind run together, and a slot is
/// used again after its last reader.
class BitProgram {
 public:
  explicit BitProgram(const BitCircuit& circuit);

  /// Computes every output. inputs[i] and outputs[o] point to `words` words of 64 samples each, at
  /// any alignment; outputs overlap neither inputs nor one another. Single-threaded; may be called
  /// from several threads at once, each with words of its own.
  void run(std::span<const std::uint64_t* const> inputs, std::span<std::uint64_t* const> outputs,
           std::size_t words) const;

  std::int64_t inputs() const { return inputs_; }
  std::int64_t outputs() const { return outputs_; }
  /// Gates of two inputs that are computed for every sample.
  std::int64_t operations() const { return operations_; }
  /// Steps they are computed in, each of one gate or two.
  std::int64_t steps() const { return static_cast<std::int64_t>(steps_.size()); }
  /// Sequences of steps of one kind.
  std::int64_t runs() const { return static_cast<std::int64_t>(runs_.size()); }
  /// Rows of scratch, and the words of each.
  std::int64_t slots() const { return slots_; }
  std::int64_t row_words() const { return row_words_; }

  /// The program as devices read it; valid as long as this object.
  BitCode code() const;

 private:
  std::int64_t inputs_;
  std::int64_t outputs_;
  std::int64_t operations_;
  std::int64_t slots_ = 0;
  std::int64_t row_words_ = 0;
  std::vector<BitPort> from_inputs_;
  std::vector<BitRun> runs_;
  std::vector<BitStep> steps_;
  std::vector<BitPort> to_outputs_;
  std::vector<BitConstant> constants_;
};

}  // namespace boolgrad
