#include "boolgrad/model/classifier.h"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <numeric>
#include <utility>

#include "boolgrad/autograd/tape.h"
#include "boolgrad/core/error.h"
#include "boolgrad/ops/shaping.h"

namespace boolgrad {
namespace {

constexpr const char* classifier_key = "classifier";
// Samples of one soft forward pass: bounds its memory.
constexpr std::int64_t most_samples = 4096;

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

double squared_error(const std::vector<double>& predicted, const Tensor& labels) {
  double total = 0;
  for (std::size_t i = 0; i < predicted.size(); ++i) {
    const double off = predicted[i] - labels.at(static_cast<std::int64_t>(i));
    total += off * off;
  }
  return total / static_cast<double>(predicted.size());
}

double variance(const Tensor& labels) {
  double mean = 0;
  for (std::int64_t i = 0; i < labels.size(); ++i) mean += labels.at(i);
  const std::vector<double> constant(static_cast<std::size_t>(labels.size()),
                                     mean / static_cast<double>(labels.size()));
  return squared_error(constant, labels);
}

std::int64_t wrong_classes(const std::vector<double>& predicted, const Tensor& labels) {
  std::int64_t wrong = 0;
  for (std::size_t i = 0; i < predicted.size(); ++i) {
    wrong += predicted[i] != labels.at(static_cast<std::int64_t>(i)) ? 1 : 0;
  }
  return wrong;
}

}  // namespace

void Classifier::save(TensorFile& file) const {
  thresholds.save(file);
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

Tensor columns_of_rows(const Tensor& rows, std::span<const std::int64_t> picked, DType dtype) {
  const auto width = static_cast<std::size_t>(rows.shape()[1]);
  const auto from = rows.values<std::uint8_t>();
  Tensor result({rows.shape()[1], std::ssize(picked)}, dtype);
  visit_dtype(dtype, [&](auto zero) {
    using T = decltype(zero);
    const auto to = result.mutable_values<T>();
    for (std::size_t s = 0; s < picked.size(); ++s) {
      const auto row = from.subspan(static_cast<std::size_t>(picked[s]) * width, width);
      for (std::size_t b = 0; b < width; ++b) to[b * picked.size() + s] = convert<T>(row[b]);
    }
  });
  return result;
}

Predictions predict(const LogicNetwork& network, const Classifier& classifier,
                    const SampleSet& samples) {
  const NoGrad off_the_tape;
  const Head& head = classifier.head;
  Predictions result;
  const Tensor rows = classifier.thresholds.bytes_of(samples.features);
  for (std::int64_t begin = 0; begin < samples.count(); begin += most_samples) {
    const std::int64_t end = std::min(begin + most_samples, samples.count());
    std::vector<std::int64_t> picked(static_cast<std::size_t>(end - begin));
    std::iota(picked.begin(), picked.end(), begin);
    const Tensor y = network.soft(columns_of_rows(rows, picked, network.dtype()));
    const Tensor labels = slice(samples.labels, 0, begin, end);
    result.soft_loss += head_loss(head, y, labels).item() * static_cast<double>(end - begin);
    const Tensor sums = cast(group_sums(y, head.groups()), DType::float64);
    const std::vector<double> part = predictions(head, sums, network.outputs());
    result.soft.insert(result.soft.end(), part.begin(), part.end());
  }
  result.soft_loss /= static_cast<double>(samples.count());
  const BitMatrix bits = classifier.thresholds.bits_of(samples.features);
  result.hard =
      predictions(head, group_counts(network.hard(bits), head.groups()), network.outputs());
  return result;
}

Evaluation evaluation_of(const Predictions& predicted, const Head& head, const Tensor& labels) {
  Evaluation result;
  result.soft_loss = predicted.soft_loss;
  if (head.kind == HeadKind::regression) {
    const double all = variance(labels);
    const auto explained = [&](double error) { return all > 0 ? 1 - error / all : 0; };
    result.hard_loss = squared_error(predicted.hard, labels);
    result.soft_accuracy = explained(squared_error(predicted.soft, labels));
    result.hard_accuracy = explained(result.hard_loss);
  } else {
    const auto count = static_cast<double>(labels.size());
    const std::int64_t wrong = wrong_classes(predicted.hard, labels);
    result.hard_loss = static_cast<double>(wrong);
    result.soft_accuracy = 1 - static_cast<double>(wrong_classes(predicted.soft, labels)) / count;
    result.hard_accuracy = 1 - result.hard_loss / count;
  }
  result.bit_accuracy = result.hard_accuracy;
  return result;
}

std::vector<std::vector<std::int64_t>> confusion(const std::vector<double>& predicted,
                                                 const Tensor& labels, std::int64_t classes) {
  const auto count = static_cast<std::size_t>(classes);
  std::vector<std::vector<std::int64_t>> result(count, std::vector<std::int64_t>(count, 0));
  const auto wanted = labels.values<std::int32_t>();
  for (std::size_t i = 0; i < predicted.size(); ++i) {
    ++result.at(static_cast<std::size_t>(wanted[i])).at(static_cast<std::size_t>(predicted[i]));
  }
  return result;
}

}  // namespace boolgrad
