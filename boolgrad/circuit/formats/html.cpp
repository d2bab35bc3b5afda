#include "boolgrad/circuit/formats/html.h"

#include <array>
#include <cstdint>
#include <nlohmann/json.hpp>
#include <span>
#include <utility>

#include "boolgrad/circuit/formats/page_parts.h"
#include "boolgrad/circuit/formats/text.h"
#include "boolgrad/core/fail.h"

namespace boolgrad::circuit {
namespace {

constexpr const char* where = "html";
constexpr std::string_view model_begins = R"(<script id="model" type="application/json">)";
constexpr std::string_view model_ends = "</script>";

/// Escapes text for HTML.
std::string as_html(std::string_view text) {
  std::string html;
  for (const char c : text) {
    switch (c) {
      case '&': html += "&amp;"; break;
      case '<': html += "&lt;"; break;
      case '>': html += "&gt;"; break;
      case '"': html += "&quot;"; break;
      default: html += c;
    }
  }
  return html;
}

/// JSON for a script element. Characters that could end the element occur only in strings, where
/// they are escaped.
std::string as_script_data(const nlohmann::json& json) {
  // Bytes that are not UTF-8 become replacement characters.
  constexpr auto replace = nlohmann::json::error_handler_t::replace;
  std::string text;
  for (const char c : json.dump(-1, ' ', true, replace)) {
    switch (c) {
      case '<': text += "\\u003c"; break;
      case '>': text += "\\u003e"; break;
      case '&': text += "\\u0026"; break;
      default: text += c;
    }
  }
  return text;
}

using Parts = std::array<std::pair<std::string_view, std::string_view>, 4>;

/// The skeleton with its placeholders filled in. Inserted text is not searched again.
std::string filled(std::string_view skeleton, const Parts& parts) {
  std::string page;
  for (std::size_t at = 0; at < skeleton.size();) {
    bool found = false;
    for (const auto& [mark, text] : parts) {
      if (found || !skeleton.substr(at).starts_with(mark)) continue;
      page += text;
      at += mark.size();
      found = true;
    }
    if (!found) page += skeleton[at++];
  }
  return page;
}

nlohmann::json numbers(const std::vector<HtmlNumber>& given, const char* name, std::size_t bits) {
  std::size_t sum = 0;
  nlohmann::json list = nlohmann::json::array();
  for (const HtmlNumber& number : given) {
    sum += number.bits;
    list.push_back({{"name", number.name}, {"bits", number.bits}});
  }
  if (given.empty()) {
    list.push_back({{"name", name}, {"bits", bits}});
    return list;
  }
  if (sum != bits)
    fail(where, "expected numbers of {} bits in total for {}, received {}", bits, name, sum);
  return list;
}

/// [channel][row], each a string of 0 and 1.
nlohmann::json rows_of(const Tensor& bits) {
  const std::span<const std::uint8_t> values = bits.values<std::uint8_t>();
  const auto width = static_cast<std::size_t>(bits.shape()[2]);
  nlohmann::json channels = nlohmann::json::array();
  std::size_t at = 0;
  for (std::int64_t c = 0; c < bits.shape()[0]; ++c) {
    nlohmann::json rows = nlohmann::json::array();
    for (std::int64_t y = 0; y < bits.shape()[1]; ++y) {
      std::string row;
      for (std::size_t x = 0; x < width; ++x) row += values[at++] != 0 ? '1' : '0';
      rows.push_back(row);
    }
    channels.push_back(rows);
  }
  return channels;
}

nlohmann::json target_of(const HtmlAutomaton& page, std::int64_t channels) {
  if (!page.target.defined()) return nullptr;
  const Shape& shape = page.target.shape();
  if (shape.size() != 3 || page.target.dtype() != DType::uint8 || shape[0] < 1 ||
      shape[0] > channels || shape[1] < 1 || shape[2] < 1) {
    fail(where, "expected a target of uint8 [1 to {}, height, width], received {} {}", channels,
         to_string(page.target.dtype()), to_string(shape));
  }
  return {{"rows", rows_of(page.target)}, {"tiled", page.repeats_target}};
}

nlohmann::json automaton_of(const HtmlAutomaton& page, std::int64_t channels) {
  if (page.height < 1 || page.width < 1) {
    fail(where, "expected at least one cell, received {}x{}", page.height, page.width);
  }
  if (page.states < 2 || (page.states > 2 && page.states != channels + 1)) {
    fail(where, "expected 2 states, or one more than the {} channels, received {}", channels,
         page.states);
  }
  if (!(page.fire_rate >= 0 && page.fire_rate <= 1)) {
    fail(where, "expected a fire rate from 0 to 1, received {}", page.fire_rate);
  }
  return {
      {"height", page.height},
      {"width", page.width},
      {"start", page.start == HtmlStart::random ? "random" : "seed"},
      {"states", page.states},
      {"seed", page.seed},
      {"fireRate", page.fire_rate},
      {"steps", page.trained_steps},
      {"streams",
       {{"start", page.start_stream}, {"fire", page.fire_stream}, {"damage", page.damage_stream}}},
      {"colours", page.shows_colours && channels >= 3},
      {"target", target_of(page, channels)}};
}

nlohmann::json classifier_of(const HtmlClassifier& page) {
  const auto outputs = std::ssize(page.core.outputs);
  nlohmann::json columns = nlohmann::json::array();
  for (const HtmlColumn& column : page.columns) {
    columns.push_back({{"name", column.name}, {"categories", column.categories}});
  }
  nlohmann::json weights = nlohmann::json::array();
  for (std::int64_t i = 0; i < outputs; ++i) {
    weights.push_back(page.head.weight(static_cast<std::size_t>(i)));
  }
  nlohmann::json largest = nlohmann::json::array();
  for (std::int64_t g = 0; g < page.head.groups(); ++g) {
    largest.push_back(page.head.largest_sum(g, outputs));
  }
  const char* kind = page.head.kind == HeadKind::classes ? "classes"
                     : page.head.has_votes()             ? "votes"
                                                         : "regression";
  return {{"core", to_text(page.core)},    {"kind", kind},
          {"classes", page.head.classes},  {"names", page.classes},
          {"low", page.head.low},          {"high", page.head.high},
          {"weights", std::move(weights)}, {"largest", std::move(largest)},
          {"sources", page.sources},       {"thresholds", page.thresholds},
          {"features", page.features},     {"bytes", page.has_bytes},
          {"columns", std::move(columns)}, {"image", {page.channels, page.height, page.width}}};
}

}  // namespace

std::string to_html(const Netlist& netlist, const HtmlOptions& options) {
  nlohmann::json model = {{"netlist", to_text(netlist)}, {"gatesBefore", options.gates_before}};
  if (netlist.state) {
    model["automaton"] = automaton_of(options.automaton, netlist.state->channels);
  } else {
    model["circuit"] = {{"inputs", numbers(options.inputs, "x", netlist.inputs.size())},
                        {"outputs", numbers(options.outputs, "y", netlist.outputs.size())}};
    if (options.classifier) model["classifier"] = classifier_of(*options.classifier);
  }
  const std::string data = as_script_data(model);
  const std::string title = as_html(netlist.name.empty() ? "circuit" : netlist.name);
  return filled(page_skeleton, {{{"@title@", title},
                                 {"@style@", page_style},
                                 {"@model@", data},
                                 {"@script@", page_script}}});
}

Netlist netlist_from_html(std::string_view html, const std::string& file) {
  const std::size_t mark = html.find(model_begins);
  const std::size_t begin = mark == std::string_view::npos ? mark : mark + model_begins.size();
  const std::size_t end = mark == std::string_view::npos ? mark : html.find(model_ends, begin);
  if (end == std::string_view::npos) {
    fail(where, "{}: expected an HTML file written by boolgrad, received one without a model",
         file);
  }
  const auto model = nlohmann::json::parse(html.substr(begin, end - begin), nullptr, false);
  if (!model.is_object() || !model.contains("netlist") || !model["netlist"].is_string()) {
    fail(where, "{}: expected a netlist in the model of the page, received none", file);
  }
  return netlist_from_text(model["netlist"].get<std::string>(), file);
}

}  // namespace boolgrad::circuit
