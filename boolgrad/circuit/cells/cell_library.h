// Libraries of standard cells in the genlib format of SIS and ABC.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace boolgrad::circuit {

/// A cell with one output.
struct Cell {
  static constexpr std::size_t max_inputs = 4;

  std::string name;
  double area = 0;
  std::string output;               ///< the names of its pins
  std::vector<std::string> inputs;  ///< in the order of their first use
  /// Bit i is the output where input j is bit j of i. Repeated for inputs that the cell lacks.
  std::uint16_t truth = 0;

  friend bool operator==(const Cell&, const Cell&) = default;
};

/// The combinational cells of a library.
struct CellLibrary {
  std::vector<Cell> cells;
  /// Cells of more than four inputs and latches, which are left out.
  std::int64_t left_out = 0;

  /// The smallest cell that computes a function of its inputs in any order; the first one of equal
  /// areas. Empty if there is none.
  std::optional<std::size_t> smallest(std::uint16_t truth, std::size_t inputs) const;

  /// The area of the smallest NAND of two inputs, the unit of gate equivalents.
  double nand2_area() const;
  double inverter_area() const;
};

/// Parses lines `GATE NAME AREA OUTPUT=EXPRESSION;`. Expressions have `!` or a `'` behind for NOT,
/// `*`, `&` or nothing for AND, `^` for XOR, `+` or `|` for OR, parentheses, CONST0 and CONST1.
/// Lines of pins are skipped. Throws unless there is an inverter and a NAND of two inputs, neither
/// of area 0. `source` names the text in messages.
CellLibrary cell_library_from_genlib(std::string_view text, const std::string& source);

/// The same for a file.
CellLibrary read_cell_library(const std::filesystem::path& path);

}  // namespace boolgrad::circuit
