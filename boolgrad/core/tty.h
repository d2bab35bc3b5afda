// Terminal queries.
#pragma once

#include <cstddef>
#include <cstdio>

namespace boolgrad {

/// Whether `file` is a terminal on which output can be redrawn in place.
bool is_terminal(std::FILE* file);

/// The size of a terminal in characters.
struct TerminalSize {
  std::size_t columns;  ///< width
  std::size_t rows;     ///< height
};

/// The size of the terminal behind `file`, or 80 by 24 if it is unknown.
TerminalSize terminal_size(std::FILE* file);

}  // namespace boolgrad
