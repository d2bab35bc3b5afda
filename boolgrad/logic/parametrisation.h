// Parametrisations: how trainable logits become tables, once per training step.
//
// Table order: entry i of a table is the output where input j of the gate is bit j of i. For two
// inputs the entries are f(0,0), f(1,0), f(0,1), f(1,1). The sixteen logits of softmax16 are
// ordered by gate index, which is another number: 8 f(0,0) + 4 f(0,1) + 2 f(1,0) + f(1,1).
#pragma once

#include <cstdint>
#include <string_view>

#include "boolgrad/logic/wiring.h"
#include "boolgrad/options/parametrisation.h"
#include "boolgrad/tensor/tensor.h"

namespace boolgrad::logic {

/// Throws if a parametrisation does not support the arity: softmax16 requires two inputs.
void check_arity(Parametrisation parametrisation, int arity);

/// Tables [gates, 4] of logits [gates, 16]: the mean of the sixteen gates' tables, weighted by a
/// softmax. Logit k belongs to the gate with index k.
Tensor softmax16(const Tensor& logits);

/// The logits [gates, 2^arity] of table entries from Walsh coefficients [gates, 2^arity].
///
/// Coefficient k belongs to the set S of the inputs j whose bit in k is 1. With s_j = 1 where input
/// j is 1 and -1 where it is 0, the logit of an entry is the sum over S of w_S times the product of
/// s_j over j in S. Each coefficient thus acts on all entries: that of {j} makes the gate depend on
/// input j alone, that of all inputs on their parity.
Tensor walsh_logits(const Tensor& coefficients);

/// The Walsh coefficients of entry logits: the inverse of `walsh_logits`. Not differentiable.
Tensor walsh_coefficients(const Tensor& logits);

/// The soft tables [gates, 2^arity] of logits.
Tensor soft_tables(Parametrisation parametrisation, const Tensor& logits);

/// The hard tables of logits: uint8 [gates, 2^arity]. For softmax16 the table of the most probable
/// gate (the first one on a tie), for the others the rounded soft table (0.5 becomes 0).
Tensor hard_tables(Parametrisation parametrisation, const Tensor& logits);

/// Initialisations of logits. A gate that passes its first input through lets gradients reach every
/// layer of a deep network:
///
/// - softmax16: `strength` (10 in the literature) for gate A, 0 elsewhere;
/// - sigmoid: +`strength` (3 in the literature) for entries where the first input is 1, else
///   -`strength`;
/// - walsh: `strength` for the coefficient of the first input alone, which gives the same table.
///
/// Normal samples for walsh are scaled so that entries have the same variance as for sigmoid.
enum class Initialisation : std::uint8_t {
  gaussian,      ///< normal with standard deviation `strength`, sampled at (seed, layer)
  pass_through,  ///< as above
  residual,      ///< pass_through plus standard normal noise
};

/// The name used in experiments.
std::string_view to_string(Initialisation initialisation);
/// The initialisation with this name. Errors open with `[where]`.
Initialisation initialisation_of(std::string_view where, std::string_view name);

/// Options of `initial_logits`.
struct InitialOptions {
  Initialisation kind = Initialisation::gaussian;
  double strength = 1;
};

/// Initial logits [gates, logit_count], float32 or float64.
Tensor initial_logits(Parametrisation parametrisation, std::int64_t gate_count, int arity,
                      DType dtype, const InitialOptions& options, std::uint64_t seed,
                      std::uint32_t layer);

/// The largest `strength` of `table_logits`.
inline constexpr double max_table_strength = 30;

/// Logits of given tables, uint8 [gates, 2^arity] of 0 and 1: the entries of their soft tables are
/// sigmoid(strength) and sigmoid(-strength). `strength` is above 0 and at most
/// `max_table_strength`.
Tensor table_logits(Parametrisation parametrisation, const Tensor& tables, DType dtype,
                    double strength);

}  // namespace boolgrad::logic
