// Netlists run as bits, with no compiler.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "boolgrad/backend/plan/bit_code.h"
#include "boolgrad/circuit/bits/bit_program.h"
#include "boolgrad/circuit/bits/packing.h"
#include "boolgrad/circuit/netlist.h"

namespace boolgrad {

struct RunnerParams {
  /// The outputs in so many groups of the same size, one a class, in their order; 0 for none.
  std::int64_t classes = 0;
};

/// Runs a netlist on many samples: blocks of them, spread over threads, go through all gates while
/// they are in the cache. Making one simplifies what costs next to nothing to simplify and puts the
/// gates in order; it compiles nothing. All functions may be called from several threads.
class CircuitRunner {
 public:
  explicit CircuitRunner(const Netlist& netlist, const RunnerParams& params = {});
  explicit CircuitRunner(const BitCircuit& circuit, const RunnerParams& params = {});

  std::int64_t inputs() const { return program_.inputs(); }
  std::int64_t outputs() const { return program_.outputs(); }
  std::int64_t classes() const { return static_cast<std::int64_t>(groups_.size()); }
  /// The gates as they are run.
  const BitProgram& program() const { return program_; }

  /// Every output, from bits to bits. Those beyond the last sample are anything.
  BitMatrix run(const BitMatrix& inputs) const;
  /// Every output, from bytes to bytes that are 0 or 1: [samples, outputs].
  void run(const ByteSamples& inputs, std::span<std::uint8_t> outputs) const;

  /// How many outputs of each class are 1: [samples, classes]. They are counted as bits.
  void group_sums(const ByteSamples& inputs, std::span<std::int32_t> sums) const;
  void group_sums(const BitMatrix& inputs, std::span<std::int32_t> sums) const;

  /// The class of the largest sum, of equal ones the first: [samples].
  void classify(const ByteSamples& inputs, std::span<std::int32_t> classes) const;
  void classify(const BitMatrix& inputs, std::span<std::int32_t> classes) const;

 private:
  struct Block;
  enum class Wanted { sums, largest };

  void set_groups(std::int64_t classes);
  void check(const ByteSamples& inputs) const;
  void check(const BitMatrix& inputs) const;
  void load(const ByteSamples& inputs, const Block& block) const;
  void load(const BitMatrix& inputs, const Block& block) const;
  template <class Inputs>
  void count(const Inputs& inputs, Wanted wanted, std::span<std::int32_t> results) const;
  void write_sums(const Block& block, std::int32_t* sums) const;
  void write_largest(const Block& block, std::int32_t* classes) const;
  std::size_t scratch_rows() const;

  BitProgram program_;
  std::vector<std::uint32_t> input_slots_;    ///< of each input; `no_slot` where none reads it
  std::vector<std::vector<BitTerm>> groups_;  ///< what each class counts
  std::size_t planes_ = 0;                    ///< binary digits of a sum
  std::size_t index_planes_ = 0;              ///< and of a class
};

}  // namespace boolgrad
