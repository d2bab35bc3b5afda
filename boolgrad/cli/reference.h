// Reference values for `boolgrad verify`: comparison, and the kinds of files.
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

#include "boolgrad/options/device.h"

namespace boolgrad::cli {

/// The difference between one tensor of a case and its reference.
struct Check {
  std::string name;
  std::string tensor;
  DType dtype = DType::float64;
  double error = std::numeric_limits<double>::infinity();
  double tolerance = 0;
  /// Effect of input rounding on the exact result, if it exceeds the tolerance; else 0. The error
  /// is then relative to the exact result of the rounded inputs.
  double input_rounding = 0;
  std::string message = {};  ///< why it could not be computed; else empty

  // False for NaN.
  bool pass() const { return error <= tolerance; }
};

struct Precision {
  DType dtype;
  double tolerance;
};

/// One case of a file. Tensors are named `case/tensor`; the metadata holds the settings of each
/// case as JSON. The file must outlive it.
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

/// The cases with a tensor whose name ends in `mark`.
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
  std::span<const Backend> devices = {};  ///< other than the CPU
};

/// Layered circuits of look-up tables with masks. Tolerances: 1e-10 in float64 and 1e-5 in float32;
/// hard outputs must match exactly.
bool holds_lut_cases(const TensorFile& file);
std::vector<Check> verify_lut(const std::filesystem::path& path, const TensorFile& file,
                              const Device& device);

/// Cellular automata: states, loss and gradients. Tolerances: 1e-9 in float64 and 1e-4 in float32;
/// hard states must match exactly.
bool holds_automaton_cases(const TensorFile& file);
std::vector<Check> verify_automata(const std::filesystem::path& path, const TensorFile& file,
                                   const Device& device);

/// Unions of disks. Tolerances: 1e-12 for areas, and 1e-9 of the largest component for gradients;
/// strata must match exactly. Pairs are also computed as unions.
bool holds_disk_cases(const TensorFile& file);
std::vector<Check> verify_disks(const std::filesystem::path& path, const TensorFile& file,
                                const Device& device);

}  // namespace boolgrad::cli
