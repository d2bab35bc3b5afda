#include "boolgrad/backend/cpu/tensor/gemm.h"

#include <cblas.h>

#include <algorithm>
#include <cstring>

#include "boolgrad/core/parallel.h"

namespace boolgrad::cpu {
namespace {

constexpr std::int64_t block = 256;

void use_one_blas_thread() {
  static const bool done = [] {
    openblas_set_num_threads(1);
    return true;
  }();
  static_cast<void>(done);
}

void multiply_block(const GemmShape& s, const float* a, const float* b, float* c, std::int64_t rows,
                    std::int64_t columns, float beta) {
  cblas_sgemm(CblasRowMajor, s.transpose_a ? CblasTrans : CblasNoTrans,
              s.transpose_b ? CblasTrans : CblasNoTrans, static_cast<blasint>(rows),
              static_cast<blasint>(columns), static_cast<blasint>(s.k), 1.0F, a,
              static_cast<blasint>(s.transpose_a ? s.m : s.k), b,
              static_cast<blasint>(s.transpose_b ? s.k : s.n), beta, c, static_cast<blasint>(s.n));
}

void multiply_block(const GemmShape& s, const double* a, const double* b, double* c,
                    std::int64_t rows, std::int64_t columns, double beta) {
  cblas_dgemm(CblasRowMajor, s.transpose_a ? CblasTrans : CblasNoTrans,
              s.transpose_b ? CblasTrans : CblasNoTrans, static_cast<blasint>(rows),
              static_cast<blasint>(columns), static_cast<blasint>(s.k), 1.0, a,
              static_cast<blasint>(s.transpose_a ? s.m : s.k), b,
              static_cast<blasint>(s.transpose_b ? s.k : s.n), beta, c, static_cast<blasint>(s.n));
}

template <class T>
void gemm_of(const GemmShape& shape, std::span<const GemmSum> sums) {
  const auto row_blocks = task_count(static_cast<std::size_t>(shape.m), block);
  const auto column_blocks = task_count(static_cast<std::size_t>(shape.n), block);
  parallel_for(sums.size() * row_blocks * column_blocks, [&](std::size_t task) {
    const auto column = static_cast<std::int64_t>(task % column_blocks) * block;
    const auto row = static_cast<std::int64_t>(task / column_blocks % row_blocks) * block;
    const GemmSum& sum = sums[task / column_blocks / row_blocks];
    const std::int64_t rows = std::min(block, shape.m - row);
    const std::int64_t columns = std::min(block, shape.n - column);
    T* c = static_cast<T*>(sum.c) + row * shape.n + column;
    T beta = 0;
    for (const auto& [a_data, b_data] : sum.factors) {
      const T* a = static_cast<const T*>(a_data) + (shape.transpose_a ? row : row * shape.k);
      const T* b = static_cast<const T*>(b_data) + (shape.transpose_b ? column * shape.k : column);
      multiply_block(shape, a, b, c, rows, columns, beta);
      beta = 1;
    }
  });
}

}  // namespace

void gemm(DType dtype, const GemmShape& shape, std::span<const GemmSum> sums) {
  if (shape.m == 0 || shape.n == 0) return;
  const auto bytes = static_cast<std::size_t>(shape.m * shape.n) * size_of(dtype);
  for (const GemmSum& sum : sums) {
    if (shape.k == 0 || sum.factors.empty()) std::memset(sum.c, 0, bytes);
  }
  if (shape.k == 0) return;
  use_one_blas_thread();
  if (dtype == DType::float32) gemm_of<float>(shape, sums);
  else gemm_of<double>(shape, sums);
}

}  // namespace boolgrad::cpu
