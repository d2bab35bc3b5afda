#include "boolgrad/tensor/tensor.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include "boolgrad/core/fail.h"

namespace boolgrad {

Tensor::Tensor(Shape shape, DType dtype)
    : shape_(std::move(shape)), size_(element_count(shape_)), dtype_(dtype) {
  storage_ = Storage::allocate(bytes());
  start_ = static_cast<std::byte*>(storage_->data());
}

Tensor Tensor::full(Shape shape, double value, DType dtype) {
  Tensor result(std::move(shape), dtype);
  visit_dtype(dtype, [&](auto zero) {
    using T = decltype(zero);
    std::ranges::fill(result.mutable_values<T>(), convert<T>(value));
  });
  return result;
}

template <class T>
Tensor Tensor::copy_of(std::span<const T> values, Shape shape) {
  Tensor result(std::move(shape), dtype_of<T>());
  if (static_cast<std::size_t>(result.size()) != values.size()) {
    fail("tensor", "expected {} values for shape {}, received {}", result.size(),
         to_string(result.shape()), values.size());
  }
  std::ranges::copy(values, result.mutable_values<T>().begin());
  return result;
}

template Tensor Tensor::copy_of(std::span<const Float16>, Shape);
template Tensor Tensor::copy_of(std::span<const float>, Shape);
template Tensor Tensor::copy_of(std::span<const double>, Shape);
template Tensor Tensor::copy_of(std::span<const std::int32_t>, Shape);
template Tensor Tensor::copy_of(std::span<const std::int64_t>, Shape);
template Tensor Tensor::copy_of(std::span<const std::uint8_t>, Shape);

Tensor Tensor::wrap(void* data, Shape shape, DType dtype, std::shared_ptr<void> owner) {
  Tensor result;
  result.shape_ = std::move(shape);
  result.size_ = element_count(result.shape_);
  result.dtype_ = dtype;
  result.storage_ = Storage::wrap(data, result.bytes(), std::move(owner));
  result.start_ = static_cast<std::byte*>(data);
  return result;
}

void Tensor::check_dtype(DType wanted) const {
  if (!defined()) fail("tensor", "expected a tensor with values, received an undefined one");
  if (wanted != dtype_) {
    fail("tensor", "expected a tensor of {}, received {}", to_string(wanted), to_string(dtype_));
  }
}

double Tensor::item() const {
  if (size_ != 1) fail("item", "expected one element, received shape {}", to_string(shape_));
  return at(0);
}

double Tensor::at(std::int64_t index) const {
  if (index < 0 || index >= size_) {
    fail("at", "expected an index below {}, received {}", size_, index);
  }
  return visit_dtype(dtype_, [&](auto zero) {
    return convert<double>(values<decltype(zero)>()[static_cast<std::size_t>(index)]);
  });
}

Tensor Tensor::viewed_from(std::int64_t first, Shape shape) const {
  Tensor result = detach();
  result.size_ = element_count(shape);
  if (first < 0 || first + result.size_ > size_) {
    fail("view", "expected a range within {} elements, received {} elements from {}", size_,
         result.size_, first);
  }
  result.shape_ = std::move(shape);
  result.start_ += static_cast<std::size_t>(first) * size_of(dtype_);
  return result;
}

Tensor Tensor::viewed_as(Shape shape) const {
  if (element_count(shape) != size_) {
    fail("reshape", "expected a shape of {} elements, received {}", size_, to_string(shape));
  }
  return viewed_from(0, std::move(shape));
}

Tensor Tensor::detach() const {
  Tensor result = *this;
  result.set_tape(nullptr, 0);
  return result;
}

Tensor Tensor::clone() const {
  Tensor result(shape_, dtype_);
  if (bytes() > 0) std::memcpy(result.mutable_data(), data(), bytes());
  return result;
}

void Tensor::set_tape(std::shared_ptr<TapeNode> node, std::size_t output) {
  node_ = std::move(node);
  output_ = output;
}

}  // namespace boolgrad
