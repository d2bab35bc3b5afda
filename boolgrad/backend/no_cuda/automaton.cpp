// Stands in for `backend/cuda` where it was not built.
#include "boolgrad/backend/cuda/automaton.h"
#include "boolgrad/core/error.h"

namespace boolgrad::cuda {

struct Automaton::State {};

namespace {

[[noreturn]] void refuse() {
  fail("cuda", "expected a CUDA device, received none: {}", unavailable());
}

}  // namespace

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

std::string unavailable() {
  return "boolgrad was built without CUDA, because no CUDA compiler was found";
}

std::string device_description() { refuse(); }

}  // namespace boolgrad::cuda
