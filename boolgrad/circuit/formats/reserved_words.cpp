#include "boolgrad/circuit/formats/reserved_words.h"

#include <algorithm>

#include "boolgrad/circuit/formats/net_names.h"
#include "boolgrad/core/fail.h"
#include "boolgrad/core/text.h"

namespace boolgrad::circuit {
namespace {

const std::vector<std::string>& c_keywords() {
  static const std::vector<std::string> words{
      "auto",   "break",    "case",   "char",   "const",     "continue", "default",  "do",
      "double", "else",     "enum",   "extern", "float",     "for",      "goto",     "if",
      "inline", "int",      "long",   "main",   "register",  "restrict", "return",   "short",
      "signed", "sizeof",   "static", "struct", "switch",    "typedef",  "union",    "unsigned",
      "void",   "volatile", "while",  "class",  "namespace", "template", "typename", "bool",
      "true",   "false",    "this",   "new",    "delete",    "private",  "public",   "protected"};
  return words;
}

bool contains(const std::vector<std::string>& words, std::string_view name) {
  return std::ranges::find(words, name) != words.end();
}

}  // namespace

const std::vector<std::string>& verilog_keywords() {
  static const std::vector<std::string> words{
      "alias",       "always",      "always_comb", "always_ff",     "always_latch", "and",
      "assert",      "assign",      "assume",      "automatic",     "before",       "begin",
      "bind",        "bins",        "bit",         "break",         "buf",          "bufif0",
      "bufif1",      "byte",        "case",        "casex",         "casez",        "cell",
      "chandle",     "class",       "clocking",    "cmos",          "config",       "const",
      "constraint",  "context",     "continue",    "cover",         "covergroup",   "cross",
      "deassign",    "default",     "defparam",    "design",        "disable",      "dist",
      "do",          "edge",        "else",        "end",           "endcase",      "endclass",
      "endconfig",   "endfunction", "endgenerate", "endmodule",     "endtask",      "enum",
      "event",       "expect",      "export",      "extends",       "extern",       "final",
      "first_match", "for",         "force",       "foreach",       "forever",      "fork",
      "function",    "generate",    "genvar",      "highz0",        "highz1",       "if",
      "iff",         "ifnone",      "import",      "incdir",        "include",      "initial",
      "inout",       "input",       "inside",      "instance",      "int",          "integer",
      "interface",   "intersect",   "join",        "large",         "liblist",      "library",
      "local",       "localparam",  "logic",       "longint",       "macromodule",  "matches",
      "medium",      "modport",     "module",      "nand",          "negedge",      "new",
      "nmos",        "nor",         "not",         "null",          "or",           "output",
      "package",     "packed",      "parameter",   "pmos",          "posedge",      "primitive",
      "priority",    "program",     "property",    "protected",     "pull0",        "pull1",
      "pulldown",    "pullup",      "pure",        "rand",          "randc",        "rcmos",
      "real",        "realtime",    "ref",         "reg",           "release",      "repeat",
      "return",      "rnmos",       "rpmos",       "rtran",         "scalared",     "sequence",
      "shortint",    "shortreal",   "signed",      "small",         "solve",        "specify",
      "specparam",   "static",      "string",      "strong0",       "strong1",      "struct",
      "super",       "supply0",     "supply1",     "table",         "tagged",       "task",
      "this",        "throughout",  "time",        "timeprecision", "timeunit",     "tran",
      "tranif0",     "tranif1",     "tri",         "tri0",          "tri1",         "triand",
      "trior",       "trireg",      "type",        "typedef",       "union",        "unique",
      "unsigned",    "use",         "uwire",       "var",           "vectored",     "virtual",
      "void",        "wait",        "wait_order",  "wand",          "weak0",        "weak1",
      "while",       "wildcard",    "wire",        "with",          "within",       "wor",
      "xnor",        "xor"};
  return words;
}

void check_identifier(std::string_view where, std::string_view name) {
  constexpr std::size_t max_size = 64;
  if (name.size() > max_size || identifier(name) != name) {
    fail(where,
         "expected a name of at most {} letters, digits and underscores that does not begin with a "
         "digit, received '{}'",
         max_size, printable(name));
  }
  if (contains(c_keywords(), name) || contains(verilog_keywords(), name)) {
    fail(where, "expected a name that is no keyword of C or Verilog, received '{}'", name);
  }
}

}  // namespace boolgrad::circuit
