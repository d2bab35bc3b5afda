// The kinds of tasks by name.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace boolgrad {

enum class TaskKind : std::uint8_t {
  // Boolean functions written out case by case; see `boolean_task`.
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
  checkerboard,
  picture,
  // Samples to learn from: images in a folder, arrays in one, a CSV file; the MONK's problems need
  // none.
  idx,
  cifar10,
  npy,
  csv,
  monk1,
  monk2,
  monk3,
};

/// What a task is learned by.
enum class TaskFamily : std::uint8_t { circuit, automaton, classifier };

inline constexpr std::size_t task_kind_count = 20;

/// All of them, in the order above.
constexpr std::array<TaskKind, task_kind_count> all_task_kinds() {
  std::array<TaskKind, task_kind_count> kinds{};
  for (std::size_t i = 0; i < task_kind_count; ++i) kinds[i] = static_cast<TaskKind>(i);
  return kinds;
}

constexpr TaskFamily family_of(TaskKind kind) {
  if (kind <= TaskKind::table) return TaskFamily::circuit;
  return kind <= TaskKind::picture ? TaskFamily::automaton : TaskFamily::classifier;
}

/// `multiply`, `and`, `monk1`: the name in experiments.
std::string_view to_string(TaskKind kind);

/// `a circuit`, `an automaton`, `a classifier`.
std::string_view to_string(TaskFamily family);

/// Nothing where no task has that name.
std::optional<TaskKind> parse_task_kind(std::string_view name);

}  // namespace boolgrad
