// Common parts of the commands on automata.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "boolgrad/model/model.h"
#include "boolgrad/picture/image.h"

namespace boolgrad::cli {

/// The rule of a model from file `path`. Throws for a circuit, and for a rule that does not fit its
/// specification. Error messages start with `where`.
const automata::Rule& automaton_of(const LoadedModel& loaded, std::string_view where,
                                   const std::string& path);

struct Size {
  std::int64_t height = 0;
  std::int64_t width = 0;
};

bool is_life(const ModelSpec& spec);

/// The default grid to run an automaton on: that of its training, or 64x64 for life, which trains
/// on 3x3 cells.
Size default_size(const ModelSpec& spec);

/// Enlarges an image of few cells for the terminal.
picture::Image for_terminal(const picture::Image& cells);

}  // namespace boolgrad::cli
