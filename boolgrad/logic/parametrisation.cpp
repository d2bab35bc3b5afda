#include "boolgrad/logic/parametrisation.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <vector>

#include "boolgrad/autograd/tape.h"
#include "boolgrad/backend/cpu/network/softmax16.h"
#include "boolgrad/core/fail.h"
#include "boolgrad/core/parallel.h"
#include "boolgrad/core/random.h"
#include "boolgrad/logic/gates.h"
#include "boolgrad/ops/activation.h"
#include "boolgrad/ops/arithmetic.h"
#include "boolgrad/ops/checks.h"

namespace boolgrad::logic {
namespace {

constexpr std::uint32_t initial_stream = 0x30000;

void check_softmax16_logits(const Tensor& logits) {
  const DType dtype = common_floating_dtype("softmax16", {logits});
  if (dtype == DType::float16) {
    fail("softmax16", "expected float32 or float64, received {}", to_string(dtype));
  }
  if (logits.rank() != 2 || logits.shape()[1] != 16) {
    fail("softmax16", "expected logits of shape [gates, 16], received {}",
         boolgrad::to_string(logits.shape()));
  }
}

// Items per task in loops over gates or logits.
constexpr std::size_t grain = 16384;

/// Calls work(first, last) for blocks of `count` items, in any order.
template <class Work>
void for_blocks(std::size_t count, const Work& work) {
  parallel_for(task_count(count, grain),
               [&](std::size_t task) { work(task * grain, std::min(count, (task + 1) * grain)); });
}

template <class T>
void most_probable_gates(std::span<const T> logits, std::span<std::uint8_t> tables) {
  for_blocks(tables.size() / 4, [&](std::size_t first, std::size_t last) {
    for (std::size_t gate = first; gate < last; ++gate) {
      const auto own = logits.subspan(gate * 16, 16);
      const auto best = std::ranges::max_element(own) - own.begin();
      for (int entry = 0; entry < 4; ++entry) {
        tables[gate * 4 + static_cast<std::size_t>(entry)] =
            gates[static_cast<std::size_t>(best)].entry(entry) ? 1 : 0;
      }
    }
  });
}

double pass_through_logit(Parametrisation parametrisation, std::int64_t index, double strength) {
  switch (parametrisation) {
    case Parametrisation::softmax16: return index == pass_a ? strength : 0;
    case Parametrisation::sigmoid: return (index & 1) != 0 ? strength : -strength;
    case Parametrisation::walsh: return index == 1 ? strength : 0;
  }
  return 0;
}

/// The logit of one gate, with 0 for the others, whose soft table has the entries
/// sigmoid(+-strength). The other gates have the share q in all; eight of the fifteen differ in an
/// entry, which is thus off by 8/15 q.
double softmax16_strength(double strength) {
  const double rest = 15.0 / 8 / (1 + std::exp(strength));
  return std::log(15 * (1 - rest) / rest);
}

/// The index of a two-input gate by the entries of its table.
std::size_t gate_of(std::span<const std::uint8_t> entries) {
  const auto found = std::ranges::find_if(gates, [&](const Gate& gate) {
    for (int i = 0; i < 4; ++i) {
      if (gate.entry(i) != (entries[static_cast<std::size_t>(i)] != 0)) return false;
    }
    return true;
  });
  return static_cast<std::size_t>(found->index);
}

void check_walsh(const Tensor& values) {
  const DType dtype = common_floating_dtype("walsh", {values});
  const std::int64_t entries = values.rank() == 2 ? values.shape()[1] : 0;
  const bool is_table = entries >= 2 && entries <= (1 << max_gate_inputs) &&
                        std::has_single_bit(static_cast<std::uint64_t>(entries));
  if (dtype == DType::float16 || !is_table) {
    fail("walsh", "expected float32 or float64 [gates, 2^arity], received {} {}", to_string(dtype),
         boolgrad::to_string(values.shape()));
  }
}

/// The butterflies of a Walsh-Hadamard transform: calls combine(a, b) for every two values of a
/// gate whose indices differ in one bit, bit by bit.
template <class T, class Combine>
void butterflies(std::span<T> values, std::size_t entries, const Combine& combine) {
  for (std::size_t bit = 1; bit < entries; bit *= 2) {
    for (std::size_t i = 0; i < values.size(); ++i) {
      if ((i & bit) == 0) combine(values[i], values[i + bit]);
    }
  }
}

template <class Combine>
Tensor walsh_transformed(const Tensor& values, const Combine& combine) {
  Tensor result = values.detach().clone();
  const auto entries = static_cast<std::size_t>(values.shape()[1]);
  if (values.dtype() == DType::float32) {
    butterflies(result.mutable_values<float>(), entries, combine);
  } else {
    butterflies(result.mutable_values<double>(), entries, combine);
  }
  return result;
}

/// H w. Per input: z(0) = w - v and z(1) = w + v, where v is the coefficient of the sets that
/// contain the input.
Tensor walsh_sums(const Tensor& coefficients) {
  return walsh_transformed(coefficients, [](auto& a, auto& b) {
    const auto low = a;
    a = low - b;
    b = low + b;
  });
}

/// H^T z.
Tensor walsh_sums_transposed(const Tensor& values) {
  return walsh_transformed(values, [](auto& a, auto& b) {
    const auto low = a;
    a = low + b;
    b = b - low;
  });
}

}  // namespace

std::string_view to_string(Initialisation initialisation) {
  switch (initialisation) {
    case Initialisation::gaussian: return "gaussian";
    case Initialisation::pass_through: return "pass_through";
    case Initialisation::residual: return "residual";
  }
  return "unknown";
}

Initialisation initialisation_of(std::string_view where, std::string_view name) {
  for (const auto kind :
       {Initialisation::gaussian, Initialisation::pass_through, Initialisation::residual}) {
    if (name == to_string(kind)) return kind;
  }
  fail(where, "expected gaussian, pass_through or residual, received {}", name);
}

void check_arity(Parametrisation parametrisation, int arity) {
  if (parametrisation == Parametrisation::softmax16 && arity != 2) {
    fail("softmax16", "expected gates of 2 inputs, received {}", arity);
  }
}

// t = M softmax(z); dz = p (dp - sum p dp) with dp = M^T g
Tensor softmax16(const Tensor& logits) {
  check_softmax16_logits(logits);
  Tensor tables({logits.shape()[0], 4}, logits.dtype());
  Tensor shares({16, logits.shape()[0]}, logits.dtype());
  cpu::softmax16(logits, tables, shares);
  return record("softmax16", {logits}, tables, {shares}, [](const VjpContext& c) {
    Tensor gradient({c.gradient().shape()[0], 16}, c.gradient().dtype());
    cpu::softmax16_grad(c.gradient(), c.residual(0), gradient);
    return std::vector{gradient};
  });
}

// z = H w; dw = H^T g
Tensor walsh_logits(const Tensor& coefficients) {
  check_walsh(coefficients);
  return record(
      "walsh_logits", {coefficients}, walsh_sums(coefficients), {},
      [](const VjpContext& c) { return std::vector{walsh_sums_transposed(c.gradient())}; });
}

// H^T H is the identity times the number of entries.
Tensor walsh_coefficients(const Tensor& logits) {
  check_walsh(logits);
  return scale(walsh_sums_transposed(logits), 1 / static_cast<double>(logits.shape()[1]));
}

Tensor soft_tables(Parametrisation parametrisation, const Tensor& logits) {
  switch (parametrisation) {
    case Parametrisation::softmax16: return softmax16(logits);
    case Parametrisation::sigmoid: return sigmoid(logits);
    case Parametrisation::walsh: return sigmoid(walsh_logits(logits));
  }
  fail("parametrisation", "unknown parametrisation {}", static_cast<int>(parametrisation));
}

Tensor hard_tables(Parametrisation parametrisation, const Tensor& logits) {
  if (parametrisation == Parametrisation::softmax16) {
    check_softmax16_logits(logits);
    Tensor tables({logits.shape()[0], 4}, DType::uint8);
    const std::span<std::uint8_t> to = tables.mutable_values<std::uint8_t>();
    if (logits.dtype() == DType::float32) most_probable_gates(logits.values<float>(), to);
    else most_probable_gates(logits.values<double>(), to);
    return tables;
  }
  // A sigmoid exceeds one half where its argument exceeds 0. One half rounds to 0.
  const bool is_walsh = parametrisation == Parametrisation::walsh;
  if (is_walsh) check_walsh(logits);
  const Tensor of_entries = is_walsh ? walsh_sums(logits) : logits;
  Tensor tables(logits.shape(), DType::uint8);
  const std::span<std::uint8_t> to = tables.mutable_values<std::uint8_t>();
  visit_dtype(of_entries.dtype(), [&](auto zero) {
    using T = decltype(zero);
    const std::span<const T> from = of_entries.values<T>();
    for_blocks(to.size(), [&](std::size_t first, std::size_t last) {
      for (std::size_t i = first; i < last; ++i) to[i] = convert<double>(from[i]) > 0 ? 1 : 0;
    });
  });
  return tables;
}

Tensor initial_logits(Parametrisation parametrisation, std::int64_t gate_count, int arity,
                      DType dtype, const InitialOptions& options, std::uint64_t seed,
                      std::uint32_t layer) {
  const std::int64_t count = logit_count(parametrisation, arity);
  // Each entry of walsh is a sum of `count` coefficients.
  const double spread =
      parametrisation == Parametrisation::walsh ? 1 / std::sqrt(static_cast<double>(count)) : 1;
  Tensor logits({gate_count, count}, dtype);
  visit_dtype(dtype, [&](auto zero) {
    using T = decltype(zero);
    const std::span<T> values = logits.mutable_values<T>();
    const auto value_at = [&](std::size_t i) {
      const double passing = pass_through_logit(
          parametrisation, static_cast<std::int64_t>(i) % count, options.strength);
      if (options.kind == Initialisation::pass_through) return passing;
      const double normal =
          spread * random_normal({.seed = seed, .stream = initial_stream + layer, .index = i});
      return options.kind == Initialisation::gaussian ? options.strength * normal
                                                      : passing + normal;
    };
    for_blocks(values.size(), [&](std::size_t first, std::size_t last) {
      for (std::size_t i = first; i < last; ++i) values[i] = convert<T>(value_at(i));
    });
  });
  return logits;
}

Tensor table_logits(Parametrisation parametrisation, const Tensor& tables, DType dtype,
                    double strength) {
  if (tables.dtype() != DType::uint8 || tables.rank() != 2) {
    fail("table_logits", "expected tables uint8 [gates, entries], received {} {}",
         boolgrad::to_string(tables.dtype()), boolgrad::to_string(tables.shape()));
  }
  if (!(strength > 0 && strength <= max_table_strength)) {
    fail("table_logits", "expected a strength above 0 and at most {}, received {}",
         max_table_strength, strength);
  }
  const std::span<const std::uint8_t> entries = tables.values<std::uint8_t>();
  const bool is_softmax = parametrisation == Parametrisation::softmax16;
  const auto per_gate = static_cast<std::size_t>(tables.shape()[1]);
  if (is_softmax) check_arity(parametrisation, static_cast<int>(std::bit_width(per_gate)) - 1);
  const Shape shape = is_softmax ? Shape{tables.shape()[0], 16} : tables.shape();
  Tensor logits = Tensor::zeros(shape, dtype);
  visit_dtype(dtype, [&](auto zero) {
    using T = decltype(zero);
    const std::span<T> values = logits.mutable_values<T>();
    if (is_softmax) {
      const T logit = convert<T>(softmax16_strength(strength));
      for (std::size_t g = 0; g * 4 < entries.size(); ++g) {
        values[g * 16 + gate_of(entries.subspan(g * 4, 4))] = logit;
      }
      return;
    }
    for (std::size_t i = 0; i < entries.size(); ++i) {
      values[i] = convert<T>(entries[i] != 0 ? strength : -strength);
    }
  });
  return parametrisation == Parametrisation::walsh ? walsh_coefficients(logits) : logits;
}

}  // namespace boolgrad::logic
