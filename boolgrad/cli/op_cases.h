// Ops with inputs and the values they must give, as files of reference values hold them: a case
// named `op.variant` has the tensors in0, in1, ..., out, gout (the upstream gradient) and grad0,
// ..., and the metadata `cases` maps its name to its options.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "boolgrad/ops/op_table.h"
#include "boolgrad/tensor/safetensors.h"

namespace boolgrad::cli {

struct OpValues {
  Tensor out = {};
  std::vector<Tensor> gradients = {};  ///< one an input; undefined where it is not differentiated
};

struct OpCase {
  std::string name;
  const OpEntry* op = nullptr;
  OpOptions options = {};
  std::vector<Tensor> inputs = {};
  Tensor upstream = {};  ///< as many elements as the output has
  OpValues expected = {};
};

/// Whether `file` holds cases of this kind.
bool holds_op_cases(const TensorFile& file);

/// All cases of a file. `path` names it in messages.
std::vector<OpCase> read_op_cases(const std::filesystem::path& path, const TensorFile& file);

/// The case with all floating tensors rounded to `dtype`, its expected values left as they are.
OpCase rounded_to(const OpCase& of, DType dtype);

/// Forward and backward. An upstream gradient that does not fit the output is an `Error`.
OpValues compute(const OpCase& of);

/// Number of inputs that an op takes.
std::size_t input_count(const OpEntry& op);

/// max |value - reference| / max |reference|, or max |value| where the reference is all 0; NaN
/// where either holds a NaN. Shapes are not compared: a scalar may be stored with shape [1].
/// Infinite where the numbers of elements differ.
double relative_error(const Tensor& value, const Tensor& reference);

}  // namespace boolgrad::cli
