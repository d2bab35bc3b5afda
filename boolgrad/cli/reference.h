// Reference values: what `boolgrad verify` compares, and the kinds of files it knows.
#pragma once

#include <filesystem>
#include <limits>
#include <nlohmann/json.hpp>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "boolgrad/tensor/safetensors.h"
#include "boolgrad/tensor/tensor.h"

#include "boolgrad/backend/device/device.h"

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

struct Precision {
  DType dtype;
  double tolerance;
};

/// One case of a file whose tensors are named `case/tensor` and whose metadata holds the settings
/// of each case as JSON. Refers to the file.
class ReferenceCase {
 public:
  ReferenceCase(const std::filesystem::path& path, const TensorFile& file, std::string name);

  const std::filesystem::path& path() const { return path_; }
  const std::string& name() const { return name_; }
  const nlohmann::json& settings() const { return settings_; }
  bool has(const std::string& part) const;
  const Tensor& tensor(const std::string& part) const;

 private:
  const std::filesystem::path& path_;
  const TensorFile& file_;
  std::string name_;
  nlohmann::json settings_;
};

/// The cases that have a tensor whose name ends in `mark`.
std::set<std::string> case_names(const TensorFile& file, std::string_view mark);

/// Compares tensors of one case in one precision.
class Comparison {
 public:
  Comparison(std::string name, const Precision& precision, std::vector<Check>& checks)
      : name_(std::move(name)), precision_(precision), checks_(checks) {}

  void add(const std::string& tensor, const Tensor& value, const Tensor& reference,
           double tolerance) const;
  void add(const std::string& tensor, const Tensor& value, const Tensor& reference) const {
    add(tensor, value, reference, precision_.tolerance);
  }

 private:
  std::string name_;
  const Precision& precision_;
  std::vector<Check>& checks_;
};

/// A kind of reference file.
struct ReferenceKind {
  std::string_view name;
  bool (*recognises)(const TensorFile& file);
  std::vector<Check> (*verify)(const std::filesystem::path& path, const TensorFile& file,
                               const Device& device);
  std::span<const Backend> devices = {};  ///< beside the CPU
};

/// Layered circuits of look-up tables with masks: outputs, loss and gradients in float64 within
/// 1e-10 and in float32 within 1e-5; the hard outputs exactly.
bool holds_lut_cases(const TensorFile& file);
std::vector<Check> verify_lut(const std::filesystem::path& path, const TensorFile& file,
                              const Device& device);

/// Cellular automata: states, loss and all gradients in float64 within 1e-9 and in float32 within
/// 1e-4 of the largest value; the hard states exactly.
bool holds_automaton_cases(const TensorFile& file);
std::vector<Check> verify_automata(const std::filesystem::path& path, const TensorFile& file,
                                   const Device& device);

/// Unions of disks: areas within 1e-12 of each, gradients within 1e-9 of the largest component of
/// each, strata exactly. Pairs are computed as pairs and as unions of any number.
bool holds_disk_cases(const TensorFile& file);
std::vector<Check> verify_disks(const std::filesystem::path& path, const TensorFile& file,
                                const Device& device);

}  // namespace boolgrad::cli
