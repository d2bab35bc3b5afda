// What a circuit costs on a chip or an FPGA, with all that belongs to a classifier: what `boolgrad
// cost` does.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "boolgrad/circuit/cells/cell_library.h"
#include "boolgrad/model/export.h"

namespace boolgrad {

/// The cost of a circuit or of a part of it.
struct Cost {
  std::int64_t gates = 0;  ///< two-input gates
  std::int64_t lut4 = 0;   ///< look-up tables of four inputs
  std::int64_t lut6 = 0;
  double area = 0;         ///< gate equivalents: area over that of a NAND of two inputs
  std::int64_t depth = 0;  ///< two-input gates on the longest path

  friend bool operator==(const Cost&, const Cost&) = default;
};

/// A part of a circuit.
struct CostPart {
  std::string name;  ///< `encoder`, `logic`, `head`, and `arg max` or `votes`
  Cost cost;
};

struct CostReport {
  Cost total;
  /// In the order of the data. Only classifiers have more than `logic`.
  std::vector<CostPart> parts;
  std::int64_t comparisons = 0;  ///< different comparisons of features with thresholds
  /// Of the whole circuit: cells by name.
  std::map<std::string, std::int64_t> cells;
};

/// The cost of the simplified circuit: for a classifier, with the thresholds of its features and
/// its head, simplified for the bits that features can have, as `export` with a target writes it;
/// for the rule of an automaton, per cell and step.
///
/// A part costs what it adds to the circuit before it, so that the parts add up. What it saves
/// there instead, such as digits of sums that votes do not need, is counted there. An encoder is
/// counted on its own, and compares only with thresholds that the circuit depends on. `as_trained`
/// keeps the gates of the circuit; those of encoder and head are always as `export` writes them.
CostReport cost_of(const CircuitSource& source, const circuit::CellLibrary& library,
                   bool as_trained = false);

}  // namespace boolgrad
