#include "boolgrad/cli/samples.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <cstdio>

#include "boolgrad/cli/command.h"
#include "boolgrad/core/fail.h"
#include "boolgrad/core/text.h"

namespace boolgrad::cli {

void print_refused(const UnlabelledSamples& samples) {
  constexpr std::size_t shown = 10;
  for (std::size_t i = 0; i < std::min(shown, samples.refused.size()); ++i) {
    const RefusedSample& one = samples.refused[i];
    print_message(
        fmt::format("note: {} {} cannot be used: {}", samples.what, one.name, one.reason));
  }
  if (samples.refused.size() > shown) {
    fmt::print(stderr, "note: {} more cannot be used\n", samples.refused.size() - shown);
  }
}

void check_some_left(std::string_view where, const std::string& path,
                     const UnlabelledSamples& samples) {
  if (!samples.names.empty()) return;
  fail(where, "{}: no sample can be used; the first reason: {}", path,
       samples.refused.empty() ? "the file has none" : samples.refused.front().reason);
}

}  // namespace boolgrad::cli
