#include "boolgrad/model/classifier.h"

#include <nlohmann/json.hpp>
#include <utility>

#include "boolgrad/autograd/tape.h"
#include "boolgrad/core/error.h"

namespace boolgrad {
namespace {

constexpr const char* classifier_key = "classifier";
constexpr const char* offsets_name = "thresholds.heights";

nlohmann::json to_json(const std::vector<Column>& columns) {
  nlohmann::json list = nlohmann::json::array();
  for (const Column& column : columns) {
    list.push_back({{"name", column.name}, {"categories", column.categories}});
  }
  return list;
}

std::vector<Column> columns_in(const nlohmann::json& list) {
  std::vector<Column> columns;
  for (const nlohmann::json& column : list) {
    columns.push_back({column.at("name"), column.at("categories")});
  }
  return columns;
}

}  // namespace

void Classifier::save(TensorFile& file) const {
  thresholds.save(file);
  if (threshold_offsets.defined()) file.tensors[offsets_name] = threshold_offsets.detach();
  const nlohmann::json object = {{"head", to_string(head.kind)},
                                 {"class_count", head.classes},
                                 {"temperature", head.temperature},
                                 {"low", head.low},
                                 {"high", head.high},
                                 {"bytes", has_bytes},
                                 {"columns", to_json(form.columns)},
                                 {"target", form.target},
                                 {"classes", form.classes},
                                 {"picture", {form.channels, form.height, form.width}}};
  // Names from a file may hold bytes that are no text.
  file.metadata[classifier_key] =
      object.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
}

Classifier Classifier::from_file(const TensorFile& file) {
  const auto found = file.metadata.find(classifier_key);
  const std::string text = found == file.metadata.end() ? "" : found->second;
  Classifier result{Thresholds::from_file(file), {}, {}};
  const auto offsets = file.tensors.find(offsets_name);
  if (offsets != file.tensors.end()) result.threshold_offsets = parameter(offsets->second.clone());
  try {
    const nlohmann::json object = nlohmann::json::parse(text);
    result.head = {.kind = head_kind_of("classifier", object.at("head").get<std::string>()),
                   .classes = object.at("class_count"),
                   .temperature = object.at("temperature"),
                   .low = object.at("low"),
                   .high = object.at("high")};
    result.has_bytes = object.at("bytes");
    result.form.columns = columns_in(object.at("columns"));
    result.form.target = object.at("target");
    result.form.classes = object.at("classes").get<std::vector<std::string>>();
    result.form.channels = object.at("picture").at(0);
    result.form.height = object.at("picture").at(1);
    result.form.width = object.at("picture").at(2);
  } catch (const nlohmann::json::exception&) {
    fail("classifier", "expected a head and the form of the data in the metadata, received '{}'",
         text);
  }
  return result;
}

}  // namespace boolgrad
