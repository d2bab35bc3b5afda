#include "boolgrad/cli/command_tree.h"

#include <algorithm>
#include <string_view>

#include "boolgrad/cli/experiment_file.h"
#include "boolgrad/model/export.h"

namespace boolgrad::cli {
namespace {

OptionEntry entry_of(const CLI::Option& option) {
  OptionEntry entry{.names = {},
                    .description = option.get_description(),
                    .value = {},
                    .by_default = option.get_default_str(),
                    .is_positional = option.get_positional(),
                    .is_required = option.get_required()};
  if (entry.is_positional) {
    entry.names.push_back(option.get_name(true, false));
  } else {
    for (const std::string& name : option.get_snames()) entry.names.push_back("-" + name);
    for (const std::string& name : option.get_lnames()) entry.names.push_back("--" + name);
  }
  // A negated flag has its positive name as well, which is not meant for users.
  std::erase_if(entry.names, [&](const std::string& name) {
    return name.starts_with("--") && option.get_fnames().size() == 1 &&
           name != "--" + option.get_fnames()[0];
  });
  if (option.get_items_expected_max() > 0) {
    entry.value = option.get_type_name();
    entry.value = entry.value.substr(0, entry.value.find(':'));  // without the range
  }
  return entry;
}

std::vector<OptionEntry> options_of(const CLI::App& app) {
  std::vector<OptionEntry> entries;
  for (const CLI::Option* option : app.get_options()) entries.push_back(entry_of(*option));
  return entries;
}

}  // namespace

CommandTree command_tree(const CLI::App& root) {
  CommandTree tree{
      .description = root.get_description(), .options = options_of(root), .commands = {}};
  for (const CLI::App* command : root.get_subcommands([](const CLI::App*) { return true; })) {
    tree.commands.push_back({.name = command->get_name(),
                             .description = command->get_description(),
                             .notes = command->get_footer(),
                             .options = options_of(*command)});
  }
  return tree;
}

std::vector<std::string> possible_values(const OptionEntry& option) {
  if (option.value == "EXPERIMENT") return built_in_names();
  if (option.value == "FORMAT") return export_formats();
  if (option.value == "SHELL") return shells();
  if (option.value == "D") return {"cpu", "cuda", "vulkan"};
  return {};
}

bool is_path(const OptionEntry& option) {
  const auto has = [&](std::string_view word) {
    return option.value.find(word) != std::string::npos;
  };
  return has("FILE") || has("DIR") || has("PATH") || has("MODEL") || has("PNG") || has("GIF") ||
         has("NPY") || has("CSV") || has("EXPERIMENT") || has("PICTURE") || has("TEXT");
}

}  // namespace boolgrad::cli
