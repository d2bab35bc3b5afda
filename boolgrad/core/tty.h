// What is known of the terminal behind a stream.
#pragma once

#include <cstddef>
#include <cstdio>

namespace boolgrad {

/// Whether what is printed can be redrawn in place.
bool is_terminal(std::FILE* file);

struct TerminalSize {
  std::size_t columns;
  std::size_t rows;
};

/// 80 by 24 where the terminal does not say.
TerminalSize terminal_size(std::FILE* file);

}  // namespace boolgrad
