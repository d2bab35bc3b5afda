// Tests with every available instruction set.
#pragma once

#include <hwy/highway.h>
#include <hwy/targets.h>

#include <cstdint>

namespace boolgrad::testing_support {

/// Calls `check(name)` with kernels restricted to each instruction set in turn.
template <class Check>
void with_every_instruction_set(const Check& check) {
  for (const std::int64_t target : hwy::SupportedAndGeneratedTargets()) {
    hwy::SetSupportedTargetsForTest(target);
    check(hwy::TargetName(target));
  }
  hwy::SetSupportedTargetsForTest(0);
}

}  // namespace boolgrad::testing_support
