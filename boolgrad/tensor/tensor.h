// An n-dimensional array in row-major order.
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

/// A handle to values: copying it copies no elements. Elements always lie contiguously, row-major.
///
/// Ops never change a tensor that they were given. `mutable_values` is for whoever has just made
/// the tensor, and for optimisers, which own the parameters they update.
class Tensor {
 public:
  /// A tensor that stands for "none": no shape, no values, `defined()` is false.
  Tensor() = default;

  /// Elements start out undefined.
  Tensor(Shape shape, DType dtype);

  static Tensor full(Shape shape, double value, DType dtype);
  static Tensor zeros(Shape shape, DType dtype) { return full(std::move(shape), 0, dtype); }
  static Tensor ones(Shape shape, DType dtype) { return full(std::move(shape), 1, dtype); }
  static Tensor scalar(double value, DType dtype) { return full({}, value, dtype); }

  /// Copies `values`, which must be as many as `shape` has elements.
  template <class T>
  static Tensor of(const std::vector<T>& values, Shape shape) {
    return copy_of(std::span<const T>(values), std::move(shape));
  }
  template <class T>
  static Tensor of(const std::vector<T>& values) {
    return of(values, {static_cast<std::int64_t>(values.size())});
  }

  bool defined() const { return storage_ != nullptr; }
  const Shape& shape() const { return shape_; }
  DType dtype() const { return dtype_; }
  std::size_t rank() const { return shape_.size(); }
  std::int64_t size() const { return size_; }
  std::size_t bytes() const { return static_cast<std::size_t>(size_) * size_of(dtype_); }

  const void* data() const { return start_; }
  void* mutable_data() { return start_; }

  /// The elements in row-major order. Throws where T is not the element type.
  template <class T>
  std::span<const T> values() const {
    check_dtype(dtype_of<T>());
    return {static_cast<const T*>(data()), static_cast<std::size_t>(size_)};
  }
  template <class T>
  std::span<T> mutable_values() {
    check_dtype(dtype_of<T>());
    return {static_cast<T*>(mutable_data()), static_cast<std::size_t>(size_)};
  }

  /// The only element, whatever its type. Throws where there is not exactly one.
  double item() const;

  /// Element `index` in row-major order, converted to double. For printing and tests.
  double at(std::int64_t index) const;

  /// The same elements under another shape of as many elements, off the tape.
  Tensor viewed_as(Shape shape) const;

  /// Elements [first, first + element_count(shape)) under `shape`, off the tape.
  Tensor viewed_from(std::int64_t first, Shape shape) const;

  /// The same values with no place on the tape: no gradient flows through it.
  Tensor detach() const;

  /// A copy with memory of its own, off the tape.
  Tensor clone() const;

  /// Whether no other tensor shares the memory, so that it may be overwritten unseen.
  bool owns_memory_alone() const { return storage_.use_count() == 1; }

  /// The op on the tape that made this tensor and which of its outputs it is. Null for a tensor
  /// that needs no gradient. Only `autograd/` looks inside.
  const std::shared_ptr<TapeNode>& tape_node() const { return node_; }
  std::size_t tape_output() const { return output_; }
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
