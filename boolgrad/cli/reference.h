// Reference values: what `boolgrad verify` compares, and the kinds of files it knows.
#pragma once

#include <filesystem>
#include <limits>
#include <string>
#include <string_view>
#include <vector>

#include "boolgrad/tensor/safetensors.h"
#include "boolgrad/tensor/tensor.h"

namespace boolgrad::cli {

/// How far one tensor of a case is from its reference.
struct Check {
  std::string name;
  std::string tensor;
  DType dtype = DType::float64;
  double error = std::numeric_limits<double>::infinity();
  double tolerance = 0;
  /// How far rounding the inputs moves the exact result, where that alone exceeds the tolerance and
  /// the error is therefore measured from the exact result of the rounded inputs; 0 elsewhere.
  double input_rounding = 0;
  std::string message = {};  ///< what kept it from being computed, if anything did

  // Written so that a NaN fails.
  bool pass() const { return error <= tolerance; }
};

/// A kind of reference file.
struct ReferenceKind {
  std::string_view name;
  bool (*recognises)(const TensorFile& file);
  std::vector<Check> (*verify)(const std::filesystem::path& path, const TensorFile& file);
};

/// Layered circuits of look-up tables with masks: outputs, loss and gradients in float64 within
/// 1e-10 and in float32 within 1e-5; the hard outputs exactly.
bool holds_lut_cases(const TensorFile& file);
std::vector<Check> verify_lut(const std::filesystem::path& path, const TensorFile& file);

}  // namespace boolgrad::cli
