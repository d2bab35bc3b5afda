#include "boolgrad/backend/plan/flat_tensors.h"

#include <algorithm>

namespace boolgrad {

std::vector<float> flat(std::span<const Tensor> tensors) {
  std::vector<float> all;
  for (const Tensor& tensor : tensors) {
    const auto values = tensor.values<float>();
    all.insert(all.end(), values.begin(), values.end());
  }
  return all;
}

std::vector<Tensor> tensors_of(std::span<const Shape> shapes, std::span<const float> values) {
  std::vector<Tensor> tensors;
  for (const Shape& shape : shapes) {
    Tensor tensor(shape, DType::float32);
    const auto to = tensor.mutable_values<float>();
    std::ranges::copy(values.first(to.size()), to.begin());
    values = values.subspan(to.size());
    tensors.push_back(std::move(tensor));
  }
  return tensors;
}

}  // namespace boolgrad
