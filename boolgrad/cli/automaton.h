// What the commands on automata share.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "boolgrad/model/model.h"
#include "boolgrad/picture/image.h"

namespace boolgrad::cli {

/// The rule of a model from file `path`. Throws in the name of command `where` for a circuit, and
/// for a rule that does not fit its spec.
const Rule& automaton_of(const LoadedModel& loaded, std::string_view where,
                         const std::string& path);

struct Size {
  std::int64_t height = 0;
  std::int64_t width = 0;
};

bool is_life(const ModelSpec& spec);

/// The grid that an automaton is shown on where nobody asks for another: that of its training, or,
/// for life, which trains on the smallest grids, a roomy one.
Size default_size(const ModelSpec& spec);

/// A picture of few cells, enlarged so that it can be made out in a terminal.
Image for_terminal(const Image& cells);

}  // namespace boolgrad::cli
