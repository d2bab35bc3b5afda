#include "boolgrad/ops/matrix.h"

#include <vector>

#include "boolgrad/autograd/tape.h"
#include "boolgrad/backend/cpu/runtime/loop.h"
#include "boolgrad/backend/cpu/tensor/gemm.h"
#include "boolgrad/backend/cpu/tensor/map.h"
#include "boolgrad/backend/cpu/tensor/permute.h"
#include "boolgrad/core/fail.h"
#include "boolgrad/ops/checks.h"

namespace boolgrad {
namespace {

using cpu::MapKernel;

Shape batch_of(const Tensor& x) { return {x.shape().begin(), x.shape().end() - 2}; }

Shape with_matrix(Shape batch, std::int64_t rows, std::int64_t columns) {
  batch.push_back(rows);
  batch.push_back(columns);
  return batch;
}

/// A stack of matrices, possibly read transposed.
struct Factor {
  const Tensor& matrices;
  bool transposed = false;

  std::int64_t rows() const { return size(transposed ? 1 : 2); }
  std::int64_t columns() const { return size(transposed ? 2 : 1); }
  std::int64_t size(std::size_t from_end) const {
    return matrices.shape()[matrices.rank() - from_end];
  }
};

// Products over the broadcast batch `full`, summed where `batch`, the batch of the result, is
// smaller.
Tensor batched_product(const Factor& a, const Factor& b, const Shape& full, const Shape& batch) {
  if (a.matrices.dtype() == DType::float16) {
    const Tensor wide_a = cpu::converted(a.matrices, DType::float32);
    const Tensor wide_b = cpu::converted(b.matrices, DType::float32);
    const Tensor wide =
        batched_product({wide_a, a.transposed}, {wide_b, b.transposed}, full, batch);
    return cpu::converted(wide, DType::float16);
  }
  const cpu::GemmShape shape{a.rows(), b.columns(), a.columns(), a.transposed, b.transposed};
  const DType dtype = a.matrices.dtype();
  Tensor out(with_matrix(batch, shape.m, shape.n), dtype);

  // Strides of the batch dimensions, counted in matrices.
  const Tensor batches_a(batch_of(a.matrices), DType::uint8);
  const Tensor batches_b(batch_of(b.matrices), DType::uint8);
  const std::vector<Tensor> batches{batches_a, batches_b};
  const cpu::Loop loop = cpu::make_loop(batches, full, batch);
  const auto width = static_cast<std::int64_t>(size_of(dtype));
  std::vector<cpu::GemmSum> sums(static_cast<std::size_t>(element_count(batch)));
  auto* to = static_cast<std::byte*>(out.mutable_data());
  for (std::size_t i = 0; i < sums.size(); ++i) {
    sums[i].c = to + static_cast<std::int64_t>(i) * shape.m * shape.n * width;
  }
  for (std::int64_t i = 0; i < element_count(full); ++i) {
    const cpu::Position at = cpu::position_of(loop.dimensions, i);
    const auto* from_a = static_cast<const std::byte*>(a.matrices.data());
    const auto* from_b = static_cast<const std::byte*>(b.matrices.data());
    sums[static_cast<std::size_t>(at.out)].factors.emplace_back(
        from_a + at.in[0] * shape.m * shape.k * width,
        from_b + at.in[1] * shape.k * shape.n * width);
  }
  cpu::gemm(dtype, shape, sums);
  return out;
}

// C = A B, dA = G B^T, dB = A^T G
Tensor matrix_product(const Tensor& a, const Tensor& b) {
  const Shape full = broadcast_shapes("matmul", batch_of(a), batch_of(b));
  const Tensor out = batched_product({a}, {b}, full, full);
  return record("matmul", {a, b}, out, {a, b}, [full](const VjpContext& c) {
    const Tensor& a = c.residual(0);
    const Tensor& b = c.residual(1);
    std::vector<Tensor> gradients(2);
    if (c.needs[0]) gradients[0] = batched_product({c.gradient()}, {b, true}, full, batch_of(a));
    if (c.needs[1]) gradients[1] = batched_product({a, true}, {c.gradient()}, full, batch_of(b));
    return gradients;
  });
}

// A product with a vector reads each element of the matrix once, so it is a fused multiply and sum:
// out = sum over `axis` of left * right, both broadcast to `full`.
Tensor vector_product(const Tensor& a, const Shape& a_seen, const Tensor& b, const Shape& b_seen,
                      const Shape& full, const Shape& summed, const Shape& result) {
  Tensor out(summed, a.dtype());
  cpu::map_sum(MapKernel::multiply, {a.viewed_as(a_seen), b.viewed_as(b_seen)}, full, out);
  return record("matmul", {a, b}, out.viewed_as(result), {a, b},
                [a_seen, b_seen, full, summed](const VjpContext& c) {
                  const Tensor g = c.gradient().viewed_as(summed);
                  const Tensor a = c.residual(0).viewed_as(a_seen);
                  const Tensor b = c.residual(1).viewed_as(b_seen);
                  std::vector<Tensor> gradients(2);
                  if (c.needs[0]) {
                    Tensor ga(a_seen, a.dtype());
                    cpu::map_sum(MapKernel::multiply, {g, b}, full, ga);
                    gradients[0] = ga.viewed_as(c.residual(0).shape());
                  }
                  if (c.needs[1]) {
                    Tensor gb(b_seen, b.dtype());
                    cpu::map_sum(MapKernel::multiply, {g, a}, full, gb);
                    gradients[1] = gb.viewed_as(c.residual(1).shape());
                  }
                  return gradients;
                });
}

// [..., m, k] @ [k]
Tensor matrix_by_vector(const Tensor& a, const Tensor& b) {
  const Shape& full = a.shape();
  Shape summed = full;
  summed.back() = 1;
  return vector_product(a, full, b, b.shape(), full, summed, {full.begin(), full.end() - 1});
}

// [k] @ [..., k, n]
Tensor vector_by_matrix(const Tensor& a, const Tensor& b) {
  const Shape& full = b.shape();
  Shape summed = full;
  summed[full.size() - 2] = 1;
  Shape result = full;
  result.erase(result.end() - 2);
  return vector_product(a, {a.size(), 1}, b, full, full, summed, result);
}

void check_inner_sizes(const Tensor& a, const Tensor& b) {
  if (a.rank() == 0 || b.rank() == 0) {
    fail("matmul", "expected at least one dimension on both sides, received {} and {}",
         to_string(a.shape()), to_string(b.shape()));
  }
  const std::int64_t inner_b = b.rank() == 1 ? b.shape()[0] : b.shape()[b.rank() - 2];
  if (a.shape().back() != inner_b) {
    fail("matmul", "expected inner sizes that agree, received {} and {}", to_string(a.shape()),
         to_string(b.shape()));
  }
}

}  // namespace

Tensor matmul(const Tensor& a, const Tensor& b) {
  common_floating_dtype("matmul", {a, b});
  check_inner_sizes(a, b);
  if (a.rank() >= 2 && b.rank() >= 2) return matrix_product(a, b);
  if (a.rank() >= 2) return matrix_by_vector(a, b);
  if (b.rank() >= 2) return vector_by_matrix(a, b);
  return vector_product(a, a.shape(), b, b.shape(), a.shape(), {1}, {});
}

Tensor transpose(const Tensor& x, const std::optional<Axes>& axes) {
  common_dtype("transpose", {x});
  Axes order;
  if (axes) {
    for (const std::int64_t axis : *axes)
      order.push_back(resolve_axis("transpose", axis, x.rank()));
    resolve_axes("transpose", axes, x.rank());  // refuses repeats
    if (order.size() != x.rank()) {
      fail("transpose", "expected {} axes, received {}", x.rank(), order.size());
    }
  } else {
    for (std::size_t i = x.rank(); i-- > 0;) order.push_back(static_cast<std::int64_t>(i));
  }
  Shape shape;
  for (const std::int64_t axis : order) shape.push_back(x.shape()[static_cast<std::size_t>(axis)]);
  Tensor out(shape, x.dtype());
  cpu::permute(x, order, out);
  return record("transpose", {x}, out, {}, [order, shape = x.shape()](const VjpContext& c) {
    Axes inverse(order.size());
    for (std::size_t i = 0; i < order.size(); ++i) {
      inverse[static_cast<std::size_t>(order[i])] = static_cast<std::int64_t>(i);
    }
    Tensor gx(shape, c.gradient().dtype());
    cpu::permute(c.gradient(), inverse, gx);
    return std::vector{gx};
  });
}

}  // namespace boolgrad
