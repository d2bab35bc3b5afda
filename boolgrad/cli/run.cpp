// `boolgrad run`: runs a hardened automaton on a grid of any size.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "boolgrad/cli/animation.h"
#include "boolgrad/cli/command.h"
#include "boolgrad/core/file.h"
#include "boolgrad/core/text.h"
#include "boolgrad/model/grid_text.h"
#include "boolgrad/model/playback.h"
#include "boolgrad/model/state_image.h"
#include "boolgrad/picture/png.h"

namespace boolgrad::cli {
namespace {

struct RunArguments {
  std::string model;
  std::string size;  ///< empty: that of the experiment
  std::optional<std::int64_t> steps;
  std::optional<double> fire_rate;
  std::vector<std::string> damage;
  std::optional<std::int64_t> seed;
  std::string gif;
  std::string mp4;
  std::string png;
  FrameOptions frames = {};
  bool show = false;
  Device device = {};
};

// ---------------------------------------------------------------------------------------------
// Arguments

GridSize parse_size(const std::string& text) {
  const std::optional<GridSize> size = grid_size_in(text);
  if (!size) {
    throw UsageError(
        fmt::format("[run] expected --size HEIGHTxWIDTH in cells, such as 64x64, received '{}'",
                    printable(text)));
  }
  return *size;
}

Damage parse_damage(const std::string& text, const GridSize& grid) {
  const std::optional<Damage> damage = damage_in(text, grid);
  if (!damage) {
    throw UsageError(
        fmt::format("[run] expected --damage HEIGHTxWIDTH[+ROW+COLUMN]@stepN, such as 10x10@step20 "
                    "or 4x8+0+3@step5, received '{}'",
                    printable(text)));
  }
  return *damage;
}

void check_arguments(const RunArguments& arguments, const CommonOptions& common) {
  if (arguments.show && common.quiet) {
    throw UsageError("[run] expected --show or --quiet, received both");
  }
  if (arguments.fire_rate && !(*arguments.fire_rate >= 0 && *arguments.fire_rate <= 1)) {
    throw UsageError(
        fmt::format("[run] expected --async from 0 to 1, received {}", *arguments.fire_rate));
  }
  if (arguments.steps && (*arguments.steps < 0 || *arguments.steps > max_playback_steps)) {
    throw UsageError(fmt::format("[run] expected --steps from 0 to {}, received {}",
                                 max_playback_steps, *arguments.steps));
  }
  if (arguments.seed && *arguments.seed < 0) {
    throw UsageError(
        fmt::format("[run] expected --seed of at least 0, received {}", *arguments.seed));
  }
  const FrameOptions& frames = arguments.frames;
  const bool has_files = !arguments.gif.empty() || !arguments.mp4.empty();
  if (!has_files && !arguments.show && (frames.every || frames.last)) {
    throw UsageError("[run] --every and --last are for --gif, --mp4 and --show, received none");
  }
  if (!has_files && frames.fps) {
    throw UsageError("[run] --fps is for --gif and --mp4, received neither");
  }
  if (!has_files && arguments.png.empty() && frames.scale) {
    throw UsageError("[run] --scale is for --gif, --mp4 and --png, received none");
  }
  check_device(arguments.device, on_gpus);
}

// ---------------------------------------------------------------------------------------------
// The run

Playback playback_of(const RunArguments& arguments, Group& group) {
  const LoadedModel loaded = load_model(arguments.model);
  automaton_of(loaded, "run", arguments.model);  // before the damage of a grid that may not exist
  const ModelSpec spec = loaded.spec.value_or(ModelSpec{});
  const GridSize size = arguments.size.empty() ? default_size(spec) : parse_size(arguments.size);
  PlaybackOptions options{.size = size,
                          .steps = arguments.steps,
                          .fire_rate = arguments.fire_rate,
                          .device = arguments.device,
                          .group = &group};
  if (arguments.seed) options.seed = static_cast<std::uint64_t>(*arguments.seed);
  for (const std::string& text : arguments.damage) {
    options.damage.push_back(parse_damage(text, size));
    const std::int64_t steps = arguments.steps.value_or(default_steps(spec, size));
    if (options.damage.back().first > steps) {
      throw UsageError(fmt::format("[run] expected damage at step 0 to {}, received '{}'", steps,
                                   printable(text)));
    }
  }
  return make_playback(loaded, options, "run", arguments.model);
}

std::int64_t scale_of(const RunArguments& arguments, const GridSize& size) {
  return arguments.frames.scale.value_or(pixels_per_cell(size.height, size.width));
}

/// Throws before any step if the picture could not be written.
void check_png(const RunArguments& arguments, const GridSize& size) {
  if (arguments.png.empty()) return;
  const std::int64_t scale = scale_of(arguments, size);
  picture::check_size("png", size.width * scale, size.height * scale);
  const Replacement writable("png", arguments.png);
}

/// The outcome of a run, and what its animation shows.
struct Outcome {
  PlaybackResult result;
  FrameChoice frames;
};

Outcome play(const Playback& playback, const RunArguments& arguments) {
  check_png(arguments, playback.size);
  AnimationRecorder animation({.gif = arguments.gif,
                               .mp4 = arguments.mp4,
                               .frames = arguments.frames,
                               .show = arguments.show},
                              playback);
  PlaybackResult result = boolgrad::play(playback, &animation);
  if (!arguments.png.empty()) {
    const picture::Image cells = state_image(result.last, playback.channels);
    picture::write_png(arguments.png, picture::enlarged(cells, scale_of(arguments, playback.size)));
  }
  return {std::move(result), animation.frames()};
}

double updates_per_second(const Playback& playback, const PlaybackResult& outcome) {
  if (playback.steps == 0) return 0;
  const double updates = static_cast<double>(playback.steps) *
                         static_cast<double>(playback.size.height) *
                         static_cast<double>(playback.size.width);
  return updates / std::max(outcome.seconds, 1e-9);
}

/// `2nd`, `3rd`, `11th`
std::string ordinal(std::int64_t number) {
  const std::int64_t last = number % 100 / 10 == 1 ? 0 : number % 10;
  return fmt::format("{}{}", number, last == 1 ? "st" : last == 2 ? "nd" : last == 3 ? "rd" : "th");
}

void print_report(const RunArguments& arguments, const Playback& playback, const Outcome& played) {
  const PlaybackResult& outcome = played.result;
  fmt::print("{}: {}x{} cells, {} steps{}\n", printable(arguments.model), playback.size.height,
             playback.size.width, playback.steps,
             playback.options.fire_rate < 1
                 ? fmt::format(", fire rate {}", playback.options.fire_rate)
                 : "");
  if (playback.steps > 0) {
    fmt::print("  speed       {:.4g} million cell updates per second\n",
               updates_per_second(playback, outcome) / 1e6);
  }
  if (outcome.bit_errors) {
    fmt::print("  bit errors  {} of {}\n", *outcome.bit_errors, playback.target.size());
  } else if (!playback.why_no_target.empty()) {
    fmt::print("  bit errors  unknown: {}\n", printable(playback.why_no_target));
  }
  if (!arguments.gif.empty()) fmt::print("  gif         {}\n", printable(arguments.gif));
  if (!arguments.mp4.empty()) fmt::print("  mp4         {}\n", printable(arguments.mp4));
  const bool has_files = !arguments.gif.empty() || !arguments.mp4.empty();
  if (has_files && played.frames.is_thinned()) {
    fmt::print("  frames      every {}; --every 1 shows all states\n",
               ordinal(played.frames.every()));
  }
  if (!arguments.png.empty()) fmt::print("  png         {}\n", printable(arguments.png));
}

nlohmann::json to_json(const RunArguments& arguments, const Playback& playback,
                       const Outcome& played) {
  const PlaybackResult& outcome = played.result;
  const auto path_or_null = [](const std::string& path) {
    return path.empty() ? nlohmann::json() : nlohmann::json(path);
  };
  return {{"model", arguments.model},
          {"height", playback.size.height},
          {"width", playback.size.width},
          {"steps", playback.steps},
          {"fire_rate", playback.options.fire_rate},
          {"seed", playback.options.seed},
          {"wrong_bits", outcome.bit_errors ? nlohmann::json(*outcome.bit_errors) : nullptr},
          {"cell_updates_per_second", updates_per_second(playback, outcome)},
          {"gif", path_or_null(arguments.gif)},
          {"mp4", path_or_null(arguments.mp4)},
          {"steps_per_frame", played.frames.every()},
          {"png", path_or_null(arguments.png)}};
}

/// Throws if ranks would run different automata.
void check_agreement(const RunArguments& arguments, const Playback& playback, Group& group) {
  if (group.size() == 1) return;
  if (!arguments.gif.empty() || !arguments.mp4.empty() || arguments.show) {
    throw UsageError(fmt::format(
        "[run] --gif, --mp4 and --show need a single process, received {} ranks", group.size()));
  }
  check_same_on_ranks(group, "model and options",
                      fmt::format("{}x{} {} {} {} {} ", playback.size.height, playback.size.width,
                                  playback.steps, playback.options.fire_rate, playback.options.seed,
                                  fmt::join(arguments.damage, " ")) +
                          file_content("run", model_path(arguments.model)));
}

int run(const RunArguments& arguments, const CommonOptions& common) {
  check_arguments(arguments, common);
  Group& group = *common.group;
  const Playback playback = playback_of(arguments, group);
  check_agreement(arguments, playback, group);
  if (!group.is_first()) {
    boolgrad::play(playback, nullptr);
    return 0;
  }
  const Outcome outcome = play(playback, arguments);
  if (!common.quiet) print_report(arguments, playback, outcome);
  if (common.json) print_json(to_json(arguments, playback, outcome));
  return 0;
}

}  // namespace

void add_run(CLI::App& root, CommonOptions& common, Job& job) {
  CLI::App* command = new_command(
      root, common, "run", "Run a hardened automaton on any grid; write an animation.",
      "boolgrad run runs/checkerboard-1/model.safetensors --size 64x64 --damage 20x20@step40 "
      "--gif heals.gif");
  const auto arguments = std::make_shared<RunArguments>();
  add_model(*command, arguments->model);
  command->add_option("--size", arguments->size, "Size of the grid; as in training by default")
      ->type_name("HxW");
  command
      ->add_option("--steps", arguments->steps,
                   "Number of steps; as in training by default, more on a larger grid")
      ->type_name("N");
  command
      ->add_option("--async", arguments->fire_rate,
                   "Probability that a cell updates in a step; as in training by default")
      ->type_name("RATE");
  command
      ->add_option(
          "--damage", arguments->damage,
          "Set a rectangle of cells to 0 after step N; centred by default; may be repeated")
      ->type_name("HxW[+ROW+COLUMN]@stepN")
      ->allow_extra_args(false);
  command->add_option("--seed", arguments->seed, "Seed of random starts and updates")
      ->type_name("N");
  command->add_option("--gif", arguments->gif, "Write an animation")->type_name("FILE");
  command->add_option("--mp4", arguments->mp4, "Write a video; needs ffmpeg in PATH")
      ->type_name("FILE");
  command->add_option("--png", arguments->png, "Write a picture of the last state")
      ->type_name("FILE");
  command
      ->add_option("--every", arguments->frames.every,
                   "Steps per frame; by default chosen for at most about 200 frames")
      ->type_name("N");
  command->add_option("--last", arguments->frames.last, "Show only the states of the last N steps")
      ->type_name("N");
  command
      ->add_option("--fps", arguments->frames.fps,
                   "Frames per second; about six seconds in all by default")
      ->type_name("RATE");
  command
      ->add_option("--scale", arguments->frames.scale,
                   "Pixels per cell; 320 to 512 pixels in all by default")
      ->type_name("N");
  command->add_flag("--show", arguments->show, "Show the animation in the terminal");
  add_device(*command, arguments->device);
  command->callback([arguments, &common, &job] {
    job = [arguments, &common] { return run(*arguments, common); };
  });
}

}  // namespace boolgrad::cli
