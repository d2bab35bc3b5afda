// Comparison of circuits: what `boolgrad equal` does.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "boolgrad/model/export.h"

namespace boolgrad {

/// The inputs for which two circuits differ, and the first output that does.
struct CircuitDifference {
  std::vector<std::string> inputs;  ///< names, in the order of the first circuit
  std::vector<bool> values;         ///< of the inputs
  std::string output;               ///< as the first circuit calls it
  bool first = false;               ///< its value in the first circuit
  bool second = false;              ///< and in the second
};

struct CircuitComparison {
  std::int64_t inputs = 0;
  std::int64_t outputs = 0;
  bool matches_names = false;  ///< ports were matched by name, else by position
  bool is_exhaustive = false;  ///< all input combinations were simulated, else a SAT solver decided
  /// None if the circuits are proven equal.
  std::optional<CircuitDifference> difference = {};
};

/// Compares two circuits. Ports are matched by name if both circuits have the same names, else by
/// position. Of a classifier, the circuit with its head is compared, for all bits that the features
/// of a table or an image can have. Throws if the circuits have
/// different numbers of inputs or outputs, if two classifiers have different thresholds, or two
/// rules different borders. `name_a` and `name_b` name the circuits in messages.
CircuitComparison compare_circuits(const CircuitSource& a, const CircuitSource& b,
                                   const std::string& name_a, const std::string& name_b);

}  // namespace boolgrad
