#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "boolgrad/backend/cpu/automaton/grid.cpp"
#include <hwy/foreach_target.h>
// The vector functions need the macros of the line above.
#include <algorithm>

#include "boolgrad/backend/cpu/automaton/grid.h"
#include "boolgrad/backend/cpu/tensor/vector_math-inl.h"

HWY_BEFORE_NAMESPACE();
namespace boolgrad::cpu::HWY_NAMESPACE {

template <class T>
void Read(const void* plane, std::span<const GridRun> runs, std::ptrdiff_t offset, void* row) {
  const hn::ScalableTag<T> d;
  const auto lanes = static_cast<std::ptrdiff_t>(hn::Lanes(d));
  const T* from = static_cast<const T*>(plane) + offset;
  T* to = static_cast<T*>(row);
  // Runs are in order: the next one overwrites the excess elements of the previous one.
  for (const GridRun& run : runs) {
    for (std::ptrdiff_t i = 0; i < run.length; i += lanes) {
      hn::StoreU(hn::LoadU(d, from + run.plane + i), d, to + run.offset + i);
    }
  }
}

template <class T>
void Gather(const void* planes, std::size_t stride, const Grid& grid, std::span<const GridRun> runs,
            void* row) {
  const hn::ScalableTag<T> d;
  const auto lanes = static_cast<std::ptrdiff_t>(hn::Lanes(d));
  T* to = static_cast<T*>(row);
  const auto offsets = grid.offsets();
  const T* from[neighbourhood];
  for (std::size_t n = 0; n < neighbourhood; ++n) {
    from[n] = static_cast<const T*>(planes) + n * stride - offsets[n];
  }
  for (const GridRun& run : runs) {
    for (std::ptrdiff_t i = 0; i < run.length; i += lanes) {
      auto total = hn::LoadU(d, from[0] + run.plane + i);
      for (std::size_t n = 1; n < neighbourhood; ++n) {
        total = hn::Add(total, hn::LoadU(d, from[n] + run.plane + i));
      }
      hn::StoreU(total, d, to + run.offset + i);
    }
  }
}

template <class T>
HWY_INLINE void CopyExactly(const T* from, std::ptrdiff_t count, T* to) {
  const hn::ScalableTag<T> d;
  const auto lanes = static_cast<std::ptrdiff_t>(hn::Lanes(d));
  std::ptrdiff_t i = 0;
  for (; i + lanes <= count; i += lanes) hn::StoreU(hn::LoadU(d, from + i), d, to + i);
  for (; i < count; ++i) to[i] = from[i];
}

/// Writes one run, and copies cells at the left or right border to the padding on the other side.
template <class T>
HWY_INLINE void WriteRow(const T* from, const GridRun& run, const Grid& grid, T* to) {
  CopyExactly<T>(from, run.length, to);
  if (!grid.periodic) return;
  if (run.column == 0) to[grid.width] = from[0];
  if (run.column + run.length == grid.width) to[-run.column - 1] = from[run.length - 1];
}

template <class T>
void Write(const void* row, std::span<const GridRun> runs, const Grid& grid, void* plane) {
  for (const GridRun& run : runs) {
    const T* from = static_cast<const T*>(row) + run.offset;
    T* to = static_cast<T*>(plane) + run.plane;
    WriteRow(from, run, grid, to);
    const std::ptrdiff_t around = grid.height * grid.row_length();
    if (grid.periodic && run.row == 0) WriteRow(from, run, grid, to + around);
    if (grid.periodic && run.row == grid.height - 1) WriteRow(from, run, grid, to - around);
  }
}

template <class T>
GridKernels KernelsFor() {
  return {&Read<T>, &Gather<T>, &Write<T>};
}

GridKernels FindGridKernels(DType dtype) {
  return dtype == DType::float32 ? KernelsFor<float>() : KernelsFor<double>();
}

}  // namespace boolgrad::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace boolgrad::cpu {

HWY_EXPORT(FindGridKernels);

GridKernels grid_kernels(DType dtype) { return HWY_DYNAMIC_DISPATCH(FindGridKernels)(dtype); }

std::array<std::ptrdiff_t, neighbourhood> Grid::offsets() const {
  std::array<std::ptrdiff_t, neighbourhood> result{};
  for (std::size_t n = 0; n < neighbourhood; ++n) {
    const auto i = static_cast<std::ptrdiff_t>(n);
    result[n] = (i / 3 - 1) * row_length() + i % 3 - 1;
  }
  return result;
}

std::vector<GridRun> Grid::runs(std::int64_t first, std::int64_t count) const {
  std::vector<GridRun> result;
  for (std::int64_t cell = first; cell < first + count;) {
    const std::int64_t column = cell % width;
    const std::int64_t row = cell / width % height;
    const std::int64_t item = cell / (width * height);
    const std::int64_t length = std::min(width - column, first + count - cell);
    const std::int64_t plane_row = item * (height + 2) + row + 1;
    result.push_back({static_cast<std::int32_t>(cell - first), static_cast<std::int32_t>(length),
                      plane_row * row_length() + column + 1, row, column});
    cell += length;
  }
  return result;
}

}  // namespace boolgrad::cpu
#endif
