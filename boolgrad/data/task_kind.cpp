#include "boolgrad/data/task_kind.h"

namespace boolgrad::data {

std::string_view to_string(TaskKind kind) {
  switch (kind) {
    case TaskKind::multiply: return "multiply";
    case TaskKind::add: return "add";
    case TaskKind::bitwise_and: return "and";
    case TaskKind::bitwise_xor: return "xor";
    case TaskKind::parity: return "parity";
    case TaskKind::reverse: return "reverse";
    case TaskKind::copy: return "copy";
    case TaskKind::gray: return "gray";
    case TaskKind::popcount: return "popcount";
    case TaskKind::table: return "table";
    case TaskKind::life: return "life";
    case TaskKind::rule: return "rule";
    case TaskKind::checkerboard: return "checkerboard";
    case TaskKind::picture: return "picture";
    case TaskKind::idx: return "idx";
    case TaskKind::cifar10: return "cifar10";
    case TaskKind::npy: return "npy";
    case TaskKind::csv: return "csv";
    case TaskKind::monk1: return "monk1";
    case TaskKind::monk2: return "monk2";
    case TaskKind::monk3: return "monk3";
  }
  return "unknown";
}

std::string_view to_string(TaskFamily family) {
  switch (family) {
    case TaskFamily::circuit: return "a circuit";
    case TaskFamily::automaton: return "an automaton";
    case TaskFamily::classifier: return "a classifier";
  }
  return "unknown";
}

std::optional<TaskKind> parse_task_kind(std::string_view name) {
  for (const TaskKind kind : all_task_kinds()) {
    if (to_string(kind) == name) return kind;
  }
  return std::nullopt;
}

}  // namespace boolgrad::data
