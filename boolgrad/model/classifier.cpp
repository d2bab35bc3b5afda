#include "boolgrad/model/classifier.h"

#include <nlohmann/json.hpp>
#include <utility>

#include "boolgrad/autograd/tape.h"
#include "boolgrad/core/fail.h"
#include "boolgrad/options/names.h"

namespace boolgrad {
namespace {

constexpr const char* classifier_key = "classifier";
constexpr const char* offsets_name = "thresholds.heights";
constexpr const char* exponents_name = "head.exponents";
constexpr const char* exponents_key = "exponents";

nlohmann::json to_json(const std::vector<data::Column>& columns) {
  nlohmann::json list = nlohmann::json::array();
  for (const data::Column& column : columns) {
    list.push_back({{"name", column.name}, {"categories", column.categories}});
    if (!column.fill.empty()) list.back()["fill"] = column.fill;
  }
  return list;
}

std::vector<data::Column> columns_in(const nlohmann::json& list) {
  std::vector<data::Column> columns;
  for (const nlohmann::json& column : list) {
    columns.push_back({.name = column.at("name"),
                       .categories = column.at("categories"),
                       .fill = column.value("fill", std::string())});
  }
  return columns;
}

nlohmann::json to_json(const data::CsvStyle& style) {
  return {{"header", style.has_header},
          {"missing", to_string(style.missing)},
          {"encoding", to_string(style.encoding)}};
}

/// Models of older versions have none.
data::CsvStyle style_in(const nlohmann::json& object) {
  if (!object.is_object()) return {};
  const auto missing = data::parse_missing_values(object.at("missing").get<std::string>());
  const auto encoding = data::parse_text_encoding(object.at("encoding").get<std::string>());
  return {.has_header = object.at("header"),
          .missing = missing.value_or(data::MissingValues::refuse),
          .encoding = encoding.value_or(data::TextEncoding::utf8)};
}

}  // namespace

void Classifier::save(TensorFile& file) const {
  thresholds.save(file);
  if (threshold_offsets.defined()) file.tensors[offsets_name] = threshold_offsets.detach();
  if (weight_exponents.defined()) file.tensors[exponents_name] = weight_exponents.detach();
  nlohmann::json object = {{"head", to_string(head.kind)},
                           {"class_count", head.classes},
                           {"temperature", head.temperature},
                           {"low", head.low},
                           {"high", head.high},
                           {"bytes", has_bytes},
                           {"columns", to_json(format.columns)},
                           {"target", format.target},
                           {"classes", format.classes},
                           {"picture", {format.channels, format.height, format.width}}};
  if (!head.exponents.empty()) object[exponents_key] = head.exponents;
  if (!format.columns.empty()) object["csv"] = to_json(format.csv);
  // Names from a data file may contain invalid UTF-8.
  file.metadata[classifier_key] =
      object.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
}

Classifier Classifier::from_file(const TensorFile& file) {
  const auto found = file.metadata.find(classifier_key);
  const std::string text = found == file.metadata.end() ? "" : found->second;
  Classifier result{logic::Thresholds::from_file(file), {}, {}};
  const auto offsets = file.tensors.find(offsets_name);
  if (offsets != file.tensors.end()) result.threshold_offsets = parameter(offsets->second.clone());
  const auto exponents = file.tensors.find(exponents_name);
  if (exponents != file.tensors.end()) {
    result.weight_exponents = parameter(exponents->second.clone());
  }
  try {
    const nlohmann::json object = nlohmann::json::parse(text);
    result.head = {.kind = head_kind_of("classifier", object.at("head").get<std::string>()),
                   .classes = object.at("class_count"),
                   .temperature = object.at("temperature"),
                   .low = object.at("low"),
                   .high = object.at("high"),
                   .exponents = object.value(exponents_key, std::vector<std::int32_t>{})};
    result.has_bytes = object.at("bytes");
    result.format.columns = columns_in(object.at("columns"));
    result.format.csv = style_in(object.value("csv", nlohmann::json()));
    result.format.target = object.at("target");
    result.format.classes = object.at("classes").get<std::vector<std::string>>();
    result.format.channels = object.at("picture").at(0);
    result.format.height = object.at("picture").at(1);
    result.format.width = object.at("picture").at(2);
  } catch (const nlohmann::json::exception&) {
    fail("classifier", "invalid description of the classifier in the metadata: '{}'", text);
  }
  return result;
}

}  // namespace boolgrad
