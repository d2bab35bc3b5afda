#include "boolgrad/circuit/cells/cell_matches.h"

#include <algorithm>
#include <map>
#include <utility>

namespace boolgrad::circuit {
namespace {

constexpr std::size_t tables = 1U << 16;

/// The output for an assignment of the variables.
bool output_of(const Cell& cell, const CellMatch& match, unsigned entry) {
  unsigned pins = 0;
  for (unsigned j = 0; j < match.inputs; ++j) {
    pins |= ((entry >> match.variables[j] ^ unsigned{match.phases} >> j) & 1U) << j;
  }
  return (cell.truth >> pins & 1U) != 0;
}

SmallTruth truth_of(const Cell& cell, const CellMatch& match) {
  unsigned truth = 0;
  for (unsigned entry = 0; entry < 16; ++entry) {
    truth |= (output_of(cell, match, entry) ? 1U : 0U) << entry;
  }
  return static_cast<SmallTruth>(truth);
}

/// The literals that a match reads: two bits per variable.
unsigned literals_of(const CellMatch& match) {
  unsigned literals = 0;
  for (unsigned j = 0; j < match.inputs; ++j) {
    literals |= (1U + (unsigned{match.phases} >> j & 1U)) << 2 * match.variables[j];
  }
  return literals;
}

/// Calls `visit(match)` for every order and polarity of inputs.
template <class Visit>
void for_each_binding(CellMatch match, unsigned used, const Visit& visit, unsigned inputs) {
  if (match.inputs == inputs) {
    visit(match);
    return;
  }
  const unsigned pin = match.inputs++;
  for (unsigned variable = 0; variable < Cell::max_inputs; ++variable) {
    if ((used >> variable & 1U) != 0) continue;
    match.variables[pin] = static_cast<std::uint8_t>(variable);
    for (unsigned phase = 0; phase < 2; ++phase) {
      CellMatch next = match;
      next.phases = static_cast<std::uint8_t>(match.phases | phase << pin);
      for_each_binding(next, used | 1U << variable, visit, inputs);
    }
  }
}

}  // namespace

CellMatches::CellMatches(const CellLibrary& library) : begins_(tables + 1, 0) {
  std::map<std::pair<SmallTruth, unsigned>, CellMatch> best;
  for (std::size_t c = 0; c < library.cells.size(); ++c) {
    const Cell& cell = library.cells[c];
    if (cell.inputs.size() < 2) continue;
    const auto keep = [&](const CellMatch& match) {
      const auto key = std::pair(truth_of(cell, match), literals_of(match));
      const auto [known, added] = best.try_emplace(key, match);
      if (!added && library.cells[known->second.cell].area > cell.area) known->second = match;
    };
    for_each_binding({.cell = static_cast<std::uint32_t>(c)}, 0, keep,
                     static_cast<unsigned>(cell.inputs.size()));
  }
  matches_.reserve(best.size());
  for (const auto& [key, match] : best) {
    ++begins_[key.first + 1U];
    matches_.push_back(match);
  }
  for (std::size_t t = 0; t < tables; ++t) begins_[t + 1] += begins_[t];
}

}  // namespace boolgrad::circuit
