#include "boolgrad/circuit/table.h"

#include <algorithm>
#include <utility>

namespace boolgrad::circuit {
namespace {

constexpr Truth always = ~Truth{0};

void sort_inputs(TableGate& gate) {
  for (std::size_t i = 0; i < gate.inputs.size(); ++i) {
    const auto least =
        std::min_element(gate.inputs.begin() + static_cast<std::ptrdiff_t>(i), gate.inputs.end());
    const auto j = static_cast<std::size_t>(least - gate.inputs.begin());
    gate.truth = swapped(gate.truth, i, j);
    std::swap(gate.inputs[i], gate.inputs[j]);
  }
}

// Finds cubes of the first `variables` variables whose sum lies between `least` and `most`. Returns
// the sum.
Truth cover(Truth least, Truth most, std::size_t variables, Cube cube, std::vector<Cube>& cubes) {
  if (least == 0) return 0;
  if (most == always) {
    cubes.push_back(cube);
    return always;
  }
  std::size_t j = variables - 1;
  while (!depends(least, j) && !depends(most, j)) --j;
  const auto bit = static_cast<std::uint8_t>(1U << j);
  std::array<Truth, 2> covered{};
  for (const bool value : {false, true}) {
    Cube with = cube;
    with.mask |= bit;
    if (value) with.values |= bit;
    covered[value ? 1 : 0] = cover(cofactor(least, j, value) & ~cofactor(most, j, !value),
                                   cofactor(most, j, value), j, with, cubes);
  }
  const Truth left =
      (cofactor(least, j, false) & ~covered[0]) | (cofactor(least, j, true) & ~covered[1]);
  const Truth shared =
      cover(left, cofactor(most, j, false) & cofactor(most, j, true), j, cube, cubes);
  return shared | (covered[0] & ~variable_truth[j]) | (covered[1] & variable_truth[j]);
}

}  // namespace

std::vector<std::uint64_t> variable_values(std::size_t j, std::size_t words) {
  std::vector<std::uint64_t> row(words);
  for (std::size_t w = 0; w < words; ++w) {
    const bool is_high = j >= max_variables && (w >> (j - max_variables) & 1) != 0;
    row[w] = j < max_variables ? variable_truth[j] : is_high ? ~0ULL : 0;
  }
  return row;
}

Truth stretched(std::uint64_t table, std::size_t arity) {
  for (std::size_t width = std::size_t{1} << arity; width < 64; width *= 2) {
    table |= table << width;
  }
  return table;
}

std::uint64_t shortened(Truth f, std::size_t arity) {
  const std::size_t entries = std::size_t{1} << arity;
  return entries < 64 ? f & ((Truth{1} << entries) - 1) : f;
}

Truth cofactor(Truth f, std::size_t j, bool value) {
  const int width = 1 << j;
  const Truth kept = f & (value ? variable_truth[j] : ~variable_truth[j]);
  return kept | (value ? kept >> width : kept << width);
}

Truth flipped(Truth f, std::size_t j) {
  const int width = 1 << j;
  return ((f & variable_truth[j]) >> width) | ((f & ~variable_truth[j]) << width);
}

Truth swapped(Truth f, std::size_t i, std::size_t j) {
  if (i == j) return f;
  if (i > j) std::swap(i, j);
  const int distance = (1 << j) - (1 << i);
  const Truth only_i = variable_truth[i] & ~variable_truth[j];
  const Truth only_j = variable_truth[j] & ~variable_truth[i];
  return (f & ~(only_i | only_j)) | ((f & only_i) << distance) | ((f & only_j) >> distance);
}

bool depends(Truth f, std::size_t j) { return cofactor(f, j, false) != cofactor(f, j, true); }

void fold_constants(TableGate& gate) {
  for (std::size_t j = gate.inputs.size(); j-- > 0;) {
    if (gate.inputs[j].node() != 0) continue;
    const std::size_t last = gate.inputs.size() - 1;
    gate.truth = cofactor(gate.truth, j, gate.inputs[j].complemented());
    gate.truth = swapped(gate.truth, j, last);
    gate.inputs[j] = gate.inputs[last];
    gate.inputs.pop_back();
  }
}

void fold_complements(TableGate& gate) {
  for (std::size_t j = 0; j < gate.inputs.size(); ++j) {
    if (!gate.inputs[j].complemented()) continue;
    gate.truth = flipped(gate.truth, j);
    gate.inputs[j] = !gate.inputs[j];
  }
}

void fold_repeated(TableGate& gate) {
  for (std::size_t j = 0; j < gate.inputs.size(); ++j) {
    for (std::size_t i = 0; i < j; ++i) {
      if (gate.inputs[i].node() != gate.inputs[j].node()) continue;
      const bool same = gate.inputs[i] == gate.inputs[j];
      gate.truth = (variable_truth[i] & cofactor(gate.truth, j, same)) |
                   (~variable_truth[i] & cofactor(gate.truth, j, !same));
    }
  }
}

void drop_unneeded(TableGate& gate) {
  std::size_t kept = 0;
  for (std::size_t j = 0; j < gate.inputs.size(); ++j) {
    if (!depends(gate.truth, j)) continue;
    gate.truth = swapped(gate.truth, kept, j);
    std::swap(gate.inputs[kept++], gate.inputs[j]);
  }
  gate.inputs.resize(kept);
}

TableGate canonical(TableGate gate) {
  fold_constants(gate);
  fold_complements(gate);
  fold_repeated(gate);
  drop_unneeded(gate);
  sort_inputs(gate);
  if ((gate.truth & 1) != 0) {
    gate.truth = ~gate.truth;
    gate.complemented = !gate.complemented;
  }
  return gate;
}

std::vector<Cube> sum_of_products(Truth f) {
  std::vector<Cube> cubes;
  cover(f, f, max_variables, {}, cubes);
  return cubes;
}

}  // namespace boolgrad::circuit
