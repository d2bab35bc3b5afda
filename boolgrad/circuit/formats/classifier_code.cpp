#include "boolgrad/circuit/formats/classifier_code.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cctype>
#include <cmath>
#include <iterator>
#include <limits>
#include <set>

#include "boolgrad/circuit/encoder.h"
#include "boolgrad/circuit/formats/c99.h"
#include "boolgrad/circuit/formats/net_names.h"
#include "boolgrad/circuit/formats/verilog_cases.h"
#include "boolgrad/circuit/group_sums.h"
#include "boolgrad/core/fail.h"
#include "boolgrad/core/random.h"
#include "boolgrad/core/text.h"

namespace boolgrad::circuit {
namespace {

constexpr const char* where = "classifier";

void check_ports(std::size_t inputs, const ClassifierPorts& ports) {
  if (static_cast<std::int64_t>(inputs) != ports.thresholds.bits()) {
    fail(where, "expected a circuit of {} inputs, received {}", ports.thresholds.bits(), inputs);
  }
}

std::string upper_case(std::string text) {
  for (char& c : text) c = static_cast<char>(std::toupper(static_cast<unsigned char>(c)));
  return text;
}

/// A line for each name with an identifier that is unique: `opening` and the name.
template <class Line>
std::string lines_of(const std::string& opening, const std::vector<std::string>& names, Line line) {
  NetNames taken;
  std::string text;
  for (std::size_t i = 0; i < names.size(); ++i) text += line(taken.take(opening + names[i]), i);
  return text;
}

/// A string literal of C.
std::string c_string(const std::string& name) {
  std::string text = "\"";
  for (const char c : printable(name)) {
    if (c == '"' || c == '\\' || c == '?') text += '\\';  // ? may begin a trigraph
    text += c;
  }
  return text + '"';
}

/// Names as an enumeration and as a function from index to name.
std::string c_names(const std::string& name, const std::string& kind,
                    const std::vector<std::string>& names) {
  if (names.empty()) return "";
  const std::string upper = upper_case(name);
  std::string strings;
  for (const std::string& own : names) strings += fmt::format("    {},\n", c_string(own));
  return fmt::format(
      "\nenum {{\n{}}};\n\n"
      "/* The name of a {}; an empty string for another index. */\n"
      "static inline const char *{}_{}_name(int32_t index)\n{{\n"
      "  static const char *const names[] = {{\n{}  }};\n"
      "  return index >= 0 && index < {} ? names[index] : \"\";\n}}\n",
      lines_of(fmt::format("{}_{}_", upper, upper_case(kind)), names,
               [](const std::string& own, std::size_t i) {
                 return fmt::format("  {} = {},\n", own, i);
               }),
      kind, name, kind, strings, names.size());
}

/// A list of numbers, sixteen per line.
template <class F>
std::string list_of(std::size_t count, F text_of) {
  std::string text;
  for (std::size_t i = 0; i < count; ++i) {
    text += fmt::format("{}{},", i % 16 == 0 ? "\n  " : " ", text_of(i));
  }
  return text + "\n";
}

/// Names, one per line, with comment delimiters replaced.
std::string named(std::string_view what, const std::vector<std::string>& names) {
  std::string text;
  for (std::size_t i = 0; i < names.size(); ++i) {
    std::string name = printable(names[i]);
    for (std::size_t at = 0; (at = name.find("*/", at)) != std::string::npos;) name[at + 1] = '_';
    for (std::size_t at = 0; (at = name.find("/*", at)) != std::string::npos;) name[at] = '_';
    text += fmt::format(" *   {} {}  {}\n", what, i, name);
  }
  return text;
}

// Placeholders are words between @, which cannot occur in names.
constexpr std::string_view classifier_template = R"(
#define @NAME@_FEATURES @features@
#define @NAME@_GROUPS @groups@
#define @NAME@_DIGITS @digits@
typedef @type@ @name@_feature;

/* Input i of the circuit is 1 where feature @name@_sources[i] exceeds @name@_thresholds[i]. */
static const uint32_t @name@_sources[@NAME@_INPUTS] = {@sources@};
static const @threshold_type@ @name@_thresholds[@NAME@_INPUTS] = {@thresholds@};
@tables@
/* The outputs of up to 64 samples, one bit per sample. */
static inline void @name@_block(const @name@_feature *x, size_t count, uint64_t *out)
{
  uint64_t in[@NAME@_INPUTS];
  size_t i, s;
  for (i = 0; i < @NAME@_INPUTS; ++i) {
    const @name@_feature *feature = x + @name@_sources[i];
    uint64_t word = 0;
    for (s = 0; s < count; ++s) {
      word |= (uint64_t)(feature[s * @NAME@_FEATURES] > @name@_thresholds[i]) << s;
    }
    in[i] = word;
  }
  @name@_eval(in, out);
}

/* Counts the ones in each of @NAME@_GROUPS groups of outputs@weighted@. digits[g][d] holds binary
 * digit d of group g, one bit per sample. */
static inline void @name@_count(const uint64_t *out, uint64_t digits[][@NAME@_DIGITS])
{
  const size_t size = @NAME@_OUTPUTS / @NAME@_GROUPS;
  size_t g, i, d;
  for (g = 0; g < @NAME@_GROUPS; ++g) {
    for (d = 0; d < @NAME@_DIGITS; ++d) digits[g][d] = 0;
    for (i = g * size; i < (g + 1) * size; ++i) {
      uint64_t carry = out[i];
      for (d = @first@; carry != 0 && d < @NAME@_DIGITS; ++d) {
        const uint64_t both = digits[g][d] & carry;
        digits[g][d] ^= carry;
        carry = both;
      }
    }
  }
}

/* @task@ of samples. x is [samples][features].
@names@ */
static inline void @name@_@verb@(const @name@_feature *x, size_t samples, @result@ *results)
{
  uint64_t out[@NAME@_OUTPUTS];
  uint64_t digits[@NAME@_GROUPS][@NAME@_DIGITS];
  size_t first, s, g, d;
  for (first = 0; first < samples; first += 64) {
    const size_t count = samples - first < 64 ? samples - first : 64;
    @name@_block(x + first * @NAME@_FEATURES, count, out);
    @name@_count(out, digits);
    for (s = 0; s < count; ++s) {
      @start@
      for (g = 0; g < @NAME@_GROUPS; ++g) {
        int32_t sum = 0;
        for (d = 0; d < @NAME@_DIGITS; ++d) sum |= (int32_t)((digits[g][d] >> s) & 1) << d;
        @use@
      }
      results[first + s] = @value@;
    }
  }
}
)";

void replace_all(std::string& text, std::string_view from, std::string_view to) {
  for (std::size_t at = 0; (at = text.find(from, at)) != std::string::npos; at += to.size()) {
    text.replace(at, from.size(), to);
  }
}

/// The C of a head: tables, declarations, the use of `sum` of group g, and the result.
struct HeadCode {
  std::string tables;
  std::string start;
  std::string use;
  std::string value;
};

/// The largest sum of each group.
std::vector<std::int64_t> largest_sums(const Head& head, std::int64_t outputs) {
  std::vector<std::int64_t> sums;
  for (std::int64_t g = 0; g < head.groups(); ++g) sums.push_back(head.largest_sum(g, outputs));
  return sums;
}

HeadCode head_code(const Head& head, std::int64_t outputs) {
  const std::vector<std::int64_t> largest = largest_sums(head, outputs);
  std::string exponents;
  if (!head.exponents.empty()) {
    exponents = fmt::format(
        "\n/* Output i counts 1 << @name@_exponents[i] times. */\n"
        "static const uint8_t @name@_exponents[@NAME@_OUTPUTS] = {{{}}};\n",
        list_of(head.exponents.size(), [&](std::size_t i) { return head.exponents[i]; }));
  }
  if (head.kind == HeadKind::classes) {
    return {
        exponents, "int32_t best = 0;\n      int32_t largest = -1;",
        "if (sum > largest) {\n          largest = sum;\n          best = (int32_t)g;\n        }",
        "best"};
  }
  if (head.has_votes()) {
    const std::int64_t last = head.classes - 1;
    const std::string all = fmt::format(
        "\n/* The largest sums of the groups. */\n"
        "static const int32_t @name@_largest[@NAME@_GROUPS] = {{{}}};\n",
        list_of(largest.size(), [&](std::size_t g) { return largest[g]; }));
    return {exponents + all, "int32_t number = 0;",
            "number |= (int32_t)(2 * sum > @name@_largest[g]) << g;",
            fmt::format("number < {} ? number : {}", last, last)};
  }
  return {exponents, "int32_t total = 0;", "total += sum;",
          fmt::format("{:a} + {:a} * total / {}.0", head.low, head.high - head.low, largest[0])};
}

std::string wrapper(const std::string& circuit_name, std::size_t outputs,
                    const ClassifierPorts& ports) {
  const std::string name = identifier(circuit_name.empty() ? "circuit" : circuit_name);
  const bool has_classes = ports.head.kind != HeadKind::regression;
  const auto sources = ports.thresholds.sources();
  const auto thresholds = ports.thresholds.values().values<float>();
  std::string text(classifier_template);
  replace_all(text, "@sources@",
              list_of(sources.size(), [&](std::size_t i) { return sources[i]; }));
  replace_all(text, "@thresholds@", list_of(thresholds.size(), [&](std::size_t i) {
                return ports.has_bytes ? fmt::format("{}", byte_threshold(thresholds[i]))
                                       : fmt::format("{:a}F", thresholds[i]);
              }));
  replace_all(text, "@type@", ports.has_bytes ? "uint8_t" : "float");
  replace_all(text, "@threshold_type@", ports.has_bytes ? "int16_t" : "float");
  replace_all(text, "@features@", std::to_string(ports.thresholds.features()));
  replace_all(text, "@task@", has_classes ? "Classes" : "Values");
  replace_all(text, "@verb@", has_classes ? "classify" : "predict");
  replace_all(text, "@result@", has_classes ? "int32_t" : "double");
  const HeadCode head = head_code(ports.head, static_cast<std::int64_t>(outputs));
  const bool has_weights = !ports.head.exponents.empty();
  replace_all(text, "@tables@", head.tables);
  replace_all(text, "@first@", has_weights ? "@name@_exponents[i]" : "0");
  replace_all(text, "@weighted@", has_weights ? ", with their weights" : "");
  replace_all(text, "@start@", head.start);
  replace_all(text, "@use@", head.use);
  replace_all(text, "@value@", head.value);
  const auto groups = static_cast<std::size_t>(ports.head.groups());
  const std::int64_t largest =
      std::ranges::max(largest_sums(ports.head, static_cast<std::int64_t>(outputs)));
  const auto digits = std::bit_width(static_cast<std::uint64_t>(largest));
  replace_all(text, "@groups@", std::to_string(groups));
  replace_all(text, "@digits@", std::to_string(digits));
  replace_all(text, "@NAME@", upper_case(name));
  replace_all(text, "@name@", name);
  // Last, because names from a file may look like placeholders.
  const std::string names = named("feature", ports.features) + named("class", ports.classes);
  const std::size_t at = text.find("@names@");
  text.replace(at, 8, names);  // with the line break
  text += c_names(name, "feature", ports.features);
  return has_classes ? text + c_names(name, "class", ports.classes) : text;
}

/// The header of a circuit with thresholds and head.
std::string with_wrapper(std::string header, const std::string& wrapper) {
  const std::string_view end = "\n#endif\n";
  header.insert(header.size() - end.size(), wrapper);
  return header;
}

std::string comparison(std::int32_t source, float threshold, bool has_bytes) {
  if (!has_bytes)
    return fmt::format("ordered(x[{} +: 32]) > 32'h{:08x}", 32 * source, ordered_key(threshold));
  const int whole = byte_threshold(threshold);
  if (whole < 0) return "1'b1";
  return fmt::format("x[{} +: 8] > 8'd{}", 8 * source, whole);
}

/// The module NAME_classifier: thresholds in front of a circuit with a head.
std::string classifier_module(const std::string& name, std::size_t outputs,
                              const ClassifierPorts& ports) {
  const auto sources = ports.thresholds.sources();
  const auto thresholds = ports.thresholds.values().values<float>();
  const int width = ports.has_bytes ? 8 : 32;
  std::string text = fmt::format(
      "\n// Feature i is x[{} * i +: {}]{}.\nmodule {}_classifier (\n  input wire [{}:0] x,\n"
      "  output wire [{}:0] out\n);\n",
      width, width, ports.has_bytes ? "" : ", an IEEE 754 float", name,
      width * ports.thresholds.features() - 1, outputs - 1);
  const auto parameter = [](const std::string& own, std::size_t i) {
    return fmt::format("  localparam {} = {};\n", own, i);
  };
  text += lines_of("FEATURE_", ports.features, parameter);
  if (ports.head.kind != HeadKind::regression) text += lines_of("CLASS_", ports.classes, parameter);
  if (!ports.has_bytes) {
    text +=
        "  // An integer key with the order of the floats.\n  function [31:0] ordered(input [31:0] "
        "v);"
        "\n    ordered = v[31] ? ~v : v ^ 32'h80000000;\n  endfunction\n";
  }
  // One assignment: simulators wake all readers of a vector whenever a part of it is assigned.
  fmt::format_to(std::back_inserter(text), "  wire [{}:0] bits = {{\n", sources.size() - 1);
  for (std::size_t b = sources.size(); b-- > 0;) {
    fmt::format_to(std::back_inserter(text), "    {}{}\n",
                   comparison(sources[b], thresholds[b], ports.has_bytes), b > 0 ? "," : "};");
  }
  fmt::format_to(std::back_inserter(text), "  {} circuit (.in(bits), .out(out));\nendmodule\n",
                 name);
  return text;
}

/// Samples whose features are at thresholds, or next to them: different ones, one per vector. A
/// feature without a threshold is 0.
std::vector<VerilogBitVector> samples_of(const ClassifierPorts& ports) {
  const auto sources = ports.thresholds.sources();
  const auto thresholds = ports.thresholds.values().values<float>();
  const auto features = static_cast<std::size_t>(ports.thresholds.features());
  std::vector<std::vector<std::uint32_t>> values(features);  // as bytes, or as bits of floats
  for (std::size_t b = 0; b < sources.size(); ++b) {
    auto& own = values[static_cast<std::size_t>(sources[b])];
    if (ports.has_bytes) {
      const int whole = byte_threshold(thresholds[b]);
      for (const int value : {whole, whole + 1}) {
        if (value >= 0 && value <= 255) own.push_back(static_cast<std::uint32_t>(value));
      }
    } else {
      constexpr float infinity = std::numeric_limits<float>::infinity();
      for (const float value : {thresholds[b], std::nextafter(thresholds[b], infinity)}) {
        own.push_back(std::bit_cast<std::uint32_t>(value));
      }
    }
  }
  const std::size_t width = ports.has_bytes ? 8 : 32;
  std::set<VerilogBitVector> known;
  std::vector<VerilogBitVector> samples;
  // Few thresholds have few combinations.
  for (std::uint32_t step = 0; step < 4 * random_bench_cases; ++step) {
    VerilogBitVector bits;
    for (std::size_t f = 0; f < features; ++f) {
      const std::uint64_t choice =
          values[f].empty() ? 0
                            : random_below({.seed = 1, .step = step, .index = f}, values[f].size());
      const std::uint32_t value = values[f].empty() ? 0 : values[f][choice];
      for (std::size_t i = 0; i < width; ++i) bits.push_back((value >> i & 1) != 0);
    }
    if (known.insert(bits).second) samples.push_back(std::move(bits));
    if (samples.size() == random_bench_cases) break;
  }
  return samples;
}

/// The bits that the thresholds give for a sample.
VerilogBitVector bits_of(const VerilogBitVector& sample, const ClassifierPorts& ports) {
  const auto sources = ports.thresholds.sources();
  const auto thresholds = ports.thresholds.values().values<float>();
  const std::size_t width = ports.has_bytes ? 8 : 32;
  VerilogBitVector bits;
  for (std::size_t b = 0; b < sources.size(); ++b) {
    std::uint32_t value = 0;
    for (std::size_t i = 0; i < width; ++i) {
      const std::size_t at = static_cast<std::size_t>(sources[b]) * width + i;
      value |= std::uint32_t{sample[at] ? 1U : 0U} << i;
    }
    bits.push_back(ports.has_bytes ? static_cast<int>(value) > byte_threshold(thresholds[b])
                                   : std::bit_cast<float>(value) > thresholds[b]);
  }
  return bits;
}

/// A test bench of the circuit and of the module with thresholds in front of it. `netlist` includes
/// the head.
std::string classifier_bench(const Netlist& netlist, const std::string& name,
                             const ClassifierPorts& ports) {
  const std::vector<VerilogBitVector> samples = samples_of(ports);
  std::vector<VerilogBitVector> bits;
  for (const VerilogBitVector& sample : samples) bits.push_back(bits_of(sample, ports));
  const VerilogCases plain = test_cases(netlist);
  const VerilogCases whole =
      cases_of(samples[0].size(), samples, outputs_of(netlist, bits), "_of_samples");
  const std::size_t last_out = netlist.outputs.size() - 1;
  return fmt::format(
             "`timescale 1ns/1ps\nmodule {0}_tb;\n  reg [{1}:0] in;\n  wire [{2}:0] out;\n"
             "  reg [{3}:0] in_of_samples;\n  wire [{2}:0] out_of_samples;\n  integer i;\n"
             "  integer errors = 0;\n  {0} dut (.in(in), .out(out));\n"
             "  {0}_classifier whole (.x(in_of_samples), .out(out_of_samples));\n{4}{5}"
             "  initial begin\n{6}{7}{8}{9}",
             name, netlist.inputs.size() - 1, last_out, samples[0].size() - 1, plain.declarations,
             whole.declarations, plain.loading, whole.loading, bench_loop(plain.count),
             bench_loop(whole.count, "_of_samples")) +
         bench_closing(plain.count + whole.count);
}

}  // namespace

Netlist with_head(const Netlist& netlist, const Head& head, logic::AdderGates adders) {
  switch (head.kind) {
    case HeadKind::classes: return with_argmax(netlist, head.classes, head.exponents, adders);
    case HeadKind::binary:
    case HeadKind::bits:
      return with_votes(netlist, head.groups(), head.classes, head.exponents, adders);
    case HeadKind::regression: return with_group_sums(netlist, 1, head.exponents, adders);
  }
  fail(where, "unknown head {}", static_cast<int>(head.kind));
}

std::string classifier_c(const Netlist& netlist, const ClassifierPorts& ports) {
  check_ports(netlist.inputs.size(), ports);
  return with_wrapper(to_c(netlist), wrapper(netlist.name, netlist.outputs.size(), ports));
}

std::string classifier_c(const SharedCircuit& circuit, const ClassifierPorts& ports) {
  check_ports(circuit.inputs.size(), ports);
  return with_wrapper(to_c(circuit), wrapper(circuit.name, circuit.rest.outputs.size(), ports));
}

Verilog classifier_verilog(const Netlist& netlist, const ClassifierPorts& ports,
                           const VerilogOptions& options) {
  check_ports(netlist.inputs.size(), ports);
  Verilog result =
      to_verilog(netlist, {.module_name = options.module_name, .has_tables = options.has_tables});
  result.test_bench = classifier_bench(netlist, result.module_name, ports);
  result.design += classifier_module(result.module_name, netlist.outputs.size(), ports);
  return result;
}

Verilog classifier_verilog(const SharedCircuit& circuit, const ClassifierPorts& ports,
                           const VerilogOptions& options) {
  check_ports(circuit.inputs.size(), ports);
  Verilog result = to_verilog(circuit, {.module_name = options.module_name});
  result.test_bench = classifier_bench(flattened(circuit), result.module_name, ports);
  result.design += classifier_module(result.module_name, circuit.rest.outputs.size(), ports);
  return result;
}

}  // namespace boolgrad::circuit
