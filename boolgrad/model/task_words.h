// The operands of Boolean tasks.
#pragma once

#include <string>

#include "boolgrad/circuit/netlist.h"
#include "boolgrad/data/task_kind.h"

namespace boolgrad {

/// What a Boolean task computes of its inputs: numbers `a` and `b`, or one number `x`.
struct TaskWords {
  std::string result;  ///< as in `a + b`
  bool of_two = false;
};

/// Null for a task that is no Boolean function.
const TaskWords* task_words(data::TaskKind kind);

/// Names the inputs of a network after the operands of its task, `a[0]`, ..., and its outputs
/// `y[0]`, .... Networks of other tasks keep their names.
void name_operands(circuit::Netlist& netlist, data::TaskKind kind);

}  // namespace boolgrad
