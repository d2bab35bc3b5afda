// Reference values of ops. A case named `op.variant` has the tensors in0, in1, ..., out, gout (the
// upstream gradient) and grad0, ...; the metadata `cases` maps its name to its options.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "boolgrad/ops/op_table.h"
#include "boolgrad/tensor/safetensors.h"

namespace boolgrad::cli {

struct OpValues {
  Tensor out = {};
  std::vector<Tensor> gradients = {};  ///< one per input; undefined if not differentiated
};

struct OpCase {
  std::string name;
  const OpEntry* op = nullptr;
  OpOptions options = {};
  std::vector<Tensor> inputs = {};
  Tensor upstream = {};  ///< as many elements as the output
  OpValues expected = {};
};

/// Whether `file` holds cases of this kind.
bool holds_op_cases(const TensorFile& file);

/// All cases of a file. `path` names it in messages.
std::vector<OpCase> read_op_cases(const std::filesystem::path& path, const TensorFile& file);

/// The case with all floating inputs rounded to `dtype`. Expected values are not rounded.
OpCase rounded_to(const OpCase& of, DType dtype);

/// Computes output and gradients. Throws if the upstream gradient does not fit the output.
OpValues compute(const OpCase& of);

/// Number of inputs of an op.
std::size_t input_count(const OpEntry& op);

/// max |value - reference| / max |reference|, or max |value| if the reference is all 0. NaN if
/// either contains a NaN, infinite if the numbers of elements differ. Shapes are not compared: a
/// scalar may be stored with shape [1].
double relative_error(const Tensor& value, const Tensor& reference);

}  // namespace boolgrad::cli
