#include "boolgrad/circuit/formats/netlist_files.h"

#include <algorithm>
#include <functional>
#include <map>

#include "boolgrad/circuit/formats/aiger.h"
#include "boolgrad/circuit/formats/blif.h"
#include "boolgrad/circuit/formats/c99.h"
#include "boolgrad/circuit/formats/dot.h"
#include "boolgrad/circuit/formats/html.h"
#include "boolgrad/circuit/formats/named_netlist.h"
#include "boolgrad/circuit/formats/text.h"
#include "boolgrad/circuit/formats/verilog.h"
#include "boolgrad/circuit/formats/verilog_reader.h"
#include "boolgrad/core/fail.h"
#include "boolgrad/core/file.h"
#include "boolgrad/core/text.h"

namespace boolgrad::circuit {
namespace {

struct Format {
  std::string name;
  std::vector<std::string> extensions;
  std::function<std::string(const Netlist&)> write;
  std::function<Netlist(std::string_view, const std::string& file)> read;  ///< may be empty
};

const std::vector<Format>& formats() {
  static const std::vector<Format> all = {
      {"netlist", {".txt", ".net", ".netlist"}, to_text, netlist_from_text},
      {"c", {".h", ".c"}, [](const Netlist& n) { return to_c(n); }, {}},
      {"verilog",
       {".v", ".sv"},
       [](const Netlist& n) { return to_verilog(n).design; },
       netlist_from_verilog},
      {"blif", {".blif"}, to_blif, netlist_from_blif},
      {"aiger",
       {".aig"},
       [](const Netlist& n) { return to_aiger(n, AigerFormat::binary); },
       netlist_from_aiger},
      {"aag",
       {".aag"},
       [](const Netlist& n) { return to_aiger(n, AigerFormat::ascii); },
       netlist_from_aiger},
      {"dot", {".dot", ".gv"}, to_dot, {}},
      {"html", {".html"}, [](const Netlist& n) { return to_html(n); }, netlist_from_html}};
  return all;
}

const Format& format_called(std::string_view where, const std::string& name) {
  for (const Format& format : formats()) {
    if (format.name == name) return format;
  }
  fail(where, "expected the format {}, received '{}'", alternatives(netlist_formats()),
       printable(name));
}

}  // namespace

const std::vector<std::string>& netlist_formats() {
  static const std::vector<std::string> names = [] {
    std::vector<std::string> result;
    for (const Format& format : formats()) result.push_back(format.name);
    return result;
  }();
  return names;
}

const std::vector<std::string>& readable_formats() {
  static const std::vector<std::string> names = [] {
    std::vector<std::string> result;
    for (const Format& format : formats()) {
      if (format.read) result.push_back(format.name);
    }
    return result;
  }();
  return names;
}

bool has_readable_extension(const std::filesystem::path& path) {
  return std::ranges::any_of(formats(), [&](const Format& format) {
    return format.read && std::ranges::find(format.extensions, path.extension().string()) !=
                              format.extensions.end();
  });
}

std::string format_of_file(std::string_view where, const std::filesystem::path& path) {
  std::vector<std::string> known;
  for (const Format& format : formats()) {
    for (const std::string& extension : format.extensions) {
      if (path.extension() == extension) return format.name;
      known.push_back(extension);
    }
  }
  fail(where, "expected a format or a file that ends in {}, received {}", alternatives(known),
       printable(path.string()));
}

std::string content_of(const Netlist& netlist, const std::string& format) {
  return format_called("write", format).write(netlist);
}

void write_netlist(const Netlist& netlist, const std::filesystem::path& path,
                   const std::string& format) {
  constexpr std::string_view where = "write";
  write_file(where, path,
             content_of(netlist, format.empty() ? format_of_file(where, path) : format));
}

Netlist read_netlist(const std::filesystem::path& path, const std::string& format) {
  constexpr std::string_view where = "read";
  const Format& found = format_called(where, format.empty() ? format_of_file(where, path) : format);
  if (!found.read) {
    fail(where, "{}: expected {}, received {}, which is only written", printable(path.string()),
         alternatives(readable_formats()), found.name);
  }
  return found.read(file_content(where, path), path.string());
}

}  // namespace boolgrad::circuit
