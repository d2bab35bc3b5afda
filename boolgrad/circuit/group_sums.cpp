#include "boolgrad/circuit/group_sums.h"

#include <fmt/format.h>

#include <bit>
#include <deque>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "boolgrad/circuit/builder.h"
#include "boolgrad/core/error.h"

namespace boolgrad {
namespace {

constexpr const char* where = "group_sums";

constexpr std::uint64_t odd_of_three = 0b10010110;
constexpr std::uint64_t most_of_three = 0b11101000;
/// The second where the first is 0, the third where it is 1.
constexpr std::uint64_t choice = 0b11100100;
/// Where the first and the second differ the first, else the third.
constexpr std::uint64_t first_that_differs = 0b10110010;

/// A number, a literal a binary digit, the lowest first.
using Number = std::vector<BitLiteral>;

BitLiteral digit(const Number& number, std::size_t index) {
  return index < number.size() ? number[index] : BitLiteral(0);
}

/// Tables on top of a netlist.
class Arithmetic {
 public:
  Arithmetic(const Netlist& netlist, const Netlist& like) : builder_(like) {
    std::vector<BitLiteral> literals;
    for (std::size_t i = 0; i < netlist.inputs.size(); ++i) literals.push_back(builder_.input(i));
    for (const NetlistGate& gate : netlist.gates) {
      TableGate table{stretched(gate.truth, gate.arity), {}, false};
      for (const Net net : gate.sources()) table.inputs.push_back(literals[net]);
      literals.push_back(builder_.add(table));
    }
    for (const Net net : netlist.output_nets) outputs_.push_back(literals[net]);
  }

  std::span<const BitLiteral> outputs() const { return outputs_; }

  /// How many of the bits are 1. The bits of one weight, first come first served, become one of it
  /// and those of the next, so that the tree is flat.
  Number sum(std::span<const BitLiteral> bits) {
    Number result;
    std::deque<BitLiteral> own(bits.begin(), bits.end());
    while (!own.empty()) {
      std::deque<BitLiteral> carries;
      while (own.size() > 1) {
        const BitLiteral a = taken(own);
        const BitLiteral b = taken(own);
        const BitLiteral c = own.empty() ? BitLiteral(0) : taken(own);
        own.push_back(table(odd_of_three, {a, b, c}));
        carries.push_back(table(most_of_three, {a, b, c}));
      }
      result.push_back(own.front());
      own = std::move(carries);
    }
    return result;
  }

  BitLiteral above(const Number& a, const Number& b) {
    BitLiteral result(0);
    for (std::size_t i = 0; i < std::max(a.size(), b.size()); ++i) {
      result = table(first_that_differs, {digit(a, i), digit(b, i), result});
    }
    return result;
  }

  Number chosen(BitLiteral condition, const Number& otherwise, const Number& then) {
    Number result;
    for (std::size_t i = 0; i < std::max(otherwise.size(), then.size()); ++i) {
      result.push_back(table(choice, {condition, digit(otherwise, i), digit(then, i)}));
    }
    return result;
  }

  Netlist finish(std::span<const BitLiteral> outputs) { return builder_.finish(outputs); }

 private:
  static BitLiteral taken(std::deque<BitLiteral>& bits) {
    const BitLiteral bit = bits.front();
    bits.pop_front();
    return bit;
  }

  /// A table of three inputs, or what is left of it where some are constant.
  BitLiteral table(std::uint64_t truth, std::vector<BitLiteral> inputs) {
    TableGate gate{stretched(truth, inputs.size()), std::move(inputs), false};
    fold_constants(gate);
    drop_unneeded(gate);
    if (gate.inputs.empty()) return BitLiteral(0, (gate.truth & 1) != 0);
    if (gate.inputs.size() == 1) return gate.inputs[0] ^ ((gate.truth & 1) != 0);
    return builder_.add(gate);
  }

  NetlistBuilder builder_;
  std::vector<BitLiteral> outputs_;
};

void check(const Netlist& netlist, std::int64_t classes, std::int64_t least_classes) {
  if (netlist.state) fail(where, "expected a circuit, received the rule of an automaton");
  const std::int64_t outputs = std::ssize(netlist.outputs);
  if (classes < least_classes || outputs == 0 || outputs % classes != 0) {
    fail(where, "expected {} or more classes, a number that divides {} outputs, received {}",
         least_classes, outputs, classes);
  }
}

/// The same but for the names of the outputs.
Netlist renamed(const Netlist& netlist, std::vector<std::string> outputs) {
  Netlist like;
  like.name = netlist.name;
  like.inputs = netlist.inputs;
  like.outputs = std::move(outputs);
  return like;
}

std::vector<std::string> numbered(std::string_view prefix, std::size_t count) {
  std::vector<std::string> names;
  for (std::size_t i = 0; i < count; ++i) names.push_back(fmt::format("{}{}", prefix, i));
  return names;
}

std::vector<Number> sums_of(Arithmetic& arithmetic, std::int64_t classes) {
  const std::span<const BitLiteral> outputs = arithmetic.outputs();
  const std::size_t size = outputs.size() / static_cast<std::size_t>(classes);
  std::vector<Number> sums;
  for (std::size_t c = 0; c < static_cast<std::size_t>(classes); ++c) {
    sums.push_back(arithmetic.sum(outputs.subspan(c * size, size)));
  }
  return sums;
}

Number constant(std::size_t value) {
  Number result;
  for (; value != 0; value >>= 1) result.push_back(BitLiteral(0, (value & 1) != 0));
  return result;
}

}  // namespace

Netlist with_group_sums(const Netlist& netlist, std::int64_t classes) {
  check(netlist, classes, 1);
  const std::size_t size = netlist.outputs.size() / static_cast<std::size_t>(classes);
  std::vector<std::string> names;
  for (std::int64_t c = 0; c < classes; ++c) {
    for (std::string& name : numbered(fmt::format("sum{}_", c), std::bit_width(size))) {
      names.push_back(std::move(name));
    }
  }
  Arithmetic arithmetic(netlist, renamed(netlist, std::move(names)));
  Number outputs;
  for (const Number& sum : sums_of(arithmetic, classes)) {
    outputs.insert(outputs.end(), sum.begin(), sum.end());
  }
  return arithmetic.finish(outputs);
}

Netlist with_thresholds(const Netlist& netlist, std::int64_t classes, std::int64_t least) {
  check(netlist, classes, 1);
  if (least < 1) fail(where, "expected a threshold of 1 or more, received {}", least);
  Arithmetic arithmetic(netlist,
                        renamed(netlist, numbered("above", static_cast<std::size_t>(classes))));
  Number outputs;
  for (const Number& sum : sums_of(arithmetic, classes)) {
    outputs.push_back(arithmetic.above(sum, constant(static_cast<std::size_t>(least - 1))));
  }
  return arithmetic.finish(outputs);
}

Netlist with_argmax(const Netlist& netlist, std::int64_t classes) {
  check(netlist, classes, 2);
  const auto count = static_cast<std::size_t>(classes);
  const auto digits = static_cast<std::size_t>(std::bit_width(count - 1));
  Arithmetic arithmetic(netlist, renamed(netlist, numbered("class_", digits)));
  struct Candidate {
    Number sum;
    Number index;
  };
  std::vector<Candidate> candidates;
  for (Number& sum : sums_of(arithmetic, classes)) {
    candidates.push_back({std::move(sum), constant(candidates.size())});
  }
  // A tournament of neighbours, in which the later one has to be above the earlier.
  while (candidates.size() > 1) {
    std::vector<Candidate> winners;
    for (std::size_t i = 0; i < candidates.size(); i += 2) {
      if (i + 1 == candidates.size()) {
        winners.push_back(std::move(candidates[i]));
        break;
      }
      const Candidate& a = candidates[i];
      const Candidate& b = candidates[i + 1];
      const BitLiteral later = arithmetic.above(b.sum, a.sum);
      winners.push_back(
          {arithmetic.chosen(later, a.sum, b.sum), arithmetic.chosen(later, a.index, b.index)});
    }
    candidates = std::move(winners);
  }
  Number outputs = candidates[0].index;
  outputs.resize(digits);
  return arithmetic.finish(outputs);
}

}  // namespace boolgrad
