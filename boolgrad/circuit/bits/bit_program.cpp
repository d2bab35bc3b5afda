#include "boolgrad/circuit/bits/bit_program.h"

#include <algorithm>
#include <array>

#include "boolgrad/backend/cpu/bits/bit_kernels.h"
#include "boolgrad/circuit/bits/bit_schedule.h"
#include "boolgrad/core/error.h"

namespace boolgrad {
namespace {

// A part of a second-level cache. Rows need not stay in the first level: reading them from the
// second costs less than the short rows that would take.
constexpr std::size_t scratch_bytes = 256 * 1024;
// Below this many words the steps themselves cost more than what they compute.
constexpr std::size_t least_useful_row = 16;

constexpr std::uint32_t no_slot = 0xFFFFFFFF;

std::int64_t row_words_for(std::size_t slots) {
  std::size_t row = most_row_words;
  while (row > least_useful_row && slots * row * sizeof(std::uint64_t) > scratch_bytes) row /= 2;
  return static_cast<std::int64_t>(row);
}

/// Gives each node a slot, and takes it back after the last reader.
class SlotAllocator {
 public:
  explicit SlotAllocator(std::size_t nodes) : slots_(nodes, no_slot), readers_(nodes, 0) {}

  void expect_reader(std::uint32_t node) { ++readers_[node]; }
  bool expected(std::uint32_t node) const { return readers_[node] > 0; }

  std::uint32_t write(std::uint32_t node) {
    if (free_.empty()) free_.push_back(count_++);
    slots_[node] = free_.back();
    free_.pop_back();
    return slots_[node];
  }

  std::uint32_t read(std::uint32_t node) {
    if (--readers_[node] == 0) free_.push_back(slots_[node]);
    return slots_[node];
  }

  std::uint32_t count() const { return count_; }

 private:
  std::vector<std::uint32_t> slots_;
  std::vector<int> readers_;
  std::vector<std::uint32_t> free_;
  std::uint32_t count_ = 0;
};

void add_to_runs(const BitOperation& operation, std::vector<BitRun>& runs) {
  if (runs.empty() || runs.back().inner != operation.inner ||
      runs.back().outer != operation.outer) {
    runs.push_back({operation.inner, operation.outer, 0});
  }
  ++runs.back().count;
}

// A step may write to a slot that it reads for the last time.
BitStep step_of(const BitOperation& operation, SlotAllocator& slots) {
  std::array<std::uint32_t, 3> from{};
  const auto sources = operation.sources();
  std::transform(sources.begin(), sources.end(), from.begin(),
                 [&](std::uint32_t node) { return slots.read(node); });
  return {slots.write(operation.out), from[0], from[1], from[2]};
}

}  // namespace

BitProgram::BitProgram(const BitCircuit& circuit)
    : inputs_(circuit.inputs()),
      outputs_(static_cast<std::int64_t>(circuit.outputs().size())),
      operations_(circuit.gates()) {
  const std::vector<BitOperation> operations = scheduled(circuit);
  SlotAllocator slots(circuit.nodes().size());
  for (const BitOperation& operation : operations) {
    for (const std::uint32_t node : operation.sources()) slots.expect_reader(node);
  }
  for (const BitLiteral output : circuit.outputs()) slots.expect_reader(output.node());

  for (std::uint32_t i = 0; i < static_cast<std::uint32_t>(inputs_); ++i) {
    const std::uint32_t node = circuit.input(i).node();
    if (slots.expected(node)) from_inputs_.push_back({i, slots.write(node)});
  }
  for (const BitOperation& operation : operations) {
    add_to_runs(operation, runs_);
    steps_.push_back(step_of(operation, slots));
  }
  for (std::uint32_t o = 0; o < static_cast<std::uint32_t>(outputs_); ++o) {
    const BitLiteral literal = circuit.outputs()[o];
    if (literal.node() == circuit.constant(false).node()) {
      constants_.push_back({o, literal.complemented()});
    } else {
      to_outputs_.push_back({o, slots.read(literal.node()), literal.complemented()});
    }
  }
  slots_ = slots.count();
  row_words_ = row_words_for(slots.count());
}

void BitProgram::run(std::span<const std::uint64_t* const> inputs,
                     std::span<std::uint64_t* const> outputs, std::size_t words) const {
  if (static_cast<std::int64_t>(inputs.size()) != inputs_ ||
      static_cast<std::int64_t>(outputs.size()) != outputs_) {
    fail("BitProgram", "expected {} inputs and {} outputs, received {} and {}", inputs_, outputs_,
         inputs.size(), outputs.size());
  }
  for (const BitConstant& constant : constants_) {
    std::fill_n(outputs[constant.output], words, constant.value ? ~std::uint64_t{0} : 0);
  }
  cpu::run_bits(code(), inputs.data(), outputs.data(), words);
}

BitCode BitProgram::code() const {
  return {from_inputs_,
          runs_,
          steps_,
          to_outputs_,
          constants_,
          static_cast<std::size_t>(slots_),
          static_cast<std::size_t>(row_words_)};
}

}  // namespace boolgrad
