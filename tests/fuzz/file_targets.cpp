// Files of models, experiments and data.
#include <array>
#include <optional>
#include <string>
#include <vector>

#include "boolgrad/core/error.h"
#include "boolgrad/data/cell_rule.h"
#include "boolgrad/data/cifar.h"
#include "boolgrad/data/csv_table.h"
#include "boolgrad/data/idx.h"
#include "boolgrad/data/npy.h"
#include "boolgrad/data/pattern.h"
#include "boolgrad/data/truth_table.h"
#include "boolgrad/model/grid_text.h"
#include "boolgrad/model/model.h"
#include "boolgrad/picture/gif.h"
#include "boolgrad/picture/png.h"
#include "boolgrad/tensor/safetensors.h"
#include "boolgrad/train/experiment/experiment.h"
#include "boolgrad/train/run/checkpoint.h"
#include "tests/fuzz/byte_source.h"
#include "tests/fuzz/input_file.h"
#include "tests/fuzz/targets.h"

namespace boolgrad::fuzz {
namespace {

train::Experiment parse(std::string_view toml) {
  return train::parse_experiment(toml, "input.toml", "input", "");
}

/// A table of every kind of column.
constexpr std::string_view known_table =
    "size,colour,\"a, b\",kind\n1,red,0.5,x\n2,green,1e3,y\n3.5,red,-7,x\n4,blue,0,z\n";

}  // namespace

void read_safetensors(Bytes bytes) {
  const TensorFile file = load_safetensors(InputFile::of(bytes));
  first_not_finite(file);
}

void read_model(Bytes bytes) {
  const LoadedModel loaded = load_model(InputFile::of(bytes));
  loaded.model.inspect();
  loaded.model.to_file();
}

void read_checkpoint(Bytes bytes) { train::load_checkpoint(InputFile::of(bytes)); }

void read_experiment_toml(Bytes bytes) {
  const std::string written = train::to_toml(parse(text_of(bytes)));
  std::optional<std::string> again;
  try {
    again = train::to_toml(parse(written));
  } catch (const Error&) {
    require(false, "an experiment that was written can be read");
  }
  require(again == written, "writing and reading an experiment changes nothing");
}

void read_overrides(Bytes bytes) {
  // The first byte chooses the kind of experiment, and every line is an override.
  static const std::array<std::string, 3> experiments = {
      "[task]\nkind = \"add\"\nbits = 2\n[network]\nhidden = [8]\n",
      "[task]\nkind = \"checkerboard\"\n[automaton]\nheight = 4\nwidth = 4\n",
      "[task]\nkind = \"monk1\"\n[network]\nhidden = [8]\n"};
  ByteSource source(bytes);
  const std::string& toml = experiments[source.below(experiments.size())];
  std::vector<std::string> overrides(1);
  for (const char letter : text_of(bytes.subspan(bytes.empty() ? 0 : 1))) {
    if (letter == '\n') overrides.emplace_back();
    else overrides.back() += letter;
  }
  train::parse_experiment(toml, "input.toml", "input", "", overrides);
}

void read_csv(Bytes bytes) {
  ByteSource source(bytes);
  const std::uint8_t choices = source.byte();
  data::TableOptions options;
  options.values = (choices & 1U) != 0;
  options.header = static_cast<data::HeaderKind>((choices >> 1U) % 3);
  options.missing = static_cast<data::MissingValues>((choices >> 3U) % 4);
  options.encoding = static_cast<data::TextEncoding>((choices >> 5U) % 2);
  const data::Table table =
      data::read_table(InputFile::of(bytes.subspan(bytes.empty() ? 0 : 1)), options);
  const auto samples = static_cast<std::size_t>(table.samples.count());
  require(static_cast<std::size_t>(table.samples.labels.size()) == samples,
          "every sample of a table has a label");
}

void read_csv_features(Bytes bytes) {
  static const data::DataFormat format = [] {
    const std::string_view text = known_table;
    const Bytes known(reinterpret_cast<const std::uint8_t*>(text.data()), text.size());
    return data::read_table(InputFile::of(known), {}).format;
  }();
  const data::FeatureTable table = data::read_features_as(InputFile::of(bytes), format);
  const auto samples = static_cast<std::size_t>(table.features.shape()[0]);
  require(table.lines.size() == samples, "every sample has a line");
}

void read_truth_table(Bytes bytes) { data::read_truth_table(InputFile::of(bytes)); }

void read_png(Bytes bytes) { picture::read_png(InputFile::of(bytes)); }

void read_bitmap(Bytes bytes) { data::read_bitmap(InputFile::of(bytes)); }

void read_idx(Bytes bytes) { data::read_idx(InputFile::of(bytes)); }

void read_cifar(Bytes bytes) { data::read_cifar10({InputFile::of(bytes)}); }

void read_npy(Bytes bytes) { data::read_npy(InputFile::of(bytes)); }

void read_gif(Bytes bytes) { picture::read_gif(InputFile::of(bytes)); }

void read_cell_rule(Bytes bytes) {
  const data::CellRule rule = data::parse_cell_rule(text_of(bytes));
  require(rule.known() == rule.neighbourhoods(), "a rule that was given is known");
}

void read_grid_text(Bytes bytes) {
  const std::string_view text = text_of(bytes);
  constexpr circuit::GridSize grid{64, 48};
  constexpr std::int64_t limit = 1'000'000'000;
  if (const auto size = grid_size_in(text)) {
    require(size->height >= 0 && size->height < limit && size->width >= 0 && size->width < limit,
            "a size has up to nine digits");
    require(!damage_in(text, grid), "a size is no damage");
    return;
  }
  const std::optional<Damage> damage = damage_in(text, grid);
  if (!damage) throw Error("neither a size nor damage");
  const automata::Rectangle& at = damage->rectangle;
  require(at.height < limit && at.width < limit && at.top < limit && at.left < limit &&
              damage->first < limit && damage->first == damage->last,
          "numbers have up to nine digits");
}

void read_cell_examples(Bytes bytes) {
  const data::CellRule rule = data::read_examples(InputFile::of(bytes));
  require(rule.known() > 0, "examples show a neighbourhood");
}

}  // namespace boolgrad::fuzz
