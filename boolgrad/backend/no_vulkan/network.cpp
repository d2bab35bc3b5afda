// Stands in for `backend/vulkan` where it was not built.
#include "boolgrad/backend/vulkan/network.h"

#include "boolgrad/backend/no_vulkan/refuse.h"

namespace boolgrad::vulkan {

struct Network::State {};

Network::Network(int /*number*/, std::span<const LutWires> /*layers*/,
                 const NetworkPlan& /*plan*/) {
  refuse();
}
Network::~Network() = default;
void Network::set_cases(const Tensor& /*inputs*/, const Tensor& /*targets*/) { refuse(); }
void Network::set_samples(const BitSamples& /*samples*/, const Tensor& /*targets*/) { refuse(); }
void Network::set_parameters(std::span<const Tensor> /*logits*/, std::span<const Tensor> /*masks*/,
                             const Tensor& /*input_mask*/) {
  refuse();
}
std::vector<Tensor> Network::logits() const { refuse(); }
void Network::set_moments(std::span<const Tensor> /*first*/, std::span<const Tensor> /*second*/) {
  refuse();
}
std::vector<Tensor> Network::first_moments() const { refuse(); }
std::vector<Tensor> Network::second_moments() const { refuse(); }
void Network::set_hard_share(double /*share*/) { refuse(); }
NetworkStep Network::step(std::span<const std::int64_t> /*picked*/, std::int64_t /*step*/,
                          double /*learning_rate*/, std::span<const PictureMove> /*moves*/) {
  refuse();
}
double Network::gradients(std::span<const std::int64_t> /*picked*/,
                          std::span<const PictureMove> /*moves*/) {
  refuse();
}
std::vector<Tensor> Network::logit_gradients() const { refuse(); }
std::vector<Tensor> Network::outputs() const { refuse(); }
NetworkScore Network::evaluate() { refuse(); }
Tensor Network::hard_outputs() { refuse(); }
double Network::milliseconds(int /*count*/) { refuse(); }

}  // namespace boolgrad::vulkan
