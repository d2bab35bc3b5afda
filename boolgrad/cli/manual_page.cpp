// The manual page.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <sstream>

#include "boolgrad/cli/command_tree.h"

namespace boolgrad::cli {
namespace {

/// Text in which nothing is a request or an escape.
std::string escaped(const std::string& text) {
  std::string result;
  for (const char letter : text) {
    const bool starts_line = result.empty() || result.back() == '\n';
    if (starts_line && (letter == '.' || letter == '\'')) result += "\\&";
    if (letter == '\\') result += "\\e";
    else if (letter == '-') result += "\\-";
    else result += letter;
  }
  return result;
}

std::string option_text(const OptionEntry& option) {
  std::vector<std::string> names;
  for (const std::string& name : option.names) names.push_back(escaped(name));
  std::string text = fmt::format(".TP\n\\fB{}\\fR", fmt::join(names, "\\fR, \\fB"));
  if (!option.value.empty() && !option.is_positional) {
    text += fmt::format(" \\fI{}\\fR", escaped(option.value));
  }
  text += "\n" + escaped(option.description);
  if (!option.by_default.empty()) text += fmt::format(" (default: {})", escaped(option.by_default));
  return text + ".\n";
}

/// Details as paragraphs, and examples as they are.
std::string notes_text(const std::string& notes) {
  const std::size_t example = notes.find("Example:\n");
  std::string text;
  if (example > 0) text += ".PP\n" + escaped(notes.substr(0, example)) + "\n";
  if (example == std::string::npos) return text;
  return text + ".PP\nExample:\n.PP\n.nf\n" + escaped(notes.substr(example + 9)) + "\n.fi\n";
}

std::string usage_of(const CommandEntry& command) {
  std::string text = fmt::format("\\fBboolgrad {}\\fR", escaped(command.name));
  for (const OptionEntry& option : command.options) {
    if (!option.is_positional) continue;
    text += option.is_required ? fmt::format(" \\fI{}\\fR", escaped(option.value))
                               : fmt::format(" [\\fI{}\\fR]", escaped(option.value));
  }
  return text + " [\\fIoptions\\fR]";
}

}  // namespace

std::string manual_page(const CommandTree& tree, const std::string& version) {
  std::string text = fmt::format(
      ".TH BOOLGRAD 1 \"\" \"boolgrad {}\" \"User Commands\"\n"
      ".SH NAME\nboolgrad \\- train Boolean circuits, classifiers and cellular automata with "
      "gradients\n"
      ".SH SYNOPSIS\n\\fBboolgrad\\fR \\fIcommand\\fR [\\fIoptions\\fR]\n"
      ".SH DESCRIPTION\n{}\n.SH OPTIONS\n",
      escaped(version), escaped(tree.description));
  for (const OptionEntry& option : tree.options) text += option_text(option);
  text += ".SH COMMANDS\n";
  for (const CommandEntry& command : tree.commands) {
    text += fmt::format(".SS {}\n{}\n.PP\n{}\n", usage_of(command), escaped(command.description),
                        "Options:");
    for (const OptionEntry& option : command.options) text += option_text(option);
    text += notes_text(command.notes);
  }
  return text +
         ".SH EXIT STATUS\n0 on success, 1 on failure, 2 for a wrong command line.\n"
         ".SH FILES\n.TP\nruns/NAME\\-SEED\nA run: its settings, metrics, checkpoint, model and "
         "plots. Commands take the folder in place of the model.\n"
         ".SH SEE ALSO\nThe guides, in the folder of the documentation: docs/index.md.\n";
}

}  // namespace boolgrad::cli
