#include "boolgrad/circuit/bits/bit_program.h"

#include <algorithm>
#include <array>
#include <utility>
#include <vector>

#include "boolgrad/backend/cpu/bits/bit_kernels.h"
#include "boolgrad/backend/plan/bit_program_view.h"
#include "boolgrad/circuit/bits/bit_schedule.h"
#include "boolgrad/core/fail.h"

namespace boolgrad::circuit {
namespace {

// A fraction of the L2 cache. Fitting in L1 would need slots so short that they cost more than the
// L2 reads.
constexpr std::size_t scratch_bytes = 256 * 1024;
// With fewer words per slot the overhead of a step exceeds its work.
constexpr std::size_t least_useful_row = 16;

constexpr std::uint32_t no_slot = 0xFFFFFFFF;

std::int64_t row_words_for(std::size_t slots) {
  std::size_t row = max_row_words;
  while (row > least_useful_row && slots * row * sizeof(std::uint64_t) > scratch_bytes) row /= 2;
  return static_cast<std::int64_t>(row);
}

/// Assigns slots to nodes and frees them after the last reader.
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

// A step may overwrite a slot that it is the last to read.
BitStep step_of(const BitOperation& operation, SlotAllocator& slots) {
  std::array<std::uint32_t, 3> from{};
  const auto sources = operation.sources();
  std::transform(sources.begin(), sources.end(), from.begin(),
                 [&](std::uint32_t node) { return slots.read(node); });
  return {slots.write(operation.out), from[0], from[1], from[2]};
}

}  // namespace

/// The program as device kernels read it.
struct BitProgram::Lists {
  std::vector<BitPort> from_inputs;
  std::vector<BitRun> runs;
  std::vector<BitStep> steps;
  std::vector<BitPort> to_outputs;
  std::vector<BitConstant> constants;
};

BitProgram::BitProgram(const BitCircuit& circuit)
    : inputs_(circuit.inputs()),
      outputs_(static_cast<std::int64_t>(circuit.outputs().size())),
      operations_(circuit.gates()) {
  Lists lists;
  const std::vector<BitOperation> operations = scheduled(circuit);
  SlotAllocator slots(circuit.nodes().size());
  for (const BitOperation& operation : operations) {
    for (const std::uint32_t node : operation.sources()) slots.expect_reader(node);
  }
  for (const BitLiteral output : circuit.outputs()) slots.expect_reader(output.node());

  for (std::uint32_t i = 0; i < static_cast<std::uint32_t>(inputs_); ++i) {
    const std::uint32_t node = circuit.input(i).node();
    if (slots.expected(node)) lists.from_inputs.push_back({i, slots.write(node)});
  }
  for (const BitOperation& operation : operations) {
    add_to_runs(operation, lists.runs);
    lists.steps.push_back(step_of(operation, slots));
  }
  for (std::uint32_t o = 0; o < static_cast<std::uint32_t>(outputs_); ++o) {
    const BitLiteral literal = circuit.outputs()[o];
    if (literal.node() == circuit.constant(false).node()) {
      lists.constants.push_back({o, literal.complemented()});
    } else {
      lists.to_outputs.push_back({o, slots.read(literal.node()), literal.complemented()});
    }
  }
  slots_ = slots.count();
  row_words_ = row_words_for(slots.count());
  lists_ = std::make_shared<const Lists>(std::move(lists));
}

std::int64_t BitProgram::steps() const { return static_cast<std::int64_t>(lists_->steps.size()); }

std::int64_t BitProgram::runs() const { return static_cast<std::int64_t>(lists_->runs.size()); }

void BitProgram::run(std::span<const std::uint64_t* const> inputs,
                     std::span<std::uint64_t* const> outputs, std::size_t words) const {
  if (static_cast<std::int64_t>(inputs.size()) != inputs_ ||
      static_cast<std::int64_t>(outputs.size()) != outputs_) {
    fail("BitProgram", "expected {} inputs and {} outputs, received {} and {}", inputs_, outputs_,
         inputs.size(), outputs.size());
  }
  for (const BitConstant& constant : lists_->constants) {
    std::fill_n(outputs[constant.output], words, constant.value ? ~std::uint64_t{0} : 0);
  }
  cpu::run_bits(code(), inputs.data(), outputs.data(), words);
}

BitProgramView BitProgram::code() const {
  return {lists_->from_inputs,
          lists_->runs,
          lists_->steps,
          lists_->to_outputs,
          lists_->constants,
          static_cast<std::size_t>(slots_),
          static_cast<std::size_t>(row_words_)};
}

}  // namespace boolgrad::circuit
