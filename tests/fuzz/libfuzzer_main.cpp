// The fuzzer of one target: `boolgrad_fuzz` with the name of the target in BOOLGRAD_FUZZ_TARGET.
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>

#include "tests/fuzz/targets.h"

namespace {

const boolgrad::fuzz::Target& chosen_target() {
  const char* name = std::getenv("BOOLGRAD_FUZZ_TARGET");
  const auto* target = boolgrad::fuzz::find_target(name == nullptr ? "" : name);
  if (target != nullptr) return *target;
  std::fprintf(stderr, "BOOLGRAD_FUZZ_TARGET must be one of:\n");
  for (const auto& each : boolgrad::fuzz::targets()) {
    std::fprintf(stderr, "  %.*s\n", static_cast<int>(each.name.size()), each.name.data());
  }
  std::exit(2);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static const boolgrad::fuzz::Target& target = chosen_target();
  boolgrad::fuzz::accepts(target, {data, size});
  return 0;
}
