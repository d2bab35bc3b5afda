// Stands in for `backend/cuda` where it was not built.
#include "boolgrad/backend/cuda/automaton.h"
#include "boolgrad/backend/no_cuda/refuse.h"

namespace boolgrad::cuda {

struct Automaton::State {};

Automaton::Automaton(const AutomatonShape& /*shape*/, std::span<const Tensor> /*logits*/) {
  refuse();
}
Automaton::~Automaton() = default;
double Automaton::gradients(const Tensor& /*initial*/, const Tensor& /*target*/,
                            const Tensor& /*fire*/) {
  refuse();
}
std::vector<Tensor> Automaton::logit_gradients() const { refuse(); }
Tensor Automaton::states() const { refuse(); }
double Automaton::milliseconds(int /*count*/) { refuse(); }

}  // namespace boolgrad::cuda
