// Selection of learned wires: the value of every slot from its candidates, and the way back.
//
// `x` is [inputs, samples], slots are [slots, samples], weights are [slots, candidates]. float32 or
// float64. Every result is computed by one task in a fixed order.
#pragma once

#include <cstdint>
#include <span>

#include "boolgrad/backend/plan/lut_wires.h"
#include "boolgrad/tensor/tensor.h"

namespace boolgrad::cpu {

/// slots = the weighted sums of the candidates.
void mix_candidates(const CandidateWires& wires, const Tensor& weights, const Tensor& x,
                    Tensor& slots);
/// gw = for every candidate, the sum over samples of g times its value.
void candidate_gradients(const CandidateWires& wires, const Tensor& x, const Tensor& g, Tensor& gw);
/// gx = the transpose of `mix_candidates`.
void mixed_input_gradients(const CandidateWires& wires, const Tensor& weights, const Tensor& g,
                           Tensor& gx);

/// slots = rows of x: slot s is row sources[s].
void gather_rows(std::span<const std::int32_t> sources, const Tensor& x, Tensor& slots);
/// gx = the sums of the rows of g by source.
void add_rows(std::span<const std::int32_t> sources, const Tensor& g, Tensor& gx);

}  // namespace boolgrad::cpu
