// Optimisation passes on netlists. All but `restrict_to_samples` preserve the function.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "boolgrad/circuit/netlist.h"
#include "boolgrad/circuit/passes/arithmetic_resynthesis.h"
#include "boolgrad/circuit/passes/cut_rewriting.h"
#include "boolgrad/circuit/passes/dont_cares.h"
#include "boolgrad/circuit/passes/resubstitution.h"
#include "boolgrad/logic/lut.h"

namespace boolgrad::circuit {

/// Gate counts and depths before and after a pass. Constants do not count as gates.
struct PassStats {
  std::string pass;  ///< name, such as `structural hashing`
  std::int64_t gates_before = 0;
  std::int64_t gates_after = 0;
  std::int64_t depth_before = 0;
  std::int64_t depth_after = 0;
  /// Whether the function may differ for inputs that do not occur.
  bool changes_function = false;
};

/// The number of gates, reachable or not. Constants do not count.
std::int64_t gate_count(const Netlist& netlist);

/// For each net, whether an output depends on it.
std::vector<bool> reached_nets(const Netlist& netlist);

/// Constant propagation: folds constant inputs into the tables that read them, transitively.
Netlist propagate_constants(const Netlist& netlist, PassStats* stats = nullptr);

/// Removes gate inputs that a table does not depend on, and repeated inputs.
Netlist remove_unused_inputs(const Netlist& netlist, PassStats* stats = nullptr);

/// Absorbs buffers and inverters into the tables that read them.
Netlist absorb_buffers(const Netlist& netlist, PassStats* stats = nullptr);

/// Structural hashing: merges gates with equal or complementary functions of the same nets. Inputs
/// are sorted.
Netlist structural_hashing(const Netlist& netlist, PassStats* stats = nullptr);

/// Removes gates that no output depends on.
Netlist remove_dangling_gates(const Netlist& netlist, PassStats* stats = nullptr);

/// Decomposes tables of more than two inputs into two-input gates.
Netlist decompose(const Netlist& netlist, PassStats* stats = nullptr);

/// Resubstitution: replaces gates by functions of existing nodes. Decomposes into two-input gates.
Netlist resubstitute(const Netlist& netlist, const ResubstitutionParams& params = {},
                     PassStats* stats = nullptr);

/// Don't-care optimisation: simplifies gates where no output observes the difference. Decomposes
/// into two-input gates.
Netlist optimise_dont_cares(const Netlist& netlist, const DontCareParams& params = {},
                            PassStats* stats = nullptr);

/// Cut rewriting: replaces four-input cuts by optimal implementations. Decomposes into two-input
/// gates.
Netlist rewrite_cuts(const Netlist& netlist, const RewritingParams& params = {},
                     PassStats* stats = nullptr);

/// Arithmetic resynthesis: rebuilds sums, products and counts from adders. Decomposes into
/// two-input gates.
Netlist resynthesise_arithmetic(const Netlist& netlist, const ArithmeticParams& params = {},
                                PassStats* stats = nullptr);

/// Simplifies under the assumption that only the inputs `occurring` [inputs, samples] occur. Merges
/// nets that agree on all samples, up to complement, and removes gate inputs that no sample needs.
/// The outputs are unchanged on the samples and may differ elsewhere.
Netlist restrict_to_samples(const Netlist& netlist, const logic::BitMatrix& occurring,
                            PassStats* stats = nullptr);

/// Options of `simplify`.
struct SimplifyParams {
  ResubstitutionParams resubstitution;
  DontCareParams dont_cares;
  RewritingParams rewriting;
  ArithmeticParams arithmetic;
  /// The largest number of iterations of resubstitution, don't-care optimisation and cut rewriting.
  /// They stop earlier if an iteration saves nothing, and after one iteration on circuits so large
  /// that rewriting skips rounds. They are iterated again if arithmetic resynthesis saves gates.
  int max_iterations = 8;
  /// Keep tables of more than two inputs: run the passes up to `remove_dangling_gates` only.
  bool keeps_tables = false;
};

/// Runs all passes that preserve the function, in the order of this file, and iterates
/// resubstitution, don't-care optimisation and cut rewriting. Appends one entry per pass to
/// `stats`.
Netlist simplify(const Netlist& netlist, const SimplifyParams& params = {},
                 std::vector<PassStats>* stats = nullptr);

/// The names of the passes that preserve the function, in the order of this file: those in
/// `PassStats::pass`.
const std::vector<std::string>& pass_names();

/// Applies passes by name, in the given order, with default options. Throws for an unknown name.
Netlist apply_passes(const Netlist& netlist, std::span<const std::string> names,
                     std::vector<PassStats>* stats = nullptr);

}  // namespace boolgrad::circuit
