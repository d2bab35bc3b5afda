// Built-in models as they were trained, hardened: tests/data/netlists. They ship because the bits
// of a training run depend on the instruction set.
#pragma once

#include <string>
#include <vector>

#include "boolgrad/circuit/formats/text.h"
#include "tests/support/scratch.h"

namespace boolgrad {

/// Those that training solves; `boolgrad export --format netlist --as-trained --no-proof` wrote
/// them.
inline const std::vector<std::string> built_in_models{"life",
                                                      "checkerboard",
                                                      "checkerboard-async",
                                                      "multiply",
                                                      "multiply_gates",
                                                      "add",
                                                      "add_gates",
                                                      "popcount",
                                                      "parity",
                                                      "gray",
                                                      "and",
                                                      "xor",
                                                      "copy",
                                                      "reverse"};

inline Netlist built_in_netlist(const std::string& name) {
  const std::string path = BOOLGRAD_SOURCE_DIR "/tests/data/netlists/" + name + ".net";
  return netlist_from_text(testing_support::read_bytes(path), path);
}

}  // namespace boolgrad
