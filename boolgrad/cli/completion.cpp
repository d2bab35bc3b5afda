// `boolgrad completion` and `boolgrad manual`: what shells and man know of the command line.
#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>

#include "boolgrad/cli/command.h"
#include "boolgrad/cli/command_tree.h"
#include "boolgrad/core/build_info.h"
#include "boolgrad/core/text.h"

namespace boolgrad::cli {
namespace {

int print(const std::string& text, const char* key, const CommonOptions& common) {
  if (!common.json) fmt::print("{}", text);
  else print_json({{key, text}});
  return 0;
}

int print_completion(const CLI::App& root, const std::string& shell, const CommonOptions& common) {
  if (std::ranges::find(shells(), shell) == shells().end()) {
    throw UsageError(fmt::format("[completion] expected {}, received '{}'{}",
                                 alternatives(shells()), printable(shell),
                                 suggestion(shell, shells())));
  }
  return print(completion_script(command_tree(root), shell), "script", common);
}

}  // namespace

void add_completion(CLI::App& root, CommonOptions& common, Job& job) {
  CLI::App* command =
      new_command(root, common, "completion", "Print a completion script for a shell.",
                  "boolgrad completion bash > ~/.local/share/bash-completion/completions/boolgrad\n"
                  "  boolgrad completion zsh > ~/.zfunc/_boolgrad\n"
                  "  boolgrad completion fish > ~/.config/fish/completions/boolgrad.fish",
                  "The script completes commands, options, built-in experiments and files.");
  const auto shell = std::make_shared<std::string>();
  command->add_option("shell", *shell, "bash, zsh or fish")->type_name("SHELL")->required();
  command->callback([&root, shell, &common, &job] {
    job = [&root, shell, &common] { return print_completion(root, *shell, common); };
  });
}

void add_manual(CLI::App& root, CommonOptions& common, Job& job) {
  CLI::App* command =
      new_command(root, common, "manual", "Print the manual page.", "boolgrad manual | man -l -");
  command->callback([&root, &common, &job] {
    job = [&root, &common] {
      return print(manual_page(command_tree(root), version()), "page", common);
    };
  });
}

}  // namespace boolgrad::cli
