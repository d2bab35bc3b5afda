// Boolean functions of up to six variables as 64-bit truth tables.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "boolgrad/circuit/bits/bit_circuit.h"

namespace boolgrad::circuit {

/// A function of six variables: bit i is its value where variable j is bit j of i. A function of
/// fewer variables does not depend on the others.
using Truth = std::uint64_t;

/// The largest number of variables of a truth table.
inline constexpr std::size_t max_variables = 6;

/// The truth table of variable j.
inline constexpr std::array<Truth, max_variables> variable_truth{
    0xAAAAAAAAAAAAAAAA, 0xCCCCCCCCCCCCCCCC, 0xF0F0F0F0F0F0F0F0,
    0xFF00FF00FF00FF00, 0xFFFF0000FFFF0000, 0xFFFFFFFF00000000};

/// The values of variable j for the first 64 * `words` input combinations.
std::vector<std::uint64_t> variable_values(std::size_t j, std::size_t words);

/// A table of `arity` inputs as a function of six variables.
Truth stretched(std::uint64_t table, std::size_t arity);
/// The table of `arity` inputs of a function that depends on no others.
std::uint64_t shortened(Truth f, std::size_t arity);

/// f with variable j set to a value.
Truth cofactor(Truth f, std::size_t j, bool value);
/// f with variable j complemented.
Truth flipped(Truth f, std::size_t j);
/// f with variables i and j exchanged.
Truth swapped(Truth f, std::size_t i, std::size_t j);
/// Whether f depends on variable j.
bool depends(Truth f, std::size_t j);

/// A table that reads literals.
struct TableGate {
  Truth truth = 0;
  std::vector<BitLiteral> inputs;
  bool complemented = false;  ///< whether the output is complemented
};

/// Removes inputs that are constant (node 0).
void fold_constants(TableGate& gate);
/// Moves complements of inputs into the table.
void fold_complements(TableGate& gate);
/// Merges repeated inputs. The table no longer depends on the duplicates, which stay in the list.
void fold_repeated(TableGate& gate);
/// Removes inputs that the table does not depend on.
void drop_unneeded(TableGate& gate);

/// The canonical representation, which is equal for equal gates. Inputs are uncomplemented, unique,
/// ascending, not constant, and the table depends on all of them. The table is 0 where all inputs
/// are 0. With one input it is that input, with none a constant.
TableGate canonical(TableGate gate);

/// A product of literals: the variables in `mask`, each with its polarity in `values`.
struct Cube {
  std::uint8_t mask = 0;
  std::uint8_t values = 0;
};

/// An irredundant sum of products of f (Minato-Morreale).
std::vector<Cube> sum_of_products(Truth f);

}  // namespace boolgrad::circuit
