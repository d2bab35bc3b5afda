// N-dimensional arrays.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "boolgrad/tensor/dtype.h"
#include "boolgrad/tensor/shape.h"
#include "boolgrad/tensor/storage.h"

namespace boolgrad {

struct TapeNode;

/// An n-dimensional array with contiguous elements in row-major order.
///
/// A tensor is a handle: copies share the elements. Ops never change their inputs. `mutable_values`
/// is for filling a new tensor and for optimisers, which own the parameters that they update.
class Tensor {
 public:
  /// An undefined tensor: no shape, no values, `defined()` is false.
  Tensor() = default;

  /// A tensor with uninitialised elements.
  Tensor(Shape shape, DType dtype);

  /// A tensor whose elements all equal `value`.
  static Tensor full(Shape shape, double value, DType dtype);
  /// A tensor of zeros.
  static Tensor zeros(Shape shape, DType dtype) { return full(std::move(shape), 0, dtype); }
  /// A tensor of ones.
  static Tensor ones(Shape shape, DType dtype) { return full(std::move(shape), 1, dtype); }
  /// A tensor of rank 0.
  static Tensor scalar(double value, DType dtype) { return full({}, value, dtype); }

  /// A copy of `values` under `shape`. Throws if the number of elements differs.
  template <class T>
  static Tensor of(const std::vector<T>& values, Shape shape) {
    return copy_of(std::span<const T>(values), std::move(shape));
  }
  /// A copy of `values` as a vector.
  template <class T>
  static Tensor of(const std::vector<T>& values) {
    return of(values, {static_cast<std::int64_t>(values.size())});
  }

  /// A tensor over memory that belongs to `owner`, such as an array of Python, without a copy. The
  /// elements are contiguous, in row-major order and aligned as their type demands. They must not
  /// change while the tensor is in use.
  static Tensor wrap(void* data, Shape shape, DType dtype, std::shared_ptr<void> owner);

  /// Whether the tensor has values.
  bool defined() const { return storage_ != nullptr; }
  /// The sizes of the dimensions.
  const Shape& shape() const { return shape_; }
  /// The element type.
  DType dtype() const { return dtype_; }
  /// The number of dimensions.
  std::size_t rank() const { return shape_.size(); }
  /// The number of elements.
  std::int64_t size() const { return size_; }
  /// The size of all elements in bytes.
  std::size_t bytes() const { return static_cast<std::size_t>(size_) * size_of(dtype_); }

  /// The address of the first element.
  const void* data() const { return start_; }
  /// The address of the first element, for writing.
  void* mutable_data() { return start_; }

  /// The elements in row-major order. Throws if T is not the element type.
  template <class T>
  std::span<const T> values() const {
    check_dtype(dtype_of<T>());
    return {static_cast<const T*>(data()), static_cast<std::size_t>(size_)};
  }
  /// The elements in row-major order, for writing. Throws if T is not the element type.
  template <class T>
  std::span<T> mutable_values() {
    check_dtype(dtype_of<T>());
    return {static_cast<T*>(mutable_data()), static_cast<std::size_t>(size_)};
  }

  /// The only element, converted to double. Throws if there is not exactly one.
  double item() const;

  /// Element `index` in row-major order, converted to double. For printing and tests.
  double at(std::int64_t index) const;

  /// A view of the same elements under another shape of equal size, detached from the tape.
  Tensor viewed_as(Shape shape) const;

  /// A view of elements [first, first + element_count(shape)), detached from the tape.
  Tensor viewed_from(std::int64_t first, Shape shape) const;

  /// The same values, detached from the tape: no gradient flows through the result.
  Tensor detach() const;

  /// A deep copy, detached from the tape.
  Tensor clone() const;

  /// Whether no other tensor shares the memory, so that it can be overwritten safely.
  bool owns_memory_alone() const { return storage_.use_count() == 1; }

  /// The tape node of the op that computed this tensor; null if no gradient is needed. Internal.
  const std::shared_ptr<TapeNode>& tape_node() const { return node_; }
  /// Which output of the op this tensor is. Internal.
  std::size_t tape_output() const { return output_; }
  /// Attaches the tensor to the tape. Internal.
  void set_tape(std::shared_ptr<TapeNode> node, std::size_t output);

 private:
  template <class T>
  static Tensor copy_of(std::span<const T> values, Shape shape);
  void check_dtype(DType wanted) const;

  std::shared_ptr<Storage> storage_;
  std::byte* start_ = nullptr;
  Shape shape_;
  std::int64_t size_ = 0;
  DType dtype_ = DType::float32;
  std::shared_ptr<TapeNode> node_;
  std::size_t output_ = 0;
};

}  // namespace boolgrad
