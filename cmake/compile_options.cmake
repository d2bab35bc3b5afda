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

# Hardening of release builds: bounds of the C library's functions on memory and files are checked,
# and so is the stack; the dynamic linker's tables are read-only, and addresses are random. CMake
# links a program as position-independent only after this check.
option(BOOLGRAD_HARDENING "Harden release builds against memory errors" ON)
if(BOOLGRAD_HARDENING AND CMAKE_CXX_COMPILER_ID MATCHES "^(GNU|Clang)$")
  include(CheckPIESupported)
  check_pie_supported()
  # Level 3 knows sizes at run time too. Distributions may define a level of their own.
  if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU" AND CMAKE_CXX_COMPILER_VERSION VERSION_LESS 12)
    set(fortify_level 2)
  else()
    set(fortify_level 3)
  endif()
  set(hardening -fstack-protector-strong -U_FORTIFY_SOURCE -D_FORTIFY_SOURCE=${fortify_level})
  # Indirect branches only reach marked targets, on processors that check it.
  include(CheckCXXCompilerFlag)
  if(CMAKE_SYSTEM_PROCESSOR MATCHES "^(x86_64|AMD64|i[3-6]86)$")
    check_cxx_compiler_flag(-fcf-protection BOOLGRAD_HAS_CF_PROTECTION)
    if(BOOLGRAD_HAS_CF_PROTECTION)
      list(APPEND hardening -fcf-protection)
    endif()
  endif()
  target_compile_options(boolgrad_compile_options INTERFACE
    "$<$<AND:$<CONFIG:Release>,$<COMPILE_LANGUAGE:CXX>>:${hardening}>")
  if(NOT APPLE)
    target_link_options(boolgrad_compile_options INTERFACE
      "$<$<CONFIG:Release>:LINKER:-z,relro,-z,now,-z,noexecstack>")
  endif()
endif()
