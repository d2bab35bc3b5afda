// `boolgrad verify`: recomputes reference values and reports the errors.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <limits>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "boolgrad/backend/cpu/tensor/row_kernels.h"
#include "boolgrad/backend/device/devices.h"
#include "boolgrad/cli/command.h"
#include "boolgrad/cli/op_cases.h"
#include "boolgrad/cli/reference.h"
#include "boolgrad/cli/shipped.h"
#include "boolgrad/core/fail.h"
#include "boolgrad/core/parallel.h"
#include "boolgrad/core/text.h"

namespace boolgrad::cli {
namespace {

namespace fs = std::filesystem;

constexpr std::array<Precision, 3> precisions = {
    {{DType::float64, 1e-10}, {DType::float32, 1e-5}, {DType::float16, 2e-3}}};

// ---------------------------------------------------------------------------------------------
// Reference values of ops

/// One tensor of a case, computed in four ways.
struct Compared {
  std::string name;
  const Tensor& reference;
  const Tensor& value;          ///< computed in the verified dtype, from rounded inputs
  const Tensor& exact;          ///< computed in float64
  const Tensor& exact_rounded;  ///< computed in float64 from the rounded inputs
};

Check compare(Check check, const Compared& tensor) {
  check.tensor = tensor.name;
  if (tensor.value.size() != tensor.reference.size()) {
    check.message = fmt::format("expected {} elements, received {}", tensor.reference.size(),
                                tensor.value.size());
    return check;
  }
  check.error = relative_error(tensor.value, tensor.reference);
  if (check.pass()) return check;
  const double moved = relative_error(tensor.exact_rounded, tensor.exact);
  if (moved > check.tolerance) {
    check.input_rounding = moved;
    check.error = relative_error(tensor.value, tensor.exact_rounded);
  }
  return check;
}

void verify_case(const OpCase& of, const Precision& precision, std::vector<Check>& checks) {
  Check check{.name = of.name, .tensor = "out", .dtype = precision.dtype};
  check.tolerance = precision.tolerance;
  try {
    const OpCase rounded = rounded_to(of, precision.dtype);
    const OpValues values = compute(rounded);
    const OpValues exact = compute(rounded_to(of, DType::float64));
    const OpValues exact_rounded = compute(rounded_to(rounded, DType::float64));
    checks.push_back(
        compare(check, {"out", of.expected.out, values.out, exact.out, exact_rounded.out}));
    for (std::size_t i = 0; i < of.inputs.size(); ++i) {
      const Tensor& expected = of.expected.gradients[i];
      if (!expected.defined()) continue;
      checks.push_back(compare(check, {fmt::format("grad{}", i), expected, values.gradients[i],
                                       exact.gradients[i], exact_rounded.gradients[i]}));
    }
  } catch (const Error& error) {
    check.message = error.what();
    checks.push_back(check);
  }
}

std::vector<Check> verify_ops(const fs::path& path, const TensorFile& file,
                              const Device& /*device*/) {
  std::vector<Check> checks;
  for (const OpCase& of : read_op_cases(path, file)) {
    for (const Precision& precision : precisions) verify_case(of, precision, checks);
  }
  return checks;
}

// ---------------------------------------------------------------------------------------------

constexpr std::array<ReferenceKind, 4> kinds = {
    {{"ops", holds_op_cases, verify_ops},
     {"lut", holds_lut_cases, verify_lut, on_gpus},
     {"ca", holds_automaton_cases, verify_automata, on_gpus},
     {"disks", holds_disk_cases, verify_disks}}};

const ReferenceKind& kind_of(const fs::path& path, const TensorFile& file) {
  std::string known;
  for (const ReferenceKind& kind : kinds) {
    if (kind.recognises(file)) return kind;
    known += (known.empty() ? "" : ", ") + std::string(kind.name);
  }
  const std::string first = file.tensors.empty() ? "none" : "'" + file.tensors.begin()->first + "'";
  fail("verify", "{}: expected reference values of {}, received tensors such as {}", path.string(),
       known, first);
}

bool runs_on(const ReferenceKind& kind, const Device& device) {
  return device.is_cpu() || std::ranges::find(kind.devices, device.backend) != kind.devices.end();
}

std::vector<Check> verify_file(const fs::path& path, const Device& device) {
  const TensorFile file = load_safetensors(path);
  const ReferenceKind& kind = kind_of(path, file);
  if (!runs_on(kind, device)) {
    fail("verify", "{}: reference values of {} cannot be computed on {}", path.string(), kind.name,
         to_string(device));
  }
  return kind.verify(path, file, device);
}

/// Shipped reference values that can be computed on `device`.
std::vector<fs::path> shipped_values(const Device& device) {
  std::vector<fs::path> files = shipped_files("goldens", ".safetensors");
  std::erase_if(files, [&](const fs::path& path) {
    return !device.is_cpu() && !runs_on(kind_of(path, load_safetensors(path)), device);
  });
  if (files.empty()) {
    fail("verify", "no reference values in {}", shipped_folder("goldens").string());
  }
  return files;
}

// ---------------------------------------------------------------------------------------------
// The report

/// The check with the largest error. Failed checks rank before passed ones.
const Check& worst(const std::vector<const Check*>& checks) {
  return **std::ranges::max_element(checks, [](const Check* a, const Check* b) {
    if (a->pass() != b->pass()) return a->pass();
    return a->error < b->error;
  });
}

/// The worst check of each dtype.
std::vector<const Check*> worst_by_dtype(const std::vector<const Check*>& checks) {
  std::vector<const Check*> result;
  for (const Precision& precision : precisions) {
    std::vector<const Check*> of_dtype;
    std::ranges::copy_if(checks, std::back_inserter(of_dtype),
                         [&](const Check* check) { return check->dtype == precision.dtype; });
    if (!of_dtype.empty()) result.push_back(&worst(of_dtype));
  }
  return result;
}

/// The checks of each case, in the order of the cases.
std::vector<std::vector<const Check*>> by_case(const std::vector<Check>& checks) {
  std::vector<std::vector<const Check*>> result;
  for (const Check& check : checks) {
    if (result.empty() || result.back().front()->name != check.name) result.emplace_back();
    result.back().push_back(&check);
  }
  return result;
}

bool all_pass(const std::vector<const Check*>& checks) {
  return std::ranges::all_of(checks, [](const Check* check) { return check->pass(); });
}

void print_heading(const fs::path& path, const std::vector<Check>& checks) {
  fmt::print("{}\n{:<24}", printable(path.string()), "largest relative error");
  for (const Precision& precision : precisions) {
    // The largest one: some values must match exactly.
    double tolerance = -1;
    for (const Check& check : checks) {
      if (check.dtype == precision.dtype) tolerance = std::max(tolerance, check.tolerance);
    }
    if (tolerance < 0) continue;
    fmt::print("  {:<22}", fmt::format("{} ({:.0e})", to_string(precision.dtype), tolerance));
  }
  fmt::print("\n");
}

void print_case(const std::vector<const Check*>& checks) {
  std::string row = fmt::format("{:<24}", printable(checks.front()->name));
  for (const Check* check : worst_by_dtype(checks)) {
    const char* mark = check->input_rounding > 0 ? "*" : "";
    row += fmt::format("  {:<22}", fmt::format("{:.1e}{} {}", check->error, mark, check->tensor));
  }
  fmt::print("{}  {}\n", row, all_pass(checks) ? "ok" : "FAIL");
}

nlohmann::json to_json(const Check& check) {
  nlohmann::json object = {
      {"name", check.name},           {"tensor", check.tensor}, {"dtype", to_string(check.dtype)},
      {"max_error", check.error},  // null if NaN
      {"tolerance", check.tolerance}, {"pass", check.pass()}};
  if (check.input_rounding > 0) object["input_rounding"] = check.input_rounding;
  if (!check.message.empty()) object["message"] = check.message;
  return object;
}

std::string describe(const Check& check) {
  const std::string what = check.message.empty() ? fmt::format("error {:.2e}, tolerance {:.0e}",
                                                               check.error, check.tolerance)
                                                 : check.message;
  return fmt::format("{}/{} in {}: {}", check.name, check.tensor, to_string(check.dtype), what);
}

struct Totals {
  std::size_t cases = 0;
  std::size_t failed = 0;
  std::size_t marked = 0;
  const Check* first_failure = nullptr;
};

void count(const std::vector<std::vector<const Check*>>& cases, Totals& totals) {
  for (const auto& checks : cases) {
    ++totals.cases;
    totals.marked += static_cast<std::size_t>(std::ranges::count_if(
        checks, [](const Check* check) { return check->input_rounding > 0; }));
    if (all_pass(checks)) continue;
    ++totals.failed;
    if (totals.first_failure == nullptr) totals.first_failure = &worst(checks);
  }
}

struct VerifyOptions {
  std::vector<std::string> files;
  Device device = {};
};

int run(const VerifyOptions& options, const CommonOptions& common) {
  check_device(options.device, on_gpus);
  std::vector<fs::path> files(options.files.begin(), options.files.end());
  if (files.empty()) files = shipped_values(options.device);

  std::vector<std::vector<Check>> kept;  // `totals` points into them
  Totals totals;
  nlohmann::json cases = nlohmann::json::array();
  for (const fs::path& file : files) {
    kept.push_back(verify_file(file, options.device));
    const auto grouped = by_case(kept.back());
    count(grouped, totals);
    if (!common.quiet) {
      print_heading(file, kept.back());
      for (const auto& checks : grouped) print_case(checks);
    }
    for (const Check& check : kept.back()) cases.push_back(to_json(check));
  }
  if (!common.quiet && totals.marked > 0) {
    fmt::print(
        "* Rounding the inputs changes the exact result by more than the tolerance. The error is "
        "relative to the exact result of the rounded inputs.\n");
  }
  if (!common.quiet) {
    fmt::print("{} of {} cases within tolerance on {} ({}, {} threads)\n",
               totals.cases - totals.failed, totals.cases, to_string(options.device),
               cpu::instruction_set(), thread_count());
  }
  if (common.json) print_json({{"pass", totals.failed == 0}, {"cases", std::move(cases)}});
  if (totals.failed == 0) return 0;
  fmt::print(stderr, "boolgrad: {} of {} cases exceed the tolerance, first {}\n", totals.failed,
             totals.cases, printable(describe(*totals.first_failure)));
  return 1;
}

}  // namespace

void add_verify(CLI::App& root, CommonOptions& common, Job& job) {
  CLI::App* command = new_command(root, common, "verify",
                                  "Recompute reference values and print the largest errors.",
                                  "boolgrad verify goldens/ops.safetensors --json");
  const auto options = std::make_shared<VerifyOptions>();
  command
      ->add_option("files", options->files,
                   "Files of reference values; those shipped with the program by default")
      ->type_name("FILE");
  add_device(*command, options->device);
  command->callback(
      [options, &common, &job] { job = [options, &common] { return run(*options, common); }; });
}

}  // namespace boolgrad::cli
