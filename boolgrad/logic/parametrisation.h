// From trainable numbers to tables, once a step.
#pragma once

#include <cstdint>
#include <string_view>

#include "boolgrad/logic/wiring.h"
#include "boolgrad/tensor/tensor.h"

namespace boolgrad {

/// A table has an entry for every assignment of a gate's inputs: bit j of an entry's place is the
/// value of input j.
enum class Parametrisation : std::uint8_t {
  softmax16,  ///< 16 logits a gate of two inputs, one for each of the sixteen gates
  sigmoid,    ///< a logit an entry
};

std::string_view to_string(Parametrisation parametrisation);

/// The parametrisation called `name`, which messages say `where` it was asked for.
Parametrisation parametrisation_of(std::string_view where, std::string_view name);

/// Logits a gate: 16, or 2^arity.
std::int64_t logit_count(Parametrisation parametrisation, int arity);

/// The tables [gates, 4] of logits [gates, 16]: the sixteen gates' tables, weighted by a softmax.
Tensor softmax16(const Tensor& logits);

/// The tables [gates, 2^arity] of logits, whichever parametrisation they belong to.
Tensor soft_tables(Parametrisation parametrisation, const Tensor& logits);

/// What hardening makes of logits: the table of the likeliest gate (the first on a tie) for
/// softmax16, the rounded table (half to even, so 0.5 becomes 0) for sigmoid. uint8.
Tensor hard_tables(Parametrisation parametrisation, const Tensor& logits);

/// Ways to start. A gate that passes its first input through lets gradients reach every layer.
/// For softmax16 that is a logit of `strength` (10 in the literature) at gate A and 0 elsewhere;
/// for sigmoid, +strength (3 in the literature) in the entries where the first input is 1,
/// -strength in the others.
enum class Initialisation : std::uint8_t {
  gaussian,      ///< normal with standard deviation `strength`, drawn at (seed, layer)
  pass_through,  ///< as above
  residual,      ///< pass_through plus a standard normal
};

std::string_view to_string(Initialisation initialisation);
Initialisation initialisation_of(std::string_view where, std::string_view name);

struct InitialOptions {
  Initialisation kind = Initialisation::gaussian;
  double strength = 1;
};

/// Logits [gates, logit_count] to start from, float32 or float64.
Tensor initial_logits(Parametrisation parametrisation, std::int64_t gate_count, int arity,
                      DType dtype, const InitialOptions& options, std::uint64_t seed,
                      std::uint32_t layer);

}  // namespace boolgrad
