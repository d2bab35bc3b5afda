// Libraries of standard cells in the genlib format, for area estimates by other tools.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace boolgrad {

/// A gate of a library.
struct LibraryCell {
  std::string name;
  double area = 0;
  std::string output;               ///< name of its pin
  std::vector<std::string> inputs;  ///< names of its pins, in the order of its function
};

/// The gates of a library in genlib format. Throws for other text; errors open with `[where]` and
/// name `file`.
std::vector<LibraryCell> read_cell_library(std::string_view where, std::string_view text,
                                           const std::string& file);

/// The cells as empty Verilog modules, so that Yosys knows their pins.
std::string black_boxes(const std::vector<LibraryCell>& cells);

}  // namespace boolgrad
