// What a trained network consists of.
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
  std::int64_t active = 0;  ///< not off, and heard at an output through what hard tables depend on
  std::int64_t off = 0;     ///< switched off by the mask
  double entropy = 0;       ///< mean over table entries, in bits: 0 is hard, 1 undecided
  double undecided = 0;     ///< share of gates with a table entry between 0.1 and 0.9
  double gap = 0;           ///< mean of |soft - hard| over gates and samples
  double disagreement = 0;  ///< share of gates and samples where soft does not round to hard
};

struct Inspection {
  std::vector<LayerInspection> layers;
  std::int64_t gates = 0;
  std::int64_t active_gates = 0;
  /// Gates on the longest way from an input to an output; those that only pass an input on or are
  /// constant do not count.
  std::int64_t depth = 0;
  /// How many gates of which kind: the sixteen by name for two inputs, `constant`, `pass`,
  /// `inverter` and `other` for another number of them, and `off`. Kinds that do not occur are
  /// left out.
  std::vector<std::pair<std::string, std::int64_t>> kinds;
  std::int64_t samples = 0;  ///< inputs that soft and hard were compared on
};

/// Which gates of which layer are not off and are heard at an output through inputs that hard
/// tables depend on. Of a rule: the layers of perception, then those of the update.
std::vector<std::vector<bool>> active_gates(const LogicNetwork& network);
std::vector<std::vector<bool>> active_gates(const Rule& rule);

/// Soft and hard are compared on all inputs where they are at most 12 bits, else on 4,096 drawn at
/// random; networks of more than 16,384 gates on fewer, but at least on 256.
Inspection inspect(const LogicNetwork& network);

/// The same of an automaton's rule: the layers of perception, all kernels together, then those of
/// the update. Every channel shares perception, whose gates count once.
Inspection inspect(const Rule& rule);

}  // namespace boolgrad
