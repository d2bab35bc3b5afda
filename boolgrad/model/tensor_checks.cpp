#include "boolgrad/model/tensor_checks.h"

#include <optional>

#include "boolgrad/core/fail.h"
#include "boolgrad/core/text.h"

namespace boolgrad {

void check_tensors(const TensorFile& file, std::string_view where, const std::string& source) {
  if (const std::optional<std::string> name = first_not_finite(file)) {
    fail(where, "{}: tensor '{}' has values that are not finite", source, printable(*name));
  }
  for (const auto& [name, tensor] : file.tensors) {
    if (!name.ends_with("mask")) continue;
    for (std::int64_t i = 0; i < tensor.size(); ++i) {
      if (tensor.at(i) != 0 && tensor.at(i) != 1) {
        fail(where, "{}: expected a mask of zeros and ones in tensor '{}', received {:g}", source,
             printable(name), tensor.at(i));
      }
    }
  }
}

}  // namespace boolgrad
