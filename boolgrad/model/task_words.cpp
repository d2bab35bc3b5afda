#include "boolgrad/model/task_words.h"

#include <fmt/format.h>

#include <cstddef>
#include <map>

namespace boolgrad {

const TaskWords* task_words(data::TaskKind kind) {
  static const std::map<data::TaskKind, TaskWords> words{
      {data::TaskKind::multiply, {"a × b", true}},
      {data::TaskKind::add, {"a + b", true}},
      {data::TaskKind::bitwise_and, {"a AND b", true}},
      {data::TaskKind::bitwise_xor, {"a XOR b", true}},
      {data::TaskKind::parity, {"parity of x"}},
      {data::TaskKind::reverse, {"x reversed"}},
      {data::TaskKind::copy, {"x"}},
      {data::TaskKind::gray, {"Gray code of x"}},
      {data::TaskKind::popcount, {"ones in x"}}};
  const auto found = words.find(kind);
  return found == words.end() ? nullptr : &found->second;
}

void name_operands(circuit::Netlist& netlist, data::TaskKind kind) {
  const TaskWords* words = task_words(kind);
  if (words == nullptr) return;
  const std::size_t inputs = netlist.inputs.size();
  const bool of_two = words->of_two && inputs % 2 == 0;
  const std::size_t bits = of_two ? inputs / 2 : inputs;
  for (std::size_t i = 0; i < inputs; ++i) {
    const char* operand = !of_two ? "x" : i < bits ? "a" : "b";
    netlist.inputs[i] = fmt::format("{}[{}]", operand, i % bits);
  }
  for (std::size_t i = 0; i < netlist.outputs.size(); ++i) {
    netlist.outputs[i] = fmt::format("y[{}]", i);
  }
}

}  // namespace boolgrad
