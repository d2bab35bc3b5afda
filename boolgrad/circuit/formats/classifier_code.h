// Circuits that classify, with everything between numbers and a class: thresholds, gates, sums.
#pragma once

#include <string>
#include <vector>

#include "boolgrad/circuit/formats/verilog.h"
#include "boolgrad/circuit/netlist.h"
#include "boolgrad/logic/head.h"
#include "boolgrad/logic/thresholds.h"

namespace boolgrad {

/// The netlist with its head as gates: outputs are the binary digits of the class, `class_0` the
/// lowest, or of a regression those of the number of ones, `sum0_0` the lowest.
Netlist with_head(const Netlist& netlist, const Head& head);

/// What stands before and behind a netlist.
struct ClassifierPorts {
  const Thresholds& thresholds;
  const Head& head;
  bool has_bytes = false;                  ///< features are bytes, else floats
  std::vector<std::string> features = {};  ///< their names
  std::vector<std::string> classes = {};   ///< likewise
};

/// The header that `to_c99` writes of a netlist without its head, and in it, where it is called
/// NAME:
///
/// - `NAME_FEATURES` and the type `NAME_feature`, uint8_t or float;
/// - `void NAME_classify(const NAME_feature *x, size_t samples, int32_t *classes)`, where x is
///   [samples][features]; or of a regression `NAME_predict`, which gives values as double. Ones are
///   counted in loops: a compiler takes minutes for as many gates.
std::string classifier_c99(const Netlist& netlist, const ClassifierPorts& ports);

/// The module that `to_verilog` writes of a netlist with its head, and beside it NAME_classifier(x,
/// out): feature i is bits [i W +: W] of x with W = 8 for bytes; with W = 32 for floats, as the
/// bits that IEEE 754 gives them.
Verilog classifier_verilog(const Netlist& netlist, const ClassifierPorts& ports);

}  // namespace boolgrad
