#include "boolgrad/circuit/bits/runner.h"

#include <algorithm>
#include <bit>
#include <memory>
#include <utility>
#include <vector>

#include "boolgrad/backend/cpu/bits/bit_counts.h"
#include "boolgrad/backend/cpu/bits/bit_kernels.h"
#include "boolgrad/backend/cpu/bits/bit_transpose.h"
#include "boolgrad/backend/plan/bit_program_view.h"
#include "boolgrad/circuit/convert.h"
#include "boolgrad/core/fail.h"
#include "boolgrad/core/parallel.h"
#include "boolgrad/tensor/storage.h"

namespace boolgrad::circuit {
namespace {

constexpr const char* where = "runner";
constexpr std::uint32_t no_slot = 0xFFFFFFFF;

/// Words per slot for so many samples: a power of two that the kernels support.
std::size_t row_words_for(std::size_t samples, std::size_t max) {
  return std::clamp(std::bit_ceil((samples + 63) / 64), min_row_words, max);
}

}  // namespace

/// A block of samples and its scratch buffer: the slots of the program, one slot of zeros, then the
/// digits of all sums, of the largest sum and of its class.
struct CircuitRunner::Block {
  std::size_t first;  ///< index of the first sample
  std::size_t samples;
  std::size_t row_words;
  std::shared_ptr<Storage> storage;

  std::uint64_t* slot(std::size_t index) const {
    return static_cast<std::uint64_t*>(storage->data()) + index * row_words;
  }
  /// Calls `work` for each strip, with its first word in a slot, its first sample and its size.
  template <class Work>
  void for_each_strip(const Work& work) const {
    for (std::size_t at = 0; at < samples; at += cpu::strip_samples) {
      work(at / 64, at, std::min(cpu::strip_samples, samples - at));
    }
  }
};

/// Lists of terms that count 1, 2, 4, ... times.
using WeightedTerms = std::vector<std::vector<BitTerm>>;

struct CircuitRunner::Groups {
  std::vector<WeightedTerms> terms;  ///< of each class
};

CircuitRunner::CircuitRunner(const Netlist& netlist, const RunnerParams& params)
    : CircuitRunner(to_bit_circuit(netlist), params) {}

CircuitRunner::CircuitRunner(const BitCircuit& circuit, const RunnerParams& params)
    : program_(circuit) {
  input_slots_.assign(static_cast<std::size_t>(circuit.inputs()), no_slot);
  for (const BitPort& port : program_.code().inputs) input_slots_[port.index] = port.slot;
  set_groups(params);
}

void CircuitRunner::set_groups(const RunnerParams& params) {
  const std::int64_t classes = params.classes;
  const std::vector<std::int32_t>& exponents = params.exponents;
  const std::int64_t outputs = program_.outputs();
  if (classes < 0 || (classes > 0 && (outputs == 0 || outputs % classes != 0))) {
    fail(where, "expected a number of classes that divides {} outputs, received {}", outputs,
         classes);
  }
  if (!exponents.empty() && std::ssize(exponents) != outputs) {
    fail(where, "expected {} exponents, received {}", outputs, exponents.size());
  }
  if (classes == 0) return;
  const BitProgramView code = program_.code();
  const auto zeros = static_cast<std::uint32_t>(code.slots);
  std::vector<BitTerm> terms(static_cast<std::size_t>(outputs));
  for (const BitPort& port : code.outputs) terms[port.index] = {port.slot, port.complemented};
  for (const BitConstant& constant : code.constants) {
    terms[constant.output] = {zeros, constant.value};
  }
  const auto size = static_cast<std::size_t>(outputs / classes);
  Groups groups;
  for (std::size_t first = 0; first < terms.size(); first += size) {
    WeightedTerms own(1);
    std::uint64_t largest = 0;
    for (std::size_t i = first; i < first + size; ++i) {
      const auto exponent = static_cast<std::size_t>(exponents.empty() ? 0 : exponents[i]);
      if (exponent >= own.size()) own.resize(exponent + 1);
      own[exponent].push_back(terms[i]);
      largest += std::uint64_t{1} << exponent;
    }
    for (std::vector<BitTerm>& one : own) {
      one.resize(task_count(one.size(), cpu::term_block) * cpu::term_block, {zeros, false});
    }
    groups.terms.push_back(std::move(own));
    planes_ = std::max(planes_, static_cast<std::size_t>(std::bit_width(largest)));
  }
  index_planes_ = static_cast<std::size_t>(std::bit_width(groups.terms.size() - 1));
  classes_ = groups.terms.size();
  groups_ = std::make_shared<const Groups>(std::move(groups));
}

std::size_t CircuitRunner::scratch_slots() const {
  return program_.code().slots + 1 + classes_ * planes_ + planes_ + index_planes_;
}

void CircuitRunner::check(const ByteSamples& inputs) const {
  const auto expected = static_cast<std::size_t>(inputs.samples) * input_slots_.size();
  if (inputs.samples < 0 || inputs.bytes.size() != expected) {
    fail(where, "expected {} samples of {} bytes, received {} bytes", inputs.samples,
         input_slots_.size(), inputs.bytes.size());
  }
}

void CircuitRunner::check(const logic::BitMatrix& inputs) const {
  const std::int64_t words = inputs.features * inputs.words_per_feature();
  if (inputs.features != this->inputs() || inputs.samples < 0 ||
      std::ssize(inputs.words) != words) {
    fail(where, "expected samples of {} inputs in {} words, received {} in {}", this->inputs(),
         this->inputs() * inputs.words_per_feature(), inputs.features, inputs.words.size());
  }
}

logic::BitMatrix CircuitRunner::run(const logic::BitMatrix& inputs) const {
  check(inputs);
  logic::BitMatrix result{outputs(), inputs.samples, {}};
  const auto words = static_cast<std::size_t>(inputs.words_per_feature());
  result.words.resize(static_cast<std::size_t>(outputs()) * words);
  const auto grain = static_cast<std::size_t>(program_.row_words());
  parallel_for(task_count(words, grain), [&](std::size_t task) {
    const std::size_t first = task * grain;
    std::vector<const std::uint64_t*> from;
    std::vector<std::uint64_t*> to;
    for (std::size_t i = 0; i < static_cast<std::size_t>(inputs.features); ++i) {
      from.push_back(inputs.words.data() + i * words + first);
    }
    for (std::size_t o = 0; o < static_cast<std::size_t>(outputs()); ++o) {
      to.push_back(result.words.data() + o * words + first);
    }
    program_.run(from, to, std::min(grain, words - first));
  });
  return result;
}

void CircuitRunner::run(const ByteSamples& inputs, std::span<std::uint8_t> outputs) const {
  unpack(run(packed(inputs, this->inputs())), outputs);
}

void CircuitRunner::load(const ByteSamples& inputs, const Block& block) const {
  const std::size_t features = input_slots_.size();
  block.for_each_strip([&](std::size_t word, std::size_t sample, std::size_t count) {
    std::vector<std::uint64_t*> rows(features, nullptr);
    for (std::size_t i = 0; i < features; ++i) {
      if (input_slots_[i] != no_slot) rows[i] = block.slot(input_slots_[i]) + word;
    }
    cpu::pack_strip(inputs.bytes.data() + (block.first + sample) * features, features, count, rows);
  });
}

void CircuitRunner::load(const logic::BitMatrix& inputs, const Block& block) const {
  const auto words = static_cast<std::size_t>(inputs.words_per_feature());
  for (std::size_t i = 0; i < input_slots_.size(); ++i) {
    if (input_slots_[i] == no_slot) continue;
    std::copy_n(inputs.words.data() + i * words + block.first / 64, (block.samples + 63) / 64,
                block.slot(input_slots_[i]));
  }
}

template <class Inputs>
void CircuitRunner::count(const Inputs& inputs, Result result,
                          std::span<std::int32_t> results) const {
  if (!groups_) fail(where, "expected a runner with classes, received one without");
  check(inputs);
  const std::size_t each = result == Result::sums ? classes_ : 1;
  if (results.size() != static_cast<std::size_t>(inputs.samples) * each) {
    fail(where,
         "expected a buffer for {} results per sample and {} samples, received one for {} results",
         each, inputs.samples, results.size());
  }
  const BitProgramView code = program_.code();
  const auto samples = static_cast<std::size_t>(inputs.samples);
  const std::size_t grain = 64 * row_words_for(samples, code.row_words);
  parallel_for(task_count(samples, grain), [&](std::size_t task) {
    const std::size_t first = task * grain;
    const std::size_t own = std::min(grain, samples - first);
    const std::size_t row_words = row_words_for(own, code.row_words);
    const Block block{first, own, row_words,
                      Storage::allocate(scratch_slots() * row_words * sizeof(std::uint64_t))};
    load(inputs, block);
    std::fill_n(block.slot(code.slots), row_words, 0);
    cpu::run_bit_steps(code, row_words, block.slot(0));
    for (std::size_t c = 0; c < classes_; ++c) {
      cpu::count_rows(block.slot(0), row_words, groups_->terms[c], planes_,
                      block.slot(code.slots + 1 + c * planes_));
    }
    if (result == Result::sums) {
      write_sums(block, results.data() + first * classes_);
    } else {
      write_largest(block, results.data() + first);
    }
  });
}

void CircuitRunner::write_sums(const Block& block, std::int32_t* sums) const {
  const std::size_t begin = program_.code().slots + 1;
  block.for_each_strip([&](std::size_t word, std::size_t sample, std::size_t count) {
    for (std::size_t c = 0; c < classes_; ++c) {
      std::vector<const std::uint64_t*> digits;
      for (std::size_t p = 0; p < planes_; ++p) {
        digits.push_back(block.slot(begin + c * planes_ + p) + word);
      }
      cpu::unpack_numbers(digits, count, sums + sample * classes_ + c, classes_);
    }
  });
}

void CircuitRunner::write_largest(const Block& block, std::int32_t* classes) const {
  const std::size_t counts = program_.code().slots + 1;
  const std::size_t largest = counts + classes_ * planes_;
  const std::size_t indices = largest + planes_;
  cpu::first_largest(block.slot(counts), classes_, planes_, block.row_words, block.slot(largest),
                     index_planes_, block.slot(indices));
  block.for_each_strip([&](std::size_t word, std::size_t sample, std::size_t count) {
    std::vector<const std::uint64_t*> digits;
    for (std::size_t p = 0; p < index_planes_; ++p)
      digits.push_back(block.slot(indices + p) + word);
    cpu::unpack_numbers(digits, count, classes + sample, 1);
  });
}

void CircuitRunner::group_sums(const ByteSamples& inputs, std::span<std::int32_t> sums) const {
  count(inputs, Result::sums, sums);
}

void CircuitRunner::group_sums(const logic::BitMatrix& inputs, std::span<std::int32_t> sums) const {
  count(inputs, Result::sums, sums);
}

void CircuitRunner::classify(const ByteSamples& inputs, std::span<std::int32_t> classes) const {
  count(inputs, Result::largest, classes);
}

void CircuitRunner::classify(const logic::BitMatrix& inputs,
                             std::span<std::int32_t> classes) const {
  count(inputs, Result::largest, classes);
}

}  // namespace boolgrad::circuit
