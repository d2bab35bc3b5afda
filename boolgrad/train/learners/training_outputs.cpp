#include "boolgrad/train/learners/training_outputs.h"

#include <cmath>
#include <vector>

#include "boolgrad/autograd/tape.h"
#include "boolgrad/ops/arithmetic.h"

namespace boolgrad {
namespace {

/// The tables of a step, as hard as they are to be now.
std::vector<Tensor> hardened_tables(const LogicNetwork& network, const Hardening& hardening,
                                    std::uint64_t seed, std::uint32_t step) {
  std::vector<Tensor> tables =
      network.tables(hardening.logits(network.parameters(), network.parametrisation(), seed, step));
  if (hardening.share() == 0 || hardening.changes_logits()) return tables;
  std::vector<Tensor> hard;
  for (std::size_t i = 0; i < tables.size(); ++i) hard.push_back(network.hard_tables_of(i));
  return hardening.applied(tables, hard, seed, step);
}

}  // namespace

Tensor with_scaled_gradient(const Tensor& x, double factor) {
  if (factor == 1) return x;
  return record("with_scaled_gradient", {x}, x.detach(), {},
                [factor](const VjpContext& c) { return std::vector{scale(c.gradient(), factor)}; });
}

// A layer multiplies what passes back through it by f. Gradients are linear in those of the
// outputs, so a layer's own may be multiplied by what the layers above would have.
Tensor training_outputs(const LogicNetwork& network, const Tensor& x, const Hardening& hardening,
                        const Experiment& experiment, std::int64_t step) {
  std::vector<Tensor> tables =
      hardened_tables(network, hardening, static_cast<std::uint64_t>(experiment.seed),
                      static_cast<std::uint32_t>(step));
  double factor = 1;
  for (std::size_t i = tables.size(); i-- > 0;) {
    tables[i] = with_scaled_gradient(tables[i], factor);
    factor *= experiment.network.gradient_factor;
  }
  return network.soft(with_scaled_gradient(x, factor), tables);
}

}  // namespace boolgrad
