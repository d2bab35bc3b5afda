#include "boolgrad/cli/reference.h"

#include <utility>

#include "boolgrad/cli/op_cases.h"
#include "boolgrad/core/fail.h"

namespace boolgrad::cli {

ReferenceCase::ReferenceCase(const std::filesystem::path& path, const TensorFile& file,
                             std::string name)
    : path_(path), file_(file), name_(std::move(name)) {
  const auto found = file.metadata.find(name_);
  if (found != file.metadata.end()) {
    settings_ = nlohmann::json::parse(found->second, nullptr, false);
  }
  if (!settings_.is_object()) settings_ = nlohmann::json::object();
}

bool ReferenceCase::has(const std::string& part) const {
  return file_.tensors.contains(name_ + "/" + part);
}

const Tensor& ReferenceCase::tensor(const std::string& part) const {
  const auto found = file_.tensors.find(name_ + "/" + part);
  if (found == file_.tensors.end()) {
    fail("verify", "{}: tensor {}/{} is missing", path_.string(), name_, part);
  }
  return found->second;
}

std::set<std::string> case_names(const TensorFile& file, std::string_view mark) {
  std::set<std::string> names;
  for (const auto& [name, tensor] : file.tensors) {
    if (name.ends_with(mark)) names.insert(name.substr(0, name.size() - mark.size()));
  }
  return names;
}

void Comparison::add(const std::string& tensor, const Tensor& value, const Tensor& reference,
                     double tolerance) const {
  Check check{.name = name_, .tensor = tensor, .dtype = precision_.dtype};
  check.tolerance = tolerance;
  if (value.size() == reference.size()) {
    check.error = relative_error(value, reference);
  } else {
    check.message =
        fmt::format("expected {} elements, received {}", reference.size(), value.size());
  }
  checks_.push_back(check);
}

}  // namespace boolgrad::cli
