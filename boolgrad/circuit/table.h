// Functions of up to six variables as words of their values.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "boolgrad/circuit/bits/bit_circuit.h"

namespace boolgrad {

/// A function of six variables: bit i is its value where variable j is bit j of i. One of fewer
/// does not depend on the rest.
using Truth = std::uint64_t;

inline constexpr std::size_t most_variables = 6;

/// Where variable j is 1.
inline constexpr std::array<Truth, most_variables> variable_truth{
    0xAAAAAAAAAAAAAAAA, 0xCCCCCCCCCCCCCCCC, 0xF0F0F0F0F0F0F0F0,
    0xFF00FF00FF00FF00, 0xFFFF0000FFFF0000, 0xFFFFFFFF00000000};

/// Where variable j of any number is 1, in the first 64 `words` cases.
std::vector<std::uint64_t> variable_values(std::size_t j, std::size_t words);

/// A table of `arity` inputs as a function of six, and back.
Truth stretched(std::uint64_t table, std::size_t arity);
std::uint64_t shortened(Truth f, std::size_t arity);

/// f with variable j set to a value.
Truth cofactor(Truth f, std::size_t j, bool value);
/// f with variable j complemented.
Truth flipped(Truth f, std::size_t j);
/// f with variables i and j in each other's place.
Truth swapped(Truth f, std::size_t i, std::size_t j);
bool depends(Truth f, std::size_t j);

/// A table that reads literals.
struct TableGate {
  Truth truth = 0;
  std::vector<BitLiteral> inputs;
  bool complemented = false;  ///< the table's output is
};

/// Takes constants (node 0) out of the inputs.
void fold_constants(TableGate& gate);
/// Reads every input plain.
void fold_complements(TableGate& gate);
/// Reads no node twice. The inputs that are left over are not needed.
void fold_repeated(TableGate& gate);
/// Removes the inputs that the table does not depend on.
void drop_unneeded(TableGate& gate);

/// The same function in the one form that equal gates share: inputs that are plain, different,
/// ascending, no constant (node 0) and all needed; a table that is 0 where all of them are 0. With
/// one input left it is that input, with none a constant.
TableGate canonical(TableGate gate);

/// A product of variables: those in `mask`, each with the value that its bit of `values` has.
struct Cube {
  std::uint8_t mask = 0;
  std::uint8_t values = 0;
};

/// An irredundant sum of products that is f (Minato and Morreale).
std::vector<Cube> sum_of_products(Truth f);

}  // namespace boolgrad
