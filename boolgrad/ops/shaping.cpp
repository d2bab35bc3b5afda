#include "boolgrad/ops/shaping.h"

#include <cstring>
#include <vector>

#include "boolgrad/autograd/tape.h"
#include "boolgrad/backend/cpu/tensor/extremum.h"
#include "boolgrad/backend/cpu/tensor/permute.h"
#include "boolgrad/core/fail.h"
#include "boolgrad/ops/checks.h"

namespace boolgrad {
namespace {

// Replaces a size of -1 by the inferred one.
Shape completed(const Tensor& x, Shape shape) {
  std::int64_t known = 1;
  std::int64_t* open = nullptr;
  for (std::int64_t& size : shape) {
    if (size == -1 && open == nullptr) open = &size;
    else known *= size;
  }
  if (open != nullptr) {
    if (known <= 0 || x.size() % known != 0) {
      fail("reshape", "expected a shape of {} elements, received {}", x.size(), to_string(shape));
    }
    *open = x.size() / known;
  }
  return shape;
}

// Copies `rows` runs of `run` bytes between buffers with different row strides.
void copy_runs(const std::byte* from, std::size_t from_stride, std::byte* to, std::size_t to_stride,
               std::size_t run, std::int64_t rows) {
  if (run == 0) return;
  for (std::int64_t i = 0; i < rows; ++i) {
    std::memcpy(to, from, run);
    from += from_stride;
    to += to_stride;
  }
}

const std::byte* bytes_of(const Tensor& x) { return static_cast<const std::byte*>(x.data()); }
std::byte* bytes_of(Tensor& x) { return static_cast<std::byte*>(x.mutable_data()); }

/// A slice along an axis, as strided runs of bytes.
struct AxisRange {
  AxisRange(const Shape& whole, DType dtype, std::int64_t axis, std::int64_t begin,
            std::int64_t length)
      : view(cpu::axis_view(whole, axis)) {
    const std::size_t step = static_cast<std::size_t>(view.inner) * size_of(dtype);
    offset = static_cast<std::size_t>(begin) * step;
    run = static_cast<std::size_t>(length) * step;
    stride = static_cast<std::size_t>(view.length) * step;
  }
  cpu::AxisView view;
  std::size_t offset = 0;
  std::size_t run = 0;
  std::size_t stride = 0;
};

Tensor cut(const Tensor& x, std::int64_t axis, std::int64_t begin, std::int64_t end) {
  Shape shape = x.shape();
  shape[static_cast<std::size_t>(axis)] = end - begin;
  const AxisRange range(x.shape(), x.dtype(), axis, begin, end - begin);
  if (range.view.outer == 1) return x.viewed_from(begin * range.view.inner, shape);
  Tensor out(shape, x.dtype());
  copy_runs(bytes_of(x) + range.offset, range.stride, bytes_of(out), range.run, range.run,
            range.view.outer);
  return out;
}

void paste(const Tensor& part, Tensor& whole, std::int64_t axis, std::int64_t begin,
           std::int64_t length) {
  const AxisRange range(whole.shape(), whole.dtype(), axis, begin, length);
  copy_runs(bytes_of(part), range.run, bytes_of(whole) + range.offset, range.stride, range.run,
            range.view.outer);
}

}  // namespace

Tensor reshape(const Tensor& x, Shape shape) {
  common_dtype("reshape", {x});
  return record("reshape", {x}, x.viewed_as(completed(x, std::move(shape))), {},
                [shape = x.shape()](const VjpContext& c) {
                  return std::vector{c.gradient().viewed_as(shape)};
                });
}

Tensor slice(const Tensor& x, std::int64_t axis, std::int64_t begin, std::int64_t end) {
  common_dtype("slice", {x});
  axis = resolve_axis("slice", axis, x.rank());
  const std::int64_t size = x.shape()[static_cast<std::size_t>(axis)];
  const std::int64_t first = begin < 0 ? begin + size : begin;
  const std::int64_t last = end < 0 ? end + size : end;
  if (first < 0 || last > size || first > last) {
    fail("slice", "expected ascending bounds between 0 and {}, received {} and {}", size, begin,
         end);
  }
  return record("slice", {x}, cut(x, axis, first, last), {},
                [shape = x.shape(), axis, first, last](const VjpContext& c) {
                  Tensor gx = Tensor::zeros(shape, c.gradient().dtype());
                  paste(c.gradient(), gx, axis, first, last - first);
                  return std::vector{gx};
                });
}

Tensor stack(std::span<const Tensor> tensors, std::int64_t axis) {
  if (tensors.empty()) fail("stack", "expected at least one tensor, received none");
  for (const Tensor& tensor : tensors) {
    common_dtype("stack", {tensors[0], tensor});
    if (tensor.shape() != tensors[0].shape()) {
      fail("stack", "expected tensors of one shape, received {} and {}",
           to_string(tensors[0].shape()), to_string(tensor.shape()));
    }
  }
  axis = resolve_axis("stack", axis, tensors[0].rank() + 1);
  Shape shape = tensors[0].shape();
  shape.insert(shape.begin() + axis, static_cast<std::int64_t>(tensors.size()));
  Tensor out(shape, tensors[0].dtype());
  for (std::size_t i = 0; i < tensors.size(); ++i) {
    paste(tensors[i], out, axis, static_cast<std::int64_t>(i), 1);
  }
  return record("stack", tensors, {out}, {},
                [axis, part = tensors[0].shape()](const VjpContext& c) {
                  std::vector<Tensor> gradients(c.needs.size());
                  for (std::size_t i = 0; i < gradients.size(); ++i) {
                    const auto at = static_cast<std::int64_t>(i);
                    gradients[i] = cut(c.gradient(), axis, at, at + 1).viewed_as(part);
                  }
                  return gradients;
                })[0];
}

Tensor concatenate(std::span<const Tensor> tensors, std::int64_t axis) {
  if (tensors.empty()) fail("concatenate", "expected at least one tensor, received none");
  axis = resolve_axis("concatenate", axis, tensors[0].rank());
  const auto along = static_cast<std::size_t>(axis);
  Shape shape = tensors[0].shape();
  shape[along] = 0;
  std::vector<std::int64_t> begins;
  for (const Tensor& tensor : tensors) {
    common_dtype("concatenate", {tensors[0], tensor});
    Shape others = tensor.shape();
    if (tensor.rank() == tensors[0].rank()) others[along] = shape[along];
    if (others != shape) {
      fail("concatenate", "expected tensors of one shape but for axis {}, received {} and {}", axis,
           to_string(tensors[0].shape()), to_string(tensor.shape()));
    }
    begins.push_back(shape[along]);
    shape[along] += tensor.shape()[along];
  }
  begins.push_back(shape[along]);
  Tensor out(shape, tensors[0].dtype());
  for (std::size_t i = 0; i < tensors.size(); ++i) {
    paste(tensors[i], out, axis, begins[i], begins[i + 1] - begins[i]);
  }
  return record("concatenate", tensors, {out}, {},
                [axis, begins = std::move(begins)](const VjpContext& c) {
                  std::vector<Tensor> gradients(c.needs.size());
                  for (std::size_t i = 0; i < gradients.size(); ++i) {
                    gradients[i] = cut(c.gradient(), axis, begins[i], begins[i + 1]);
                  }
                  return gradients;
                })[0];
}

Tensor cast(const Tensor& x, DType dtype) {
  if (common_dtype("cast", {x}) == dtype) return x;
  Tensor out(x.shape(), dtype);
  cpu::convert_elements(x, out);
  return record("cast", {x}, out, {}, [from = x.dtype()](const VjpContext& c) {
    Tensor gx(c.gradient().shape(), from);
    cpu::convert_elements(c.gradient(), gx);
    return std::vector{gx};
  });
}

}  // namespace boolgrad
