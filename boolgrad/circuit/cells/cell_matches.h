// Which cells of a library compute a function of up to four variables.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <vector>

#include "boolgrad/circuit/cells/cell_library.h"
#include "boolgrad/circuit/passes/optimal_implementations.h"

namespace boolgrad::circuit {

/// A cell, and what its inputs read: variables of a function, complemented where `phases` has a 1.
struct CellMatch {
  std::uint32_t cell = 0;
  std::array<std::uint8_t, Cell::max_inputs> variables{};
  std::uint8_t inputs = 0;
  std::uint8_t phases = 0;  ///< bit j: input j reads the complement
};

/// The matches of every function of four variables, by table. Cells of one input are left out. Of
/// matches that read the same literals, only the one of least area is kept.
class CellMatches {
 public:
  explicit CellMatches(const CellLibrary& library);

  std::span<const CellMatch> of(SmallTruth truth) const {
    return std::span(matches_).subspan(begins_[truth], begins_[truth + 1U] - begins_[truth]);
  }

 private:
  std::vector<std::uint32_t> begins_;  ///< of each table in `matches_`, and the end
  std::vector<CellMatch> matches_;
};

}  // namespace boolgrad::circuit
