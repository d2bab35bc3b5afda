// Soft tables made gradually harder during training.
#pragma once

#include <string_view>
#include <vector>

#include "boolgrad/logic/parametrisation.h"
#include "boolgrad/options/hardening.h"
#include "boolgrad/tensor/tensor.h"

namespace boolgrad::logic {

/// The logits that a training step uses. The kinds `temperature` and `noise` change them; all other
/// kinds return them as they are. Noise for value l of layer i is sampled at index i 2^32 + l. The
/// parametrisations other than softmax16 take two samples per value, at i 2^32 + 2 l and the next.
std::vector<Tensor> hardened_logits(const HardeningStep& step, const std::vector<Tensor>& logits,
                                    Parametrisation parametrisation);

/// Blends soft tables [gates, 2^arity] with hard ones as the step demands. Gradients pass straight
/// through to the soft tables; frozen gates receive none. `hard` is uint8 and may be empty if the
/// step does not change tables. Gate g of layer i is sampled at index i 2^32 + g.
std::vector<Tensor> hardened_tables(const HardeningStep& step, const std::vector<Tensor>& soft,
                                    const std::vector<Tensor>& hard,
                                    const std::vector<Tensor>& frozen);

/// Whether `hardened_tables` changes anything.
bool hardens_tables(const HardeningStep& step);

/// The gates to freeze: for each layer a tensor [gates] that is 1 for the fraction `share` of the
/// gates whose soft tables are closest to their hard ones, and 0 elsewhere. Ties go to the first.
std::vector<Tensor> most_certain_gates(const std::vector<Tensor>& soft,
                                       const std::vector<Tensor>& hard, double share);

}  // namespace boolgrad::logic
