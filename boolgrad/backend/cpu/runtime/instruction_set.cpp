#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "boolgrad/backend/cpu/runtime/instruction_set.cpp"
#include <hwy/foreach_target.h>
// Highway's own header needs the macros of the line above.
#include <hwy/highway.h>

#include "boolgrad/backend/cpu/tensor/row_kernels.h"

HWY_BEFORE_NAMESPACE();
namespace boolgrad::cpu::HWY_NAMESPACE {

const char* InstructionSet() { return hwy::TargetName(HWY_TARGET); }

}  // namespace boolgrad::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace boolgrad::cpu {

HWY_EXPORT(InstructionSet);

const char* instruction_set() { return HWY_DYNAMIC_DISPATCH(InstructionSet)(); }

}  // namespace boolgrad::cpu
#endif
