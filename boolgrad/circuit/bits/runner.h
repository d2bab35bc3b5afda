// Bit-parallel evaluation of netlists, without a compiler.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "boolgrad/circuit/bits/bit_program.h"
#include "boolgrad/circuit/bits/packing.h"
#include "boolgrad/circuit/netlist.h"

namespace boolgrad::circuit {

/// Options of `CircuitRunner`.
struct RunnerParams {
  /// Splits the outputs into so many consecutive groups of equal size, one per class. 0 for none.
  std::int64_t classes = 0;
  /// Output i counts 2^exponents[i] times. Empty: every output counts once.
  std::vector<std::int32_t> exponents = {};
};

/// Evaluates a netlist on many samples. Blocks of samples are distributed over threads and pass
/// through all gates while they are in the cache. Construction applies the cheap simplifications
/// and schedules the gates. All functions are thread-safe.
class CircuitRunner {
 public:
  /// Prepares a netlist.
  explicit CircuitRunner(const Netlist& netlist, const RunnerParams& params = {});
  /// Prepares a bit circuit.
  explicit CircuitRunner(const BitCircuit& circuit, const RunnerParams& params = {});

  /// Number of inputs.
  std::int64_t inputs() const { return program_.inputs(); }
  /// Number of outputs.
  std::int64_t outputs() const { return program_.outputs(); }
  /// Number of classes, 0 if there are none.
  std::int64_t classes() const { return static_cast<std::int64_t>(classes_); }
  /// The scheduled gates.
  const BitProgram& program() const { return program_; }

  /// All outputs as packed bits. Bits beyond the last sample are unspecified.
  logic::BitMatrix run(const logic::BitMatrix& inputs) const;
  /// All outputs as bytes 0 and 1: [samples, outputs].
  void run(const ByteSamples& inputs, std::span<std::uint8_t> outputs) const;

  /// The number of outputs per class that are 1, each with its weight: [samples, classes].
  void group_sums(const ByteSamples& inputs, std::span<std::int32_t> sums) const;
  /// The same from packed bits.
  void group_sums(const logic::BitMatrix& inputs, std::span<std::int32_t> sums) const;

  /// The class with the largest sum, the first one on a tie: [samples].
  void classify(const ByteSamples& inputs, std::span<std::int32_t> classes) const;
  /// The same from packed bits.
  void classify(const logic::BitMatrix& inputs, std::span<std::int32_t> classes) const;

 private:
  struct Block;
  struct Groups;
  enum class Result { sums, largest };

  void set_groups(const RunnerParams& params);
  void check(const ByteSamples& inputs) const;
  void check(const logic::BitMatrix& inputs) const;
  void load(const ByteSamples& inputs, const Block& block) const;
  void load(const logic::BitMatrix& inputs, const Block& block) const;
  template <class Inputs>
  void count(const Inputs& inputs, Result result, std::span<std::int32_t> results) const;
  void write_sums(const Block& block, std::int32_t* sums) const;
  void write_largest(const Block& block, std::int32_t* classes) const;
  std::size_t scratch_slots() const;

  BitProgram program_;
  std::vector<std::uint32_t> input_slots_;  ///< of each input; `no_slot` if unread
  std::shared_ptr<const Groups> groups_;    ///< the outputs of each class; null without classes
  std::size_t classes_ = 0;
  std::size_t planes_ = 0;        ///< binary digits of a sum
  std::size_t index_planes_ = 0;  ///< binary digits of a class
};

}  // namespace boolgrad::circuit
