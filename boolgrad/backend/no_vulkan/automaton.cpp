// Stands in for `backend/vulkan` where it was not built.
#include "boolgrad/backend/vulkan/automaton.h"

#include "boolgrad/backend/no_vulkan/refuse.h"

namespace boolgrad::vulkan {

struct Automaton::State {};

bool has_room_for_activations(int /*number*/, AutomatonShape /*shape*/) { refuse(); }

Automaton::Automaton(int /*number*/, const AutomatonShape& /*shape*/,
                     const OptimiserOptions& /*options*/) {
  refuse();
}
Automaton::~Automaton() = default;
void Automaton::set_parameters(std::span<const Tensor> /*logits*/,
                               std::span<const Tensor> /*masks*/) {
  refuse();
}
void Automaton::get_parameters(std::span<Tensor> /*logits*/) const { refuse(); }
void Automaton::set_moments(std::span<const Tensor> /*first*/, std::span<const Tensor> /*second*/) {
  refuse();
}
void Automaton::get_moments(std::span<Tensor> /*first*/, std::span<Tensor> /*second*/) const {
  refuse();
}
void Automaton::set_inputs(const AutomatonInputs& /*inputs*/) { refuse(); }
double Automaton::gradients(const AutomatonDraws& /*draws*/) { refuse(); }
std::vector<Tensor> Automaton::logit_gradients() const { refuse(); }
Tensor Automaton::states() const { refuse(); }
AutomatonOutcome Automaton::step(const AutomatonDraws& /*draws*/, std::int64_t /*step*/,
                                 double /*learning_rate*/, bool /*with_hard*/) {
  refuse();
}
double Automaton::soft_rollout(std::int64_t /*samples*/, const AutomatonInputs& /*inputs*/,
                               const AutomatonDraws& /*draws*/, Tensor& /*last*/) {
  refuse();
}
HardOutcome Automaton::hard_rollout(std::int64_t /*samples*/, const AutomatonInputs& /*inputs*/,
                                    const AutomatonDraws& /*draws*/) {
  refuse();
}
Tensor Automaton::hard_state() const { refuse(); }

std::size_t training_bytes(int /*number*/, const AutomatonShape& /*shape*/) { refuse(); }

}  // namespace boolgrad::vulkan
