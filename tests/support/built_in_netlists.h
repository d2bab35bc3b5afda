// Hardened netlists of trained built-in models: tests/data/netlists. They are stored because the
// bits of a training run depend on the instruction set.
#pragma once

#include <string>
#include <vector>

#include "boolgrad/circuit/formats/text.h"
#include "tests/support/scratch.h"

namespace boolgrad {

/// The models that training solves, written by `boolgrad export --format netlist --as-trained
/// --no-proof`.
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

inline circuit::Netlist built_in_netlist(const std::string& name) {
  const std::string path = BOOLGRAD_SOURCE_DIR "/tests/data/netlists/" + name + ".net";
  return circuit::netlist_from_text(testing_support::read_bytes(path), path);
}

}  // namespace boolgrad
