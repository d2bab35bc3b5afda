// Tables on their way from soft to hard, as one training step reads them.
#pragma once

#include <string_view>
#include <vector>

#include "boolgrad/backend/options/hardening.h"
#include "boolgrad/logic/parametrisation.h"
#include "boolgrad/tensor/tensor.h"

namespace boolgrad {

std::string_view to_string(HardeningKind kind);

/// The logits whose tables a step reads: those of `temperature` and `noise` differ from the model's
/// own. Noise of value l of layer i is drawn at index i 2^32 + l; two draws per value, at 2 l and
/// 2 l + 1, where the parametrisation is not softmax16.
std::vector<Tensor> hardened_logits(const HardeningStep& step, const std::vector<Tensor>& logits,
                                    Parametrisation parametrisation);

/// Soft tables [gates, 2^arity] made as hard as the step says; gradients pass as if they were soft,
/// except those of frozen gates, which get none. `hard` is uint8 and may be empty where the step
/// leaves tables as they are. Gate g of layer i is drawn at index i 2^32 + g.
std::vector<Tensor> hardened_tables(const HardeningStep& step, const std::vector<Tensor>& soft,
                                    const std::vector<Tensor>& hard,
                                    const std::vector<Tensor>& frozen);

/// Whether `hardened_tables` changes anything.
bool hardens_tables(const HardeningStep& step);

/// Of `freeze`: for each layer a tensor [gates] that is 1 for the `share` of the gates whose soft
/// tables are nearest to their hard ones (of equally near ones the first), 0 for the others.
std::vector<Tensor> most_certain_gates(const std::vector<Tensor>& soft,
                                       const std::vector<Tensor>& hard, double share);

}  // namespace boolgrad
