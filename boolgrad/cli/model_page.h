// What the page of a model tells beside its circuit: where it starts, what it was to become.
#pragma once

#include <string>
#include <string_view>

#include "boolgrad/circuit/formats/html.h"
#include "boolgrad/model/model.h"

namespace boolgrad::cli {

struct ModelPage {
  PageOptions options;
  std::string why_no_target;  ///< where there should be one
};

/// The page of a model from file `path`: an automaton begins as `boolgrad run` begins it without
/// options, the bits of a circuit are the numbers of its task. Throws in the name of command
/// `where` for a rule that does not fit its spec.
ModelPage page_of_model(const LoadedModel& loaded, std::string_view where, const std::string& path);

}  // namespace boolgrad::cli
