// The commands and options of the program as plain data, for completion scripts and the manual
// page.
#pragma once

#include <CLI/CLI.hpp>
#include <string>
#include <vector>

namespace boolgrad::cli {

struct OptionEntry {
  std::vector<std::string> names;  ///< with their dashes; the name alone for a positional argument
  std::string description;
  std::string value;       ///< what a value is called, as in `FILE`; empty for a flag
  std::string by_default;  ///< empty if there is no default
  bool is_positional = false;
  bool is_required = false;

  /// Whether a value is required after the option.
  bool takes_value() const { return !value.empty() && !value.starts_with('['); }
};

struct CommandEntry {
  std::string name;
  std::string description;
  std::string notes;  ///< details and examples
  std::vector<OptionEntry> options;
};

struct CommandTree {
  std::string description;
  std::vector<OptionEntry> options;
  std::vector<CommandEntry> commands;
};

CommandTree command_tree(const CLI::App& root);

/// The words that a value can be; empty for files and for anything else.
std::vector<std::string> possible_values(const OptionEntry& option);

/// Whether a value is the path of a file or a folder.
bool is_path(const OptionEntry& option);

/// The names of the shells that `completion_script` knows.
const std::vector<std::string>& shells();

/// A completion script for one of `shells()`.
std::string completion_script(const CommandTree& tree, const std::string& shell);

/// The manual page, in the macros of man.
std::string manual_page(const CommandTree& tree, const std::string& version);

}  // namespace boolgrad::cli
