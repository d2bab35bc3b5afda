#include "boolgrad/tensor/dtype.h"

#include "boolgrad/core/fail.h"

namespace boolgrad {

std::string_view to_string(DType dtype) {
  switch (dtype) {
    case DType::float16: return "float16";
    case DType::float32: return "float32";
    case DType::float64: return "float64";
    case DType::int32: return "int32";
    case DType::int64: return "int64";
    case DType::uint8: return "uint8";
  }
  return "unknown";
}

std::size_t size_of(DType dtype) {
  return visit_dtype(dtype, [](auto zero) { return sizeof(zero); });
}

bool is_floating(DType dtype) {
  return dtype == DType::float16 || dtype == DType::float32 || dtype == DType::float64;
}

void fail_unknown(DType dtype) { fail("dtype", "unknown dtype {}", static_cast<int>(dtype)); }

}  // namespace boolgrad
