#include "boolgrad/logic/parametrisation.h"

#include <algorithm>
#include <cmath>
#include <vector>

#include "boolgrad/autograd/tape.h"
#include "boolgrad/backend/cpu/softmax16.h"
#include "boolgrad/core/error.h"
#include "boolgrad/core/random.h"
#include "boolgrad/logic/gates.h"
#include "boolgrad/ops/activation.h"
#include "boolgrad/ops/checks.h"

namespace boolgrad {
namespace {

constexpr std::uint32_t initial_stream = 0x30000;

void check_softmax16_logits(const Tensor& logits) {
  const DType dtype = common_floating_dtype("softmax16", {logits});
  if (dtype == DType::float16) {
    fail("softmax16", "expected float32 or float64, received {}", to_string(dtype));
  }
  if (logits.rank() != 2 || logits.shape()[1] != 16) {
    fail("softmax16", "expected logits of shape [gates, 16], received {}",
         to_string(logits.shape()));
  }
}

template <class T>
void likeliest_gates(std::span<const T> logits, std::span<std::uint8_t> tables) {
  for (std::size_t gate = 0; gate < tables.size() / 4; ++gate) {
    const auto own = logits.subspan(gate * 16, 16);
    const auto best = std::ranges::max_element(own) - own.begin();
    for (int entry = 0; entry < 4; ++entry) {
      tables[gate * 4 + static_cast<std::size_t>(entry)] =
          gates[static_cast<std::size_t>(best)].entry(entry) ? 1 : 0;
    }
  }
}

double pass_through_logit(Parametrisation parametrisation, std::int64_t place, double strength) {
  if (parametrisation == Parametrisation::softmax16) return place == pass_a ? strength : 0;
  return (place & 1) != 0 ? strength : -strength;
}

}  // namespace

std::string_view to_string(Parametrisation parametrisation) {
  return parametrisation == Parametrisation::softmax16 ? "softmax16" : "sigmoid";
}

Parametrisation parametrisation_of(std::string_view where, std::string_view name) {
  if (name == "softmax16") return Parametrisation::softmax16;
  if (name == "sigmoid") return Parametrisation::sigmoid;
  fail(where, "expected softmax16 or sigmoid, received {}", name);
}

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

std::int64_t logit_count(Parametrisation parametrisation, int arity) {
  if (parametrisation == Parametrisation::sigmoid) return std::int64_t{1} << arity;
  if (arity != 2) fail("softmax16", "expected gates of 2 inputs, received {}", arity);
  return 16;
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

Tensor soft_tables(Parametrisation parametrisation, const Tensor& logits) {
  return parametrisation == Parametrisation::softmax16 ? softmax16(logits) : sigmoid(logits);
}

Tensor hard_tables(Parametrisation parametrisation, const Tensor& logits) {
  if (parametrisation == Parametrisation::softmax16) {
    check_softmax16_logits(logits);
    Tensor tables({logits.shape()[0], 4}, DType::uint8);
    const std::span<std::uint8_t> to = tables.mutable_values<std::uint8_t>();
    if (logits.dtype() == DType::float32) likeliest_gates(logits.values<float>(), to);
    else likeliest_gates(logits.values<double>(), to);
    return tables;
  }
  // A sigmoid is above one half where its argument is above 0; one half itself rounds to 0.
  Tensor tables(logits.shape(), DType::uint8);
  const std::span<std::uint8_t> to = tables.mutable_values<std::uint8_t>();
  for (std::size_t i = 0; i < to.size(); ++i) {
    to[i] = logits.at(static_cast<std::int64_t>(i)) > 0 ? 1 : 0;
  }
  return tables;
}

Tensor initial_logits(Parametrisation parametrisation, std::int64_t gate_count, int arity,
                      DType dtype, const InitialOptions& options, std::uint64_t seed,
                      std::uint32_t layer) {
  const std::int64_t count = logit_count(parametrisation, arity);
  Tensor logits({gate_count, count}, dtype);
  visit_dtype(dtype, [&](auto zero) {
    using T = decltype(zero);
    const std::span<T> values = logits.mutable_values<T>();
    for (std::size_t i = 0; i < values.size(); ++i) {
      const double normal =
          random_normal({.seed = seed, .stream = initial_stream + layer, .index = i});
      const double passing = pass_through_logit(
          parametrisation, static_cast<std::int64_t>(i) % count, options.strength);
      double value = 0;
      if (options.kind == Initialisation::gaussian) value = options.strength * normal;
      if (options.kind == Initialisation::pass_through) value = passing;
      if (options.kind == Initialisation::residual) value = passing + normal;
      values[i] = convert<T>(value);
    }
  });
  return logits;
}

}  // namespace boolgrad
