#include "boolgrad/circuit/passes/arithmetic_resynthesis.h"

#include <algorithm>
#include <bit>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "boolgrad/circuit/convert.h"
#include "boolgrad/circuit/passes/rebuilding.h"
#include "boolgrad/circuit/table.h"

namespace boolgrad::circuit {
namespace {

/// A coefficient modulo 2^outputs, and the inputs whose product it multiplies, as a bit set.
struct Term {
  std::uint64_t inputs = 0;
  std::uint64_t coefficient = 0;
};

/// The outputs of all input combinations as numbers. `order` lists the outputs, the lowest digit
/// first.
std::vector<std::uint64_t> numbers_of(const BitCircuit& circuit,
                                      std::span<const std::size_t> order) {
  const auto inputs = static_cast<std::size_t>(circuit.inputs());
  const std::size_t cases = std::size_t{1} << inputs;
  const std::size_t words = std::max<std::size_t>(1, cases / 64);
  std::vector<std::vector<std::uint64_t>> values;
  for (std::size_t j = 0; j < inputs; ++j) values.push_back(variable_values(j, words));
  std::vector<std::uint64_t> numbers(cases, 0);
  for (std::size_t w = 0; w < words; ++w) {
    std::vector<std::uint64_t> in;
    for (const auto& value : values) in.push_back(value[w]);
    const std::vector<std::uint64_t> out = circuit.evaluate(in);
    for (std::size_t s = 0; s < std::min<std::size_t>(64, cases); ++s) {
      for (std::size_t digit = 0; digit < order.size(); ++digit) {
        numbers[64 * w + s] |= (out[order[digit]] >> s & 1) << digit;
      }
    }
  }
  return numbers;
}

/// The polynomial of a function given by its values; none if it has too many terms. The coefficient
/// of a set S of inputs is the alternating sum of the values over all subsets of S.
std::optional<std::vector<Term>> polynomial_of(std::vector<std::uint64_t> values,
                                               std::size_t digits, std::size_t max_terms) {
  for (std::size_t step = 1; step < values.size(); step *= 2) {
    for (std::size_t i = 0; i < values.size(); ++i) {
      if ((i & step) != 0) values[i] -= values[i ^ step];
    }
  }
  const std::uint64_t mask = ~std::uint64_t{0} >> (64 - digits);
  std::vector<Term> terms;
  for (std::size_t i = 0; i < values.size(); ++i) {
    if ((values[i] & mask) == 0) continue;
    if (terms.size() == max_terms) return std::nullopt;
    terms.push_back({i, values[i] & mask});
  }
  return terms;
}

/// Adds bits of equal weight per column, and carries into the next one.
class AdderTree {
 public:
  AdderTree(BitCircuit& circuit, std::size_t digits) : circuit_(circuit), columns_(digits) {}

  /// Adds bit * coefficient. Signed digits without neighbours that are both nonzero need the fewest
  /// adders. A negative digit adds the complement: -x = !x - 1.
  void add(BitLiteral bit, std::uint64_t coefficient) {
    for (std::size_t digit = 0; digit < columns_.size(); ++digit, coefficient >>= 1) {
      if ((coefficient & 1) == 0) continue;
      const bool is_negative = (coefficient & 2) != 0 && digit + 1 < columns_.size();
      if (is_negative) {
        columns_[digit].push_back(!bit);
        constant_ -= std::uint64_t{1} << digit;
        coefficient += 1;
      } else {
        columns_[digit].push_back(bit);
        coefficient -= 1;
      }
    }
  }
  void add_constant(std::uint64_t value) { constant_ += value; }

  /// The digits of the sum.
  std::vector<BitLiteral> digits() {
    std::vector<BitLiteral> result;
    for (std::size_t digit = 0; digit < columns_.size(); ++digit) {
      if ((constant_ >> digit & 1) != 0) {
        columns_[digit].insert(columns_[digit].begin(), circuit_.constant(true));
      }
      result.push_back(sum_of(digit));
    }
    return result;
  }

 private:
  /// Adds a column, three bits at a time. Bits that are known early come first.
  BitLiteral sum_of(std::size_t digit) {
    std::vector<BitLiteral>& bits = columns_[digit];
    std::size_t at = 0;
    while (bits.size() - at > 1) {
      const BitLiteral a = bits[at];
      const BitLiteral b = bits[at + 1];
      if (bits.size() - at == 2) {
        bits.push_back(circuit_.exclusive_or(a, b));
        carry(digit, circuit_.conjunction(a, b));
        at += 2;
        continue;
      }
      const BitLiteral c = bits[at + 2];
      const BitLiteral first = circuit_.exclusive_or(a, c);
      const BitLiteral second = circuit_.exclusive_or(b, c);
      bits.push_back(circuit_.exclusive_or(first, b));
      carry(digit, circuit_.exclusive_or(circuit_.conjunction(first, second), c));
      at += 3;
    }
    return at < bits.size() ? bits[at] : circuit_.constant(false);
  }

  void carry(std::size_t digit, BitLiteral bit) {
    const bool is_zero = bit == circuit_.constant(false);
    if (digit + 1 < columns_.size() && !is_zero) columns_[digit + 1].push_back(bit);
  }

  BitCircuit& circuit_;
  std::vector<std::vector<BitLiteral>> columns_;
  std::uint64_t constant_ = 0;
};

/// A lower bound on the adders of a polynomial: its signed digits, less one per output.
std::int64_t adders_of(std::span<const Term> terms, std::size_t digits) {
  std::int64_t count = 0;
  for (const Term& term : terms) {
    // The nonzero digits of the non-adjacent form of c are those of c xor 3 c.
    count += std::popcount((term.coefficient ^ (3 * term.coefficient)) >> 1 &
                           (~std::uint64_t{0} >> (64 - digits)));
  }
  return count - static_cast<std::int64_t>(digits);
}

BitCircuit sum_of_terms(const BitCircuit& like, std::span<const Term> terms,
                        std::span<const std::size_t> order) {
  BitCircuit result(like.inputs());
  AdderTree tree(result, order.size());
  for (const Term& term : terms) {
    if (term.inputs == 0) {
      tree.add_constant(term.coefficient);
      continue;
    }
    BitLiteral product = result.constant(true);
    for (std::int64_t j = 0; j < like.inputs(); ++j) {
      if ((term.inputs >> j & 1) != 0) product = result.conjunction(product, result.input(j));
    }
    tree.add(product, term.coefficient);
  }
  const std::vector<BitLiteral> digits = tree.digits();
  std::vector<BitLiteral> outputs(order.size());
  for (std::size_t digit = 0; digit < order.size(); ++digit) outputs[order[digit]] = digits[digit];
  for (const BitLiteral output : outputs) result.add_output(output);
  return compacted(result);
}

}  // namespace

BitCircuit resynthesise_arithmetic(const BitCircuit& circuit, const ArithmeticParams& params) {
  const std::size_t outputs = circuit.outputs().size();
  if (circuit.inputs() < 1 || circuit.inputs() > params.max_inputs || outputs < 1 ||
      outputs > params.max_outputs || circuit.gates() > params.max_gates) {
    return circuit;
  }
  BitCircuit best = circuit;
  std::int64_t fewest = netlist_gate_count(circuit);
  for (const bool is_reversed : {false, true}) {
    if (is_reversed && outputs == 1) break;
    std::vector<std::size_t> order;
    for (std::size_t o = 0; o < outputs; ++o) order.push_back(is_reversed ? outputs - 1 - o : o);
    const auto terms = polynomial_of(numbers_of(circuit, order), outputs, params.max_terms);
    if (!terms || adders_of(*terms, outputs) > fewest) continue;
    BitCircuit candidate = sum_of_terms(circuit, *terms, order);
    const std::int64_t gates = netlist_gate_count(candidate);
    if (gates >= fewest) continue;
    fewest = gates;
    best = std::move(candidate);
  }
  return best;
}

}  // namespace boolgrad::circuit
