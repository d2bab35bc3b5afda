// Passes that make a netlist smaller and keep its function.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "boolgrad/circuit/netlist.h"
#include "boolgrad/circuit/passes/observability.h"
#include "boolgrad/circuit/passes/resubstitution.h"
#include "boolgrad/circuit/passes/rewriting.h"
#include "boolgrad/logic/lut.h"

namespace boolgrad {

/// What a pass did. Tables without inputs do not count as gates.
struct PassStats {
  std::string pass;
  std::int64_t gates_before = 0;
  std::int64_t gates_after = 0;
  std::int64_t depth_before = 0;
  std::int64_t depth_after = 0;
  /// Whether the function may have changed, for inputs that were said not to occur.
  bool changes_function = false;
};

/// Tables that have inputs, reachable or not.
std::int64_t gate_count(const Netlist& netlist);

/// Inputs that are constant are taken out of the tables that read them, as far up as it goes.
Netlist constants_propagated(const Netlist& netlist, PassStats* stats = nullptr);

/// Inputs that a table does not depend on are removed, also a net that it reads twice.
Netlist inputs_removed(const Netlist& netlist, PassStats* stats = nullptr);

/// Tables that pass an input on or invert it go into the tables that read them.
Netlist wires_absorbed(const Netlist& netlist, PassStats* stats = nullptr);

/// Tables that are the same function of the same nets, or complements, become one: inputs are put
/// in ascending order.
Netlist equal_gates_merged(const Netlist& netlist, PassStats* stats = nullptr);

/// Gates that no output needs are removed.
Netlist unreachable_removed(const Netlist& netlist, PassStats* stats = nullptr);

/// Tables of more inputs become gates of two: AND and XOR with complements, in the order that each
/// table's function suggests.
Netlist decomposed(const Netlist& netlist, PassStats* stats = nullptr);

/// Gates of two inputs are replaced by what is there already; see `resubstituted` of circuits.
Netlist resubstituted(const Netlist& netlist, const ResubstitutionParams& params = {},
                      PassStats* stats = nullptr);

/// Gates of two inputs become simpler where no output notices; see `observed_only` of circuits.
Netlist observed_only(const Netlist& netlist, const ObservabilityParams& params = {},
                      PassStats* stats = nullptr);

/// Parts of four inputs take their best form; see `cuts_rewritten`. Leaves gates of two inputs.
Netlist cuts_rewritten(const Netlist& netlist, const RewritingParams& params = {},
                       PassStats* stats = nullptr);

/// Uses that no inputs other than `occurring` ([inputs, samples]) occur: nets that agree on all of
/// them become one, as do complements and constants, and tables lose the inputs that they can do
/// without. On the samples the outputs stay what they were; elsewhere they may change.
Netlist restricted(const Netlist& netlist, const BitMatrix& occurring, PassStats* stats = nullptr);

struct SimplifyParams {
  ResubstitutionParams resubstitution;
  ObservabilityParams observability;
  RewritingParams rewriting;
  /// How often at most the last three take turns; they end when a turn saves nothing, and after the
  /// first where a circuit is so large that rewriting leaves out rounds.
  int max_turns = 8;
  /// Leave tables of more than two inputs as they are, and then end with the unreachable ones.
  bool keeps_tables = false;
};

/// All of the passes that keep the function, in the order of this file, the last three in turns.
/// `stats` gets an entry each.
Netlist simplified(const Netlist& netlist, const SimplifyParams& params = {},
                   std::vector<PassStats>* stats = nullptr);

}  // namespace boolgrad
