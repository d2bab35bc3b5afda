#include "boolgrad/backend/vulkan/optimiser/hardening_arguments.h"

#include <cmath>

namespace boolgrad::vulkan {
namespace {

std::uint32_t low(std::uint64_t value) { return static_cast<std::uint32_t>(value); }
std::uint32_t high(std::uint64_t value) { return static_cast<std::uint32_t>(value >> 32); }

bool has_one_share(HardeningKind kind) {
  return kind == HardeningKind::blend || kind == HardeningKind::straight_through;
}

}  // namespace

HardeningArguments hardening_arguments(const HardeningStep& step) {
  const auto gate_below = static_cast<std::uint64_t>(std::ceil(step.share * 0x1.0p53));
  return {.share = has_one_share(step.kind) ? static_cast<float>(step.share) : 0,
          .logit_scale = static_cast<float>(step.logit_scale),
          .noise = static_cast<float>(step.noise),
          .seed_low = low(step.seed),
          .seed_high = high(step.seed),
          .stream = step.stream,
          .step = step.step,
          .gate_below_high = high(gate_below),
          .gate_below_low = low(gate_below)};
}

HardeningKind hardening_for_shaders(const HardeningStep& step) {
  const bool is_soft = step.share == 0 || step.kind == HardeningKind::states;
  return is_soft || has_one_share(step.kind) ? HardeningKind::none : step.kind;
}

}  // namespace boolgrad::vulkan
