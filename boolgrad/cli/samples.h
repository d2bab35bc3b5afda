// Common parts of the commands that read samples without labels.
#pragma once

#include <string>
#include <string_view>

#include "boolgrad/model/unlabelled_samples.h"

namespace boolgrad::cli {

/// Prints the first samples that were left out, each with its reason, on standard error.
void print_refused(const UnlabelledSamples& samples);

/// Throws if no sample of `path` can be used.
void check_some_left(std::string_view where, const std::string& path,
                     const UnlabelledSamples& samples);

}  // namespace boolgrad::cli
