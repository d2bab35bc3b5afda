// Completion scripts for bash, zsh and fish.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "boolgrad/cli/command_tree.h"
#include "boolgrad/core/fail.h"
#include "boolgrad/core/text.h"

namespace boolgrad::cli {
namespace {

/// A text in single quotes for a shell in which a quote is written as `quote`.
std::string quoted(const std::string& text, std::string_view quote) {
  std::string result = "'";
  for (const char letter : text)
    result += letter == '\'' ? std::string(quote) : std::string(1, letter);
  return result + "'";
}

std::string posix_quoted(const std::string& text) { return quoted(text, "'\\''"); }

/// The first sentence of a description.
std::string brief(const std::string& description) {
  return description.substr(0, std::min(description.find("; "), description.find(". ")));
}

const OptionEntry* positional_of(const CommandEntry& command) {
  const auto found = std::ranges::find_if(command.options, &OptionEntry::is_positional);
  return found == command.options.end() ? nullptr : &*found;
}

std::vector<std::string> names_of(const CommandEntry& command) {
  std::vector<std::string> names;
  for (const OptionEntry& option : command.options) {
    if (!option.is_positional) names.insert(names.end(), option.names.begin(), option.names.end());
  }
  return names;
}

// ---------------------------------------------------------------------------------------------
// bash

std::string bash_values(const OptionEntry& option) {
  const std::vector<std::string> values = possible_values(option);
  std::string text = values.empty() ? "" : fmt::format("words='{}'", fmt::join(values, " "));
  if (is_path(option)) text += text.empty() ? "files=yes" : "; files=yes";
  return text.empty() ? ":" : text;
}

std::string bash_command(const CommandEntry& command) {
  std::string text = fmt::format("    {})\n      case $previous in\n", command.name);
  for (const OptionEntry& option : command.options) {
    if (option.is_positional || !option.takes_value()) continue;
    text += fmt::format("        {}) {} ;;\n", fmt::join(option.names, "|"), bash_values(option));
  }
  const OptionEntry* positional = positional_of(command);
  text += fmt::format("        *) options='{}'", fmt::join(names_of(command), " "));
  if (positional != nullptr) text += "; " + bash_values(*positional);
  return text + " ;;\n      esac ;;\n";
}

std::string bash_script(const CommandTree& tree) {
  std::vector<std::string> names;
  for (const CommandEntry& command : tree.commands) names.push_back(command.name);
  for (const OptionEntry& option : tree.options) {
    names.insert(names.end(), option.names.begin(), option.names.end());
  }
  std::string text =
      "# Completion of boolgrad for bash: source it, or install it as\n"
      "# ~/.local/share/bash-completion/completions/boolgrad\n"
      "_boolgrad() {\n"
      "  local current=${COMP_WORDS[COMP_CWORD]} previous=${COMP_WORDS[COMP_CWORD-1]}\n"
      "  local command=${COMP_WORDS[1]} options= words= files=\n"
      "  if ((COMP_CWORD == 1)); then\n    command=; words='" +
      fmt::format("{}", fmt::join(names, " ")) + "'\n  fi\n  case $command in\n";
  for (const CommandEntry& command : tree.commands) text += bash_command(command);
  text +=
      "  esac\n"
      "  [[ $current == -* ]] && words=\"$words $options\"\n"
      "  mapfile -t COMPREPLY < <(compgen -W \"$words\" -- \"$current\")\n"
      "  if [[ $files && $current != -* ]]; then\n"
      "    local found\n"
      "    mapfile -t found < <(compgen -f -- \"$current\")\n"
      "    COMPREPLY+=(\"${found[@]}\")\n"
      "  fi\n"
      "}\n"
      "complete -o filenames -F _boolgrad boolgrad\n";
  return text;
}

// ---------------------------------------------------------------------------------------------
// zsh

/// Brackets and colons have a meaning in a specification.
std::string zsh_escaped(const std::string& text) {
  std::string result;
  for (const char letter : text) {
    if (letter == '[' || letter == ']' || letter == ':' || letter == '\\') result += '\\';
    result += letter;
  }
  return result;
}

std::string zsh_action(const OptionEntry& option) {
  const std::vector<std::string> values = possible_values(option);
  if (!values.empty() && is_path(option)) {
    return fmt::format("{{compadd {}; _files}}", fmt::join(values, " "));
  }
  if (!values.empty()) return fmt::format("({})", fmt::join(values, " "));
  return is_path(option) ? "_files" : " ";
}

std::string zsh_command(const CommandEntry& command) {
  std::string text = fmt::format("    {})\n      _arguments -s", command.name);
  for (const OptionEntry& option : command.options) {
    const std::string meaning = zsh_escaped(brief(option.description));
    if (option.is_positional) {
      text += " \\\n        " +
              posix_quoted(fmt::format("1:{}:{}", option.names[0], zsh_action(option)));
      continue;
    }
    for (const std::string& name : option.names) {
      const std::string repeated = name == "--set" || name == "--vary" ? "*" : "";
      std::string spec = fmt::format("{}{}[{}]", repeated, name, meaning);
      if (option.takes_value()) {
        spec += fmt::format(":{}:{}", zsh_escaped(option.value), zsh_action(option));
      } else if (!option.value.empty()) {
        spec += fmt::format("::{}:_files", zsh_escaped(option.value));
      }
      text += " \\\n        " + posix_quoted(spec);
    }
  }
  return text + " ;;\n";
}

std::string zsh_script(const CommandTree& tree) {
  std::string text =
      "#compdef boolgrad\n"
      "# Completion of boolgrad for zsh: install it as _boolgrad in a folder of $fpath.\n"
      "_boolgrad() {\n  local -a commands=(\n";
  for (const CommandEntry& command : tree.commands) {
    text += "    " +
            posix_quoted(zsh_escaped(command.name) + ":" + zsh_escaped(command.description)) + "\n";
  }
  text +=
      "  )\n  if ((CURRENT == 2)); then\n    _describe command commands\n    return\n  fi\n"
      "  shift words\n  ((CURRENT--))\n  case $words[1] in\n";
  for (const CommandEntry& command : tree.commands) text += zsh_command(command);
  return text +
         "  esac\n}\n"
         "if [[ $funcstack[1] == _boolgrad ]]; then\n  _boolgrad \"$@\"\n"
         "else\n  compdef _boolgrad boolgrad\nfi\n";
}

// ---------------------------------------------------------------------------------------------
// fish

std::string fish_quoted(const std::string& text) { return quoted(text, "\\'"); }

std::string fish_values(const OptionEntry& option) {
  const std::vector<std::string> values = possible_values(option);
  std::string text = option.takes_value() ? (is_path(option) ? " -r -F" : " -x") : "";
  if (!values.empty()) text += fmt::format(" -a '{}'", fmt::join(values, " "));
  return text;
}

std::string fish_script(const CommandTree& tree) {
  std::string text =
      "# Completion of boolgrad for fish: install it as\n"
      "# ~/.config/fish/completions/boolgrad.fish\n"
      "complete -c boolgrad -f\n";
  for (const CommandEntry& command : tree.commands) {
    text += fmt::format("complete -c boolgrad -n __fish_use_subcommand -a {} -d {}\n", command.name,
                        fish_quoted(command.description));
  }
  for (const CommandEntry& command : tree.commands) {
    const std::string start =
        fmt::format("complete -c boolgrad -n '__fish_seen_subcommand_from {}'", command.name);
    for (const OptionEntry& option : command.options) {
      text += start;
      if (option.is_positional) {
        text += fish_values(option) + "\n";
        continue;
      }
      for (const std::string& name : option.names) {
        text += name.starts_with("--") ? " -l " + name.substr(2) : " -s " + name.substr(1);
      }
      text += fish_values(option) + " -d " + fish_quoted(brief(option.description)) + "\n";
    }
  }
  return text;
}

}  // namespace

const std::vector<std::string>& shells() {
  static const std::vector<std::string> names = {"bash", "zsh", "fish"};
  return names;
}

std::string completion_script(const CommandTree& tree, const std::string& shell) {
  if (shell == "bash") return bash_script(tree);
  if (shell == "zsh") return zsh_script(tree);
  if (shell == "fish") return fish_script(tree);
  fail("completion", "expected {}, received '{}'", alternatives(shells()), printable(shell));
}

}  // namespace boolgrad::cli
