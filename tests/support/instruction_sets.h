// Kernels of every instruction set that this machine has.
#pragma once

#include <hwy/highway.h>
#include <hwy/targets.h>

#include <cstdint>

namespace boolgrad::testing_support {

/// Calls `check(name)` with each instruction set in turn, as if the machine had no other.
template <class Check>
void with_every_instruction_set(const Check& check) {
  for (const std::int64_t target : hwy::SupportedAndGeneratedTargets()) {
    hwy::SetSupportedTargetsForTest(target);
    check(hwy::TargetName(target));
  }
  hwy::SetSupportedTargetsForTest(0);
}

}  // namespace boolgrad::testing_support
