// The kinds of tasks by name.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace boolgrad::data {

enum class TaskKind : std::uint8_t {
  // Boolean functions as truth tables; see `boolean_task`.
  multiply,
  add,
  bitwise_and,
  bitwise_xor,
  parity,
  reverse,
  copy,
  gray,
  popcount,
  table,  ///< a truth table from a CSV file
  // Patterns and rules for automata.
  life,
  rule,  ///< a rule by name, by truth table or by examples
  checkerboard,
  picture,
  // Labelled samples: images or arrays in a folder, a CSV file, or the built-in MONK's problems.
  idx,
  cifar10,
  npy,
  csv,
  monk1,
  monk2,
  monk3,
};

/// The kind of model that learns a task.
enum class TaskFamily : std::uint8_t { circuit, automaton, classifier };

inline constexpr std::size_t task_kind_count = 21;

/// All kinds, in the order above.
constexpr std::array<TaskKind, task_kind_count> all_task_kinds() {
  std::array<TaskKind, task_kind_count> kinds{};
  for (std::size_t i = 0; i < task_kind_count; ++i) kinds[i] = static_cast<TaskKind>(i);
  return kinds;
}

constexpr TaskFamily family_of(TaskKind kind) {
  if (kind <= TaskKind::table) return TaskFamily::circuit;
  return kind <= TaskKind::picture ? TaskFamily::automaton : TaskFamily::classifier;
}

/// The name in experiments: `multiply`, `and`, `monk1`.
std::string_view to_string(TaskKind kind);

/// `a circuit`, `an automaton`, `a classifier`.
std::string_view to_string(TaskFamily family);

/// Nothing if there is no task of that name.
std::optional<TaskKind> parse_task_kind(std::string_view name);

}  // namespace boolgrad::data
