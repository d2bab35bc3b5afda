// Settings of the HTML viewer of a model: start and target of an automaton, names of a circuit.
#pragma once

#include <string>
#include <string_view>

#include "boolgrad/circuit/formats/html.h"
#include "boolgrad/model/model.h"

namespace boolgrad {

struct ModelViewer {
  circuit::HtmlOptions options;
  std::string why_no_target;  ///< if the target is not available
};

/// The viewer of a model from file `path`. An automaton starts as in `boolgrad run` without
/// options; inputs and outputs of a circuit are grouped into the numbers of its task. Throws for a
/// rule that does not fit its specification. Error messages start with `where`.
ModelViewer viewer_of_model(const LoadedModel& loaded, std::string_view where,
                            const std::string& path);

/// The fields and the scores of a classifier whose circuit, without its head, is `core`.
circuit::HtmlClassifier viewer_of_classifier(const Classifier& classifier,
                                             const circuit::Netlist& core);

}  // namespace boolgrad
