// From trainable numbers to tables, once a step.
#pragma once

#include <cstdint>
#include <string_view>

#include "boolgrad/backend/options/parametrisation.h"
#include "boolgrad/logic/wiring.h"
#include "boolgrad/tensor/tensor.h"

namespace boolgrad {

std::string_view to_string(Parametrisation parametrisation);

/// The parametrisation called `name`, which messages say `where` it was asked for.
Parametrisation parametrisation_of(std::string_view where, std::string_view name);

/// Refuses gates that a parametrisation has no tables for: softmax16 is for two inputs.
void check_arity(Parametrisation parametrisation, int arity);

/// The tables [gates, 4] of logits [gates, 16]: the sixteen gates' tables, weighted by a softmax.
Tensor softmax16(const Tensor& logits);

/// The logits [gates, 2^arity] of entries whose Walsh coefficients are given, one for every set S
/// of inputs: bit j of a coefficient's place says whether input j is in S. With s_j = 1 where input
/// j is 1 and -1 where it is 0, the logit of an entry is the sum over S of w_S times the product
/// over S of s_j. So a coefficient acts on all entries: that of {j} makes the gate depend on input
/// j alone, that of all inputs on their parity.
Tensor walsh_logits(const Tensor& coefficients);

/// The coefficients that give these logits. Not on the tape.
Tensor walsh_coefficients(const Tensor& logits);

/// The tables [gates, 2^arity] of logits, whichever parametrisation they belong to.
Tensor soft_tables(Parametrisation parametrisation, const Tensor& logits);

/// What hardening makes of logits: the table of the likeliest gate (the first on a tie) for
/// softmax16, the rounded table (half to even, so 0.5 becomes 0) for the others. uint8.
Tensor hard_tables(Parametrisation parametrisation, const Tensor& logits);

/// Ways to start. A gate that passes its first input through lets gradients reach every layer.
/// For softmax16 that is a logit of `strength` (10 in the literature) at gate A and 0 elsewhere;
/// for sigmoid, +strength (3 in the literature) in the entries where the first input is 1,
/// -strength in the others; for walsh a coefficient of `strength` at the set of the first input
/// alone, which is the same table. Normal numbers are drawn for walsh such that entries are as far
/// spread as for sigmoid.
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
