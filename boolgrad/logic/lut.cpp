#include "boolgrad/logic/lut.h"

#include <algorithm>
#include <bit>
#include <string>

#include "boolgrad/autograd/tape.h"
#include "boolgrad/backend/cpu/network/lut.h"
#include "boolgrad/backend/plan/lut_wires.h"
#include "boolgrad/core/fail.h"
#include "boolgrad/core/parallel.h"
#include "boolgrad/ops/arithmetic.h"
#include "boolgrad/ops/checks.h"
#include "boolgrad/ops/reduction.h"
#include "boolgrad/ops/shaping.h"

namespace boolgrad::logic {
namespace {

void check_layer(const Tensor& x, std::int64_t features, const Tensor& tables,
                 const Wiring& wiring) {
  const DType dtype = common_floating_dtype("lut_layer", {x, tables});
  if (dtype == DType::float16) {
    fail("lut_layer", "expected float32 or float64, received {}", to_string(dtype));
  }
  if (x.rank() != 2) {
    fail("lut_layer", "expected inputs of shape [features, samples], received {}",
         boolgrad::to_string(x.shape()));
  }
  if (features != wiring.inputs()) {
    fail("lut_layer", "expected {} input features, received {}", wiring.inputs(), features);
  }
  const Shape expected{wiring.tables(), std::int64_t{1} << wiring.arity()};
  if (tables.shape() != expected) {
    fail("lut_layer", "expected tables of shape {}, received {}", boolgrad::to_string(expected),
         boolgrad::to_string(tables.shape()));
  }
}

std::vector<LutWires> views_of(std::span<const WiringPtr> wirings) {
  std::vector<LutWires> views;
  for (const WiringPtr& wiring : wirings) views.push_back(wiring->view());
  return views;
}

// Gradients of x and the tables, from residuals [coefficients..., x].
std::vector<Tensor> layers_vjp(std::span<const WiringPtr> wirings, const VjpContext& c) {
  const std::size_t count = wirings.size();
  const Tensor& x = c.residual(count);
  std::vector<Tensor> gradients(count + 1);
  if (c.needs[0]) gradients[0] = Tensor(x.shape(), x.dtype());
  std::vector<Tensor> coefficient_gradients;
  cpu::lut_backward(views_of(wirings), c.residuals.first(count), x, c.gradient(),
                    coefficient_gradients, c.needs[0] ? &gradients[0] : nullptr);
  for (std::size_t layer = 0; layer < count; ++layer) {
    gradients[layer + 1] = Tensor(coefficient_gradients[layer].shape(), c.gradient().dtype());
    cpu::coefficient_to_table_gradients(coefficient_gradients[layer], gradients[layer + 1]);
  }
  return gradients;
}

Tensor constant_like(const Tensor& x, double value) { return Tensor::scalar(value, x.dtype()); }

Tensor row_of(const Tensor& x, std::int64_t row) { return slice(x, 0, row, row + 1); }

// Input `slot` of every gate, one row per gate.
Tensor gathered_inputs(const Tensor& x, const Wiring& wiring, int slot) {
  std::vector<Tensor> rows;
  for (std::int64_t gate = 0; gate < wiring.gates(); ++gate) {
    rows.push_back(reshape(row_of(x, wiring.source(gate, slot)), {x.shape()[1]}));
  }
  return stack(rows);
}

/// A column with one element per gate: 0 where input `slot` lies outside of the image, else 1.
Tensor insides(const Wiring& wiring, int slot, DType dtype) {
  Tensor column = Tensor::ones({wiring.gates(), 1}, dtype);
  const Tensor& outside = wiring.sharing().outside;
  if (!outside.defined()) return column;
  visit_dtype(dtype, [&](auto zero) {
    using T = decltype(zero);
    for (std::size_t gate = 0; gate < static_cast<std::size_t>(wiring.gates()); ++gate) {
      const bool is_outside = ((outside.values<std::uint8_t>()[gate] >> slot) & 1) != 0;
      column.mutable_values<T>()[gate] = convert<T>(is_outside ? 0 : 1);
    }
  });
  return column;
}

std::uint64_t all_bits(bool value) { return value ? ~std::uint64_t{0} : 0; }

/// A gate of two inputs in algebraic normal form, c0 ^ c1 a ^ c2 b ^ c3 ab.
void hard_pair(const std::uint8_t* table, const std::uint64_t* a, const std::uint64_t* b,
               std::size_t words, std::uint64_t* out) {
  const bool t0 = table[0] != 0;
  const bool t1 = table[1] != 0;
  const bool t2 = table[2] != 0;
  const bool t3 = table[3] != 0;
  const std::uint64_t c0 = all_bits(t0);
  const std::uint64_t c1 = all_bits(t0 != t1);
  const std::uint64_t c2 = all_bits(t0 != t2);
  const std::uint64_t c3 = all_bits((t0 != t1) != (t2 != t3));
  for (std::size_t w = 0; w < words; ++w) {
    out[w] = c0 ^ (a[w] & (c1 ^ (b[w] & c3))) ^ (b[w] & c2);
  }
}

/// A tree of multiplexers: each input selects the upper half of the table where it is 1, else the
/// lower.
template <class Source>
void hard_gate(const std::uint8_t* table, int arity, const Source& source, std::size_t words,
               std::uint64_t* out) {
  constexpr std::size_t block = 8;
  std::uint64_t values[1 << max_gate_inputs][block];
  for (std::size_t first = 0; first < words; first += block) {
    const std::size_t count = std::min(block, words - first);
    for (std::size_t e = 0; e < std::size_t{1} << arity; ++e) {
      std::fill_n(values[e], block, all_bits(table[e] != 0));
    }
    for (int slot = arity - 1; slot >= 0; --slot) {
      std::uint64_t input[block] = {};
      std::copy_n(source(slot) + first, count, input);
      const std::size_t half = std::size_t{1} << slot;
      for (std::size_t e = 0; e < half; ++e) {
        for (std::size_t w = 0; w < block; ++w) {
          values[e][w] ^= (values[e][w] ^ values[e + half][w]) & input[w];
        }
      }
    }
    std::copy_n(values[0], count, out + first);
  }
}

}  // namespace

Tensor expanded_tables(const Tensor& tables, const Wiring& wiring) {
  const LutWires wires = wiring.view();
  if (wires.has_own_tables()) return tables;
  const auto entries = std::size_t{1} << wiring.arity();
  Tensor expanded({wiring.gates(), static_cast<std::int64_t>(entries)}, tables.dtype());
  visit_dtype(tables.dtype(), [&](auto zero) {
    using T = decltype(zero);
    const auto to = expanded.mutable_values<T>();
    if (wiring.pools()) {
      for (std::size_t i = 0; i < to.size(); ++i) to[i] = convert<T>(i % entries == 0 ? 0 : 1);
      return;
    }
    const auto from = tables.values<T>();
    const auto positions = static_cast<std::size_t>(wires.positions);
    for (std::size_t i = 0; i < to.size(); ++i) {
      const std::size_t gate = i / entries;
      const std::size_t zeros = wires.outside.empty() ? 0 : wires.outside[gate];
      to[i] = from[gate / positions * entries + (i % entries & ~zeros)];
    }
  });
  return expanded;
}

Tensor lut_layers(const Tensor& x, std::span<const Tensor> tables,
                  std::span<const WiringPtr> wirings) {
  if (tables.empty() || tables.size() != wirings.size()) {
    fail("lut_layers", "expected as many tables as wirings and at least one, received {} and {}",
         tables.size(), wirings.size());
  }
  std::vector<Tensor> inputs{x};
  std::vector<Tensor> residuals;
  for (std::size_t i = 0; i < tables.size(); ++i) {
    check_layer(x,
                i == 0 && x.rank() == 2 ? x.shape()[0]
                : i == 0                ? 0
                                        : wirings[i - 1]->gates(),
                tables[i], *wirings[i]);
    inputs.push_back(tables[i]);
    residuals.emplace_back(tables[i].shape(), x.dtype());
    cpu::tables_to_coefficients(tables[i], residuals.back());
  }
  Tensor out({wirings.back()->gates(), x.shape()[1]}, x.dtype());
  cpu::lut_forward(views_of(wirings), residuals, x, out);
  residuals.push_back(x);
  std::vector<WiringPtr> owned(wirings.begin(), wirings.end());
  return record(
      "lut_layers", inputs, {out}, std::move(residuals),
      [owned = std::move(owned)](const VjpContext& c) { return layers_vjp(owned, c); })[0];
}

Tensor lut_layer(const Tensor& x, const Tensor& tables, const WiringPtr& wiring) {
  return lut_layers(x, {&tables, 1}, {&wiring, 1});
}

LutGradients lut_layer_gradients(const Tensor& x, const Tensor& tables, const WiringPtr& wiring,
                                 const Tensor& g, bool needs_x) {
  check_layer(x, x.rank() == 2 ? x.shape()[0] : 0, tables, *wiring);
  const Shape expected{wiring->gates(), x.shape()[1]};
  if (g.shape() != expected || g.dtype() != x.dtype()) {
    fail("lut_layer", "expected a gradient of {} {}, received {} {}", to_string(x.dtype()),
         boolgrad::to_string(expected), to_string(g.dtype()), boolgrad::to_string(g.shape()));
  }
  Tensor coefficients(tables.shape(), x.dtype());
  cpu::tables_to_coefficients(tables, coefficients);
  const LutWires view = wiring->view();
  LutGradients result;
  if (needs_x) result.x = Tensor(x.shape(), x.dtype());
  std::vector<Tensor> sums;
  cpu::lut_backward({&view, 1}, {&coefficients, 1}, x, g, sums, needs_x ? &result.x : nullptr);
  result.tables = Tensor(tables.shape(), x.dtype());
  cpu::coefficient_to_table_gradients(sums[0], result.tables);
  return result;
}

// The sum over all entries of the entry times the product over inputs of x or 1 - x.
Tensor lut_layer_reference(const Tensor& x, const Tensor& tables, const WiringPtr& wiring) {
  check_layer(x, x.rank() == 2 ? x.shape()[0] : 0, tables, *wiring);
  std::vector<Tensor> inputs;
  for (int slot = 0; slot < wiring->arity(); ++slot) {
    inputs.push_back(
        multiply(gathered_inputs(x, *wiring, slot), insides(*wiring, slot, x.dtype())));
  }
  if (wiring->pools()) return max(stack(inputs), {.axes = Axes{0}});
  const Tensor copies = Tensor::ones({1, wiring->positions(), 1}, x.dtype());
  const std::int64_t entries = tables.shape()[1];
  const Tensor of_gates = reshape(multiply(reshape(tables, {wiring->tables(), 1, entries}), copies),
                                  {wiring->gates(), entries});
  Tensor total;
  for (std::int64_t entry = 0; entry < entries; ++entry) {
    Tensor product = slice(of_gates, 1, entry, entry + 1);
    for (int slot = 0; slot < wiring->arity(); ++slot) {
      const Tensor& input = inputs[static_cast<std::size_t>(slot)];
      const bool set = ((entry >> slot) & 1) != 0;
      product = multiply(product, set ? input : subtract(constant_like(x, 1), input));
    }
    total = total.defined() ? add(total, product) : product;
  }
  return total;
}

BitMatrix pack_bits(const Tensor& x) {
  if (x.rank() != 2) {
    fail("pack_bits", "expected shape [features, samples], received {}",
         boolgrad::to_string(x.shape()));
  }
  BitMatrix bits{x.shape()[0], x.shape()[1], {}};
  bits.words.assign(static_cast<std::size_t>(bits.features * bits.words_per_feature()), 0);
  visit_dtype(x.dtype(), [&](auto zero) {
    const auto values = x.values<decltype(zero)>();
    for (std::int64_t feature = 0; feature < bits.features; ++feature) {
      for (std::int64_t sample = 0; sample < bits.samples; ++sample) {
        const auto at = static_cast<std::size_t>(feature * bits.samples + sample);
        const auto word =
            static_cast<std::size_t>(feature * bits.words_per_feature() + sample / 64);
        const bool on = convert<double>(values[at]) > 0.5;
        bits.words[word] |= static_cast<std::uint64_t>(on) << (sample % 64);
      }
    }
  });
  return bits;
}

Tensor unpack_bits(const BitMatrix& bits, DType dtype) {
  Tensor x({bits.features, bits.samples}, dtype);
  visit_dtype(dtype, [&](auto zero) {
    using T = decltype(zero);
    const std::span<T> values = x.mutable_values<T>();
    for (std::size_t i = 0; i < values.size(); ++i) {
      const auto at = static_cast<std::int64_t>(i);
      values[i] = convert<T>(bits.at(at / bits.samples, at % bits.samples) ? 1 : 0);
    }
  });
  return x;
}

BitMatrix hard_lut_layer(const BitMatrix& x, const Tensor& tables, const Wiring& wiring) {
  if (x.features != wiring.inputs()) {
    fail("hard_lut_layer", "expected {} input features, received {}", wiring.inputs(), x.features);
  }
  const auto entries = std::size_t{1} << wiring.arity();
  if (tables.size() != wiring.tables() * static_cast<std::int64_t>(entries)) {
    fail("hard_lut_layer", "expected tables of shape [{}, {}], received {}", wiring.tables(),
         entries, boolgrad::to_string(tables.shape()));
  }
  const Tensor of_gates = expanded_tables(tables, wiring);
  const std::span<const std::uint8_t> table = of_gates.values<std::uint8_t>();
  BitMatrix out{wiring.gates(), x.samples, {}};
  const auto words = static_cast<std::size_t>(x.words_per_feature());
  const auto gates = static_cast<std::size_t>(wiring.gates());
  out.words.resize(gates * words);
  constexpr std::size_t words_per_task = 32768;
  const std::size_t grain =
      std::max<std::size_t>(1, words_per_task / std::max<std::size_t>(words, 1));
  parallel_for(task_count(gates, grain), [&](std::size_t task) {
    for (std::size_t gate = task * grain; gate < std::min(gates, (task + 1) * grain); ++gate) {
      const std::uint8_t* own = table.data() + gate * entries;
      std::uint64_t* to = out.words.data() + gate * words;
      const auto source = [&](int slot) {
        const auto input = wiring.source(static_cast<std::int64_t>(gate), slot);
        return x.words.data() + static_cast<std::size_t>(input) * words;
      };
      if (wiring.arity() == 2) hard_pair(own, source(0), source(1), words, to);
      else hard_gate(own, wiring.arity(), source, words, to);
    }
  });
  // Clear the bits beyond the last sample.
  if (x.samples % 64 != 0) {
    const std::uint64_t used = (std::uint64_t{1} << (x.samples % 64)) - 1;
    for (std::size_t i = words; i <= out.words.size(); i += words) out.words[i - 1] &= used;
  }
  return out;
}

}  // namespace boolgrad::logic
