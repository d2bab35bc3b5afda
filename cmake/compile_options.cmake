# Flags of our own targets. They are linked as a build interface and never exported.
add_library(boolgrad_compile_options INTERFACE)

# What GCC and clang both know, where not said otherwise.
set(flags
  -Wall -Wextra -Wpedantic -Wconversion -Wcast-align -Wcast-qual -Wnon-virtual-dtor
  -Woverloaded-virtual -Wextra-semi -Wundef -Wformat=2
  # Clang's alone: a lambda that captures nothing may call its residuals as the op calls its inputs,
  # and GCC takes that for shadowing.
  $<$<CXX_COMPILER_ID:Clang,AppleClang>:-Wshadow>
  # False alarms of GCC: in Highway's templates, and in the string + of its own library (GCC bug 105651),
  # where precompiled headers add two more.
  $<$<CXX_COMPILER_ID:GNU>:-Wno-maybe-uninitialized;-Wno-restrict>
  $<$<AND:$<CXX_COMPILER_ID:GNU>,$<BOOL:${BOOLGRAD_PRECOMPILED_HEADERS}>>:-Wno-stringop-overflow;-Wno-array-bounds>
  $<$<BOOL:${BOOLGRAD_WERROR}>:-Werror>
  # a * b + c is two roundings unless the source asks for one: results must not depend on what an
  # optimiser chose to fuse. Kernels ask for a fused multiply-add by name.
  -ffp-contract=off)
target_compile_options(boolgrad_compile_options INTERFACE "$<$<COMPILE_LANGUAGE:CXX>:${flags}>")

# Every source that includes Highway must see the same list, so all of them do.
if(BOOLGRAD_DISABLED_SIMD)
  target_compile_definitions(boolgrad_compile_options INTERFACE
    "HWY_DISABLED_TARGETS=(${BOOLGRAD_DISABLED_SIMD})")
endif()
