#include "boolgrad/ops/checks.h"

#include "boolgrad/core/fail.h"

namespace boolgrad {

DType common_dtype(std::string_view op, std::initializer_list<Tensor> tensors) {
  for (const Tensor& tensor : tensors) {
    if (!tensor.defined()) fail(op, "expected a tensor, received an undefined one");
  }
  const DType first = tensors.begin()->dtype();
  for (const Tensor& tensor : tensors) {
    if (tensor.dtype() != first) {
      fail(op, "expected one dtype, received {} and {}", to_string(first),
           to_string(tensor.dtype()));
    }
  }
  return first;
}

DType common_floating_dtype(std::string_view op, std::initializer_list<Tensor> tensors) {
  const DType dtype = common_dtype(op, tensors);
  if (!is_floating(dtype)) fail(op, "expected a floating dtype, received {}", to_string(dtype));
  return dtype;
}

}  // namespace boolgrad
