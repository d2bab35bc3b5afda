#include "boolgrad/backend/cpu/tensor/map.h"

#include <algorithm>
#include <cstring>
#include <utility>
#include <vector>

#include "boolgrad/backend/cpu/runtime/loop.h"
#include "boolgrad/backend/cpu/tensor/row_kernels.h"
#include "boolgrad/core/parallel.h"

namespace boolgrad::cpu {
namespace {

// Elements per task: enough to amortise its overhead, few enough for an even distribution.
constexpr std::int64_t task_elements = 32768;
// Rows shorter than this are joined into blocks first.
constexpr std::int64_t short_row = 256;
// Elements of such a block.
constexpr std::int64_t block_elements = 2048;
// Columns summed in one task; their sums stay in the first-level cache.
constexpr std::int64_t column_tile = 2048;

std::int64_t ceil_divide(std::int64_t a, std::int64_t b) { return (a + b - 1) / b; }

/// Prepares the inputs of row kernels. Owns the memory for broadcast values and joined short rows.
/// One object per task.
class RowReader {
 public:
  RowReader(std::span<const Tensor> inputs, DType dtype)
      : inputs_(inputs), width_(size_of(dtype)) {}

  /// Joins `rows` rows of `row.size` elements, `rows_apart` apart, into one.
  const RowInputs& read(const Offsets& start, const LoopDimension& row, std::int64_t rows,
                        const LoopDimension& rows_apart) {
    for (std::size_t k = 0; k < inputs_.size(); ++k) {
      const std::byte* from = element(k, start[k]);
      const std::int64_t row_stride = rows == 1 ? 0 : rows_apart.stride[k];
      if (row.stride[k] == 1 && (rows == 1 || row_stride == row.size)) {
        set(k, from, 1);
      } else if (row.stride[k] == 0 && row_stride == 0) {
        set(k, repeated(k, from), 0);
      } else {
        set(k, joined(k, start[k], row, rows, row_stride), 1);
      }
    }
    return result_;
  }

 private:
  const std::byte* element(std::size_t k, std::int64_t offset) const {
    return static_cast<const std::byte*>(inputs_[k].data()) +
           offset * static_cast<std::int64_t>(width_);
  }

  void set(std::size_t k, const void* data, std::ptrdiff_t stride) {
    result_.data[k] = data;
    result_.stride[k] = stride;
  }

  void fill(std::byte* to, const std::byte* value, std::int64_t count) const {
    const auto n = static_cast<std::size_t>(count);
    if (width_ == 4) {
      std::uint32_t word;
      std::memcpy(&word, value, 4);
      std::fill_n(reinterpret_cast<std::uint32_t*>(to), n, word);
    } else if (width_ == 8) {
      std::uint64_t word;
      std::memcpy(&word, value, 8);
      std::fill_n(reinterpret_cast<std::uint64_t*>(to), n, word);
    } else {
      std::uint16_t word;
      std::memcpy(&word, value, 2);
      std::fill_n(reinterpret_cast<std::uint16_t*>(to), n, word);
    }
  }

  const std::byte* repeated(std::size_t k, const std::byte* value) {
    std::byte* lanes = lanes_[k];
    fill(lanes, value, broadcast_lanes);
    return lanes;
  }

  const std::byte* joined(std::size_t k, std::int64_t offset, const LoopDimension& row,
                          std::int64_t rows, std::int64_t row_stride) {
    std::vector<std::byte>& block = blocks_[k];
    const std::size_t row_bytes = static_cast<std::size_t>(row.size) * width_;
    if (block.size() < row_bytes * static_cast<std::size_t>(rows)) {
      block.resize(row_bytes * static_cast<std::size_t>(rows));
    }
    std::byte* to = block.data();
    for (std::int64_t r = 0; r < rows; ++r, to += row_bytes, offset += row_stride) {
      if (row.stride[k] == 1) std::memcpy(to, element(k, offset), row_bytes);
      else fill(to, element(k, offset), row.size);
    }
    return block.data();
  }

  std::span<const Tensor> inputs_;
  std::size_t width_;
  RowInputs result_{};
  alignas(64) std::byte lanes_[max_map_inputs][broadcast_lanes * 8];
  std::vector<std::byte> blocks_[max_map_inputs];
};

Offsets advanced(Offsets offsets, const LoopDimension& along, std::int64_t steps) {
  for (std::size_t k = 0; k < max_map_inputs; ++k) offsets[k] += steps * along.stride[k];
  return offsets;
}

/// Splits the innermost dimension off a loop.
struct InnerRow {
  explicit InnerRow(const Loop& loop) : outer(loop.dimensions) {
    if (!outer.empty()) {
      row = outer.back();
      outer = outer.first(outer.size() - 1);
    }
  }
  std::span<const LoopDimension> outer;
  LoopDimension row;
};

/// The arguments of a map or a sum.
struct Call {
  RowKernels kernels;
  std::span<const Tensor> inputs;
  const double* parameters;
  DType dtype;

  RowReader reader() const { return {inputs, dtype}; }
};

std::byte* out_at(Tensor& out, std::int64_t offset) {
  return static_cast<std::byte*>(out.mutable_data()) +
         static_cast<std::size_t>(offset) * size_of(out.dtype());
}

// Long rows: each is split into chunks, and a task processes some of them.
void map_rows(const Call& call, const InnerRow& nest, Tensor& out) {
  const std::int64_t length = nest.row.size;
  const std::int64_t chunk = std::min(length, task_elements);
  const std::int64_t chunks = ceil_divide(length, chunk);
  const std::int64_t units = point_count(nest.outer) * chunks;
  const std::int64_t units_per_task = std::max<std::int64_t>(1, task_elements / chunk);
  parallel_for(static_cast<std::size_t>(ceil_divide(units, units_per_task)), [&](std::size_t task) {
    RowReader reader = call.reader();
    const std::int64_t first = static_cast<std::int64_t>(task) * units_per_task;
    for (std::int64_t unit = first; unit < std::min(units, first + units_per_task); ++unit) {
      const std::int64_t row_index = unit / chunks;
      const std::int64_t begin = unit % chunks * chunk;
      LoopDimension part = nest.row;
      part.size = std::min(chunk, length - begin);
      const Offsets start = advanced(position_of(nest.outer, row_index).in, nest.row, begin);
      call.kernels.map(reader.read(start, part, 1, {}), out_at(out, row_index * length + begin),
                       static_cast<std::size_t>(part.size), call.parameters);
    }
  });
}

// Short rows: adjacent rows along the next dimension are joined.
void map_blocks(const Call& call, const InnerRow& nest, Tensor& out) {
  const LoopDimension& next = nest.outer.back();
  const auto outer = nest.outer.first(nest.outer.size() - 1);
  const std::int64_t length = nest.row.size;
  const std::int64_t rows = std::min(next.size, std::max<std::int64_t>(1, block_elements / length));
  const std::int64_t blocks = ceil_divide(next.size, rows);
  const std::int64_t units = point_count(outer) * blocks;
  const std::int64_t units_per_task = std::max<std::int64_t>(1, task_elements / (rows * length));
  parallel_for(static_cast<std::size_t>(ceil_divide(units, units_per_task)), [&](std::size_t task) {
    RowReader reader = call.reader();
    const std::int64_t first = static_cast<std::int64_t>(task) * units_per_task;
    for (std::int64_t unit = first; unit < std::min(units, first + units_per_task); ++unit) {
      const std::int64_t point = unit / blocks;
      const std::int64_t begin = unit % blocks * rows;
      const std::int64_t count = std::min(rows, next.size - begin);
      const Offsets start = advanced(position_of(outer, point).in, next, begin);
      call.kernels.map(reader.read(start, nest.row, count, next),
                       out_at(out, (point * next.size + begin) * length),
                       static_cast<std::size_t>(count * length), call.parameters);
    }
  });
}

template <class T>
void store_sum(Tensor& out, std::int64_t offset, double sum) {
  static_cast<T*>(out.mutable_data())[offset] = convert<T>(sum);
}

void store_sum(Tensor& out, std::int64_t offset, double sum) {
  if (out.dtype() == DType::float32) store_sum<float>(out, offset, sum);
  else if (out.dtype() == DType::float64) store_sum<double>(out, offset, sum);
  else store_sum<Float16>(out, offset, sum);
}

/// The outer dimensions of a sum: kept and summed ones.
struct SumNest {
  explicit SumNest(std::span<const LoopDimension> outer) {
    for (const LoopDimension& dimension : outer) {
      (dimension.out_stride == 0 ? summed : kept).push_back(dimension);
    }
  }
  std::vector<LoopDimension> kept;
  std::vector<LoopDimension> summed;
};

// The innermost dimension is summed: every element of the result is a sum over rows. The rows of an
// element are split into groups, whose sums are added in order.
void sum_rows(const Call& call, const InnerRow& nest, Tensor& out) {
  const SumNest outer(nest.outer);
  const std::int64_t length = nest.row.size;
  const std::int64_t chunk = std::min(length, task_elements);
  const std::int64_t chunks = ceil_divide(length, chunk);
  const std::int64_t results = point_count(outer.kept);
  const std::int64_t units = point_count(outer.summed) * chunks;
  const std::int64_t units_per_group = std::max<std::int64_t>(1, task_elements / chunk);
  const std::int64_t groups = ceil_divide(units, units_per_group);

  const auto group_sum = [&](RowReader& reader, const Position& result, std::int64_t group) {
    double sum = 0;
    const std::int64_t first = group * units_per_group;
    for (std::int64_t unit = first; unit < std::min(units, first + units_per_group); ++unit) {
      const std::int64_t begin = unit % chunks * chunk;
      LoopDimension part = nest.row;
      part.size = std::min(chunk, length - begin);
      Offsets start = advanced(result.in, nest.row, begin);
      const Offsets along = position_of(outer.summed, unit / chunks).in;
      for (std::size_t k = 0; k < max_map_inputs; ++k) start[k] += along[k];
      sum += call.kernels.sum(reader.read(start, part, 1, {}), static_cast<std::size_t>(part.size),
                              call.parameters);
    }
    return sum;
  };

  if (groups == 1) {
    const std::int64_t per_task = std::max<std::int64_t>(1, task_elements / (units * chunk));
    parallel_for(static_cast<std::size_t>(ceil_divide(results, per_task)), [&](std::size_t task) {
      RowReader reader = call.reader();
      const std::int64_t first = static_cast<std::int64_t>(task) * per_task;
      for (std::int64_t i = first; i < std::min(results, first + per_task); ++i) {
        const Position result = position_of(outer.kept, i);
        store_sum(out, result.out, group_sum(reader, result, 0));
      }
    });
    return;
  }
  std::vector<double> sums(static_cast<std::size_t>(results * groups));
  parallel_for(sums.size(), [&](std::size_t task) {
    RowReader reader = call.reader();
    const auto index = static_cast<std::int64_t>(task);
    sums[task] = group_sum(reader, position_of(outer.kept, index / groups), index % groups);
  });
  for (std::int64_t i = 0; i < results; ++i) {
    double sum = 0;
    for (std::int64_t g = 0; g < groups; ++g) sum += sums[static_cast<std::size_t>(i * groups + g)];
    store_sum(out, position_of(outer.kept, i).out, sum);
  }
}

/// The work distribution of `sum_columns`. A strip is a range of adjacent columns or, if rows are
/// short, of several joined rows, whose sums are combined at the end of a task.
struct ColumnPlan {
  ColumnPlan(const InnerRow& nest, const SumNest& outer) : length(nest.row.size) {
    const bool can_join = !nest.outer.empty() && nest.outer.back().out_stride == 0;
    if (length < short_row && can_join) {
      rows_apart = nest.outer.back();
      joined = std::min(rows_apart.size, std::max<std::int64_t>(1, block_elements / length));
    }
    strip = std::min(length, column_tile);
    strips = ceil_divide(length, strip);
    // The joined dimension is the innermost of the summed ones.
    summed = outer.summed;
    if (joined > 1) summed.pop_back();
    joined_groups = joined > 1 ? ceil_divide(rows_apart.size, joined) : 1;
    units = point_count(summed) * joined_groups;
    units_per_group = std::max<std::int64_t>(16, task_elements / (strip * joined));
    groups = ceil_divide(units, units_per_group);
  }

  std::int64_t length;
  std::int64_t joined = 1;
  LoopDimension rows_apart;
  std::int64_t strip = 0;
  std::int64_t strips = 0;
  std::vector<LoopDimension> summed;
  std::int64_t joined_groups = 1;
  std::int64_t units = 0;
  std::int64_t units_per_group = 0;
  std::int64_t groups = 0;
};

// The innermost dimension is kept: sums of columns. A task sums a group of rows in a strip of
// columns; the groups are added in order, in double.
template <class Sum>
void sum_columns(const Call& call, const InnerRow& nest, Tensor& out) {
  const SumNest outer(nest.outer);
  const ColumnPlan plan(nest, outer);
  const std::int64_t results = point_count(outer.kept);
  const std::int64_t length = plan.length;
  std::vector<Sum> sums(static_cast<std::size_t>(results * plan.groups * length));

  const auto tasks = static_cast<std::size_t>(results * plan.groups * plan.strips);
  parallel_for(tasks, [&](std::size_t task) {
    // Rows are collected until there are enough for one pass over the sums.
    std::vector<RowReader> readers(rows_at_once, call.reader());
    RowInputs waiting[rows_at_once];
    std::size_t waiting_rows = 0;
    const auto index = static_cast<std::int64_t>(task);
    const std::int64_t strip = index % plan.strips * plan.strip;
    const std::int64_t group = index / plan.strips % plan.groups;
    const std::int64_t result = index / plan.strips / plan.groups;
    LoopDimension part = nest.row;
    part.size = std::min(plan.strip, length - strip);
    const Offsets base = advanced(position_of(outer.kept, result).in, nest.row, strip);
    std::vector<Sum> columns(static_cast<std::size_t>(part.size * plan.joined), Sum{0});
    std::int64_t waiting_count = 0;
    const auto flush = [&] {
      call.kernels.accumulate(waiting, std::exchange(waiting_rows, 0), columns.data(),
                              static_cast<std::size_t>(waiting_count), call.parameters);
    };
    const std::int64_t first = group * plan.units_per_group;
    for (std::int64_t unit = first; unit < std::min(plan.units, first + plan.units_per_group);
         ++unit) {
      Offsets start = base;
      const Offsets along = position_of(plan.summed, unit / plan.joined_groups).in;
      for (std::size_t k = 0; k < max_map_inputs; ++k) start[k] += along[k];
      const std::int64_t begin = unit % plan.joined_groups * plan.joined;
      const std::int64_t rows =
          plan.joined == 1 ? 1 : std::min(plan.joined, plan.rows_apart.size - begin);
      if (plan.joined > 1) start = advanced(start, plan.rows_apart, begin);
      if (rows < plan.joined) flush();  // the pending rows are longer than this block
      waiting[waiting_rows] = readers[waiting_rows].read(start, part, rows, plan.rows_apart);
      waiting_count = rows * part.size;
      if (++waiting_rows == rows_at_once || rows < plan.joined) flush();
    }
    flush();
    Sum* to = sums.data() + (result * plan.groups + group) * length + strip;
    for (std::int64_t c = 0; c < part.size; ++c) {
      double sum = 0;
      for (std::int64_t r = 0; r < plan.joined; ++r) {
        sum += static_cast<double>(columns[static_cast<std::size_t>(r * part.size + c)]);
      }
      to[c] = static_cast<Sum>(sum);
    }
  });

  std::vector<double> totals(static_cast<std::size_t>(length));
  for (std::int64_t i = 0; i < results; ++i) {
    std::ranges::fill(totals, 0);
    for (std::int64_t g = 0; g < plan.groups; ++g) {
      const Sum* from = sums.data() + (i * plan.groups + g) * length;
      for (std::size_t c = 0; c < totals.size(); ++c) totals[c] += static_cast<double>(from[c]);
    }
    std::int64_t to = position_of(outer.kept, i).out;
    for (const double total : totals) store_sum(out, to++, total);
  }
}

}  // namespace

RowKernels row_kernels(MapKernel f, DType dtype) {
  if (f < MapKernel::exp) return arithmetic_row_kernels(f, dtype);
  if (f < MapKernel::relu) return elementwise_row_kernels(f, dtype);
  if (f < MapKernel::squared_error) return activation_row_kernels(f, dtype);
  return loss_row_kernels(f, dtype);
}

void map(MapKernel f, std::initializer_list<Tensor> inputs, Tensor& out,
         const MapParameters& parameters) {
  const std::span operands(inputs.begin(), inputs.size());
  const Loop loop = make_loop(operands, out.shape(), out.shape());
  if (loop.elements() == 0) return;
  const Call call{row_kernels(f, out.dtype()), operands, parameters.data(), out.dtype()};
  const InnerRow nest(loop);
  if (nest.row.size < short_row && !nest.outer.empty()) map_blocks(call, nest, out);
  else map_rows(call, nest, out);
}

void map_sum(MapKernel f, std::initializer_list<Tensor> inputs, const Shape& full, Tensor& out,
             const MapParameters& parameters) {
  if (element_count(full) == out.size() && out.size() > 0) {
    Tensor same_elements = out.viewed_as(full);
    map(f, inputs, same_elements, parameters);
    return;
  }
  const std::span operands(inputs.begin(), inputs.size());
  const Loop loop = make_loop(operands, full, out.shape());
  if (loop.elements() == 0) {
    if (out.bytes() > 0) std::memset(out.mutable_data(), 0, out.bytes());
    return;
  }
  const Call call{row_kernels(f, out.dtype()), operands, parameters.data(), out.dtype()};
  const InnerRow nest(loop);
  if (nest.row.out_stride == 0) sum_rows(call, nest, out);
  else if (out.dtype() == DType::float64) sum_columns<double>(call, nest, out);
  else sum_columns<float>(call, nest, out);
}

}  // namespace boolgrad::cpu
