// Statistics of a trained network: gates by kind, depth, and differences between soft and hard.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "boolgrad/automata/rule.h"
#include "boolgrad/logic/network.h"

namespace boolgrad {

struct LayerInspection {
  std::int64_t gates = 0;
  std::int64_t active = 0;  ///< not masked, and an output of the hardened network depends on it
  std::int64_t off = 0;     ///< masked
  double entropy = 0;       ///< mean over table entries, in bits: 0 is hard, 1 undecided
  double undecided = 0;     ///< share of gates with a table entry between 0.1 and 0.9
  double gap = 0;           ///< mean of |soft - hard| over gates and samples
  double disagreement = 0;  ///< share of gates and samples whose soft value rounds to another bit
};

struct Inspection {
  std::vector<LayerInspection> layers;
  std::int64_t gates = 0;
  std::int64_t active_gates = 0;
  /// Gates on the longest path from an input to an output, without buffers and constants.
  std::int64_t depth = 0;
  /// Number of gates of each kind that occurs: the sixteen two-input gates by name; `constant`,
  /// `pass`, `inverter` and `other` for gates of other arities; and `off`.
  std::vector<std::pair<std::string, std::int64_t>> kinds;
  std::int64_t samples = 0;  ///< number of inputs that soft and hard were compared on
};

/// For every layer, the gates that are not masked and that an output of the hardened network
/// depends on. For a rule: the layers of perception, then those of the update.
std::vector<std::vector<bool>> active_gates(const logic::Network& network);
std::vector<std::vector<bool>> active_gates(const automata::Rule& rule);

/// Soft and hard are compared on all inputs if there are at most 12, else on 4,096 random ones.
/// Networks of more than 16,384 gates use fewer, but at least 256.
Inspection inspect(const logic::Network& network);

/// The same for a rule: the layers of perception, all kernels together, then those of the update.
/// All channels share the gates of perception, which count once.
Inspection inspect(const automata::Rule& rule);

}  // namespace boolgrad
