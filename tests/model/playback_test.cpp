#include "boolgrad/model/playback.h"

#include <gtest/gtest.h>

#include "boolgrad/model/animation.h"
#include "boolgrad/ops/shaping.h"
#include "tests/support/life_rule.h"
#include "tests/support/messages.h"
#include "tests/support/random_tensor.h"
#include "tests/support/scratch.h"

namespace boolgrad {
namespace {

using testing_support::read_bytes;
using testing_support::ScratchFolder;

LoadedModel life() { return {.spec = std::nullopt, .model = Model(life_rule())}; }

Playback playback(const PlaybackOptions& options) {
  return make_playback(life(), options, "test", "life.safetensors");
}

/// Keeps the steps of its frames.
class Steps final : public FrameSink {
 public:
  bool wants(std::int64_t step, bool notable) const override { return step % 4 == 0 || notable; }
  void add(std::int64_t step, const automata::BitGrid& state) override {
    steps.push_back(step);
    last = state.to_tensor(DType::uint8);
  }

  std::vector<std::int64_t> steps;
  Tensor last;
};

TEST(Playback, FramesAreStates) {
  Tensor start = Tensor::zeros({1, 2, 8, 8}, DType::uint8);
  for (const std::int64_t cell : {9, 10, 11}) {  // a blinker in both grids
    start.mutable_values<std::uint8_t>()[static_cast<std::size_t>(cell)] = 1;
    start.mutable_values<std::uint8_t>()[static_cast<std::size_t>(cell + 64)] = 1;
  }
  const Playback two_grids = playback({.steps = 9, .start = start});
  EXPECT_EQ(two_grids.size.height, 8);
  Steps sink;
  const PlaybackResult result = play(two_grids, &sink);
  EXPECT_EQ(sink.steps, (std::vector<std::int64_t>{0, 4, 8}));
  EXPECT_TRUE(same_bits(sink.last, start)) << "the period is 2";
  EXPECT_FALSE(same_bits(result.last.to_tensor(DType::uint8), start));
  EXPECT_TRUE(same_bits(play(two_grids, nullptr).last.to_tensor(DType::uint8),
                        result.last.to_tensor(DType::uint8)));
}

TEST(Playback, ChecksItsOptions) {
  expect_error(
      [] {
        playback({.size = GridSize{0, 5}});
      },
      "[test] expected 1 to 268435456 cells, received 0x5");
  expect_error([] { playback({.steps = -1}); },
               "[test] expected 0 to 1000000000 steps, received -1");
  expect_error([] { playback({.fire_rate = 2}); },
               "[test] expected a fire rate from 0 to 1, received 2");
  expect_error(
      [] {
        playback({.start = Tensor::zeros({1, 8, 8}, DType::uint8)});
      },
      "[test] expected a state [channels, grids, height, width], received [1, 8, 8]");
  logic::Network network(2);
  const LoadedModel circuit{.spec = std::nullopt, .model = Model(network)};
  expect_error([&] { make_playback(circuit, {}, "test", "a"); },
               "[test] a: expected an automaton, received a circuit");
}

TEST(FrameChoice, ThinsOutLongRuns) {
  const FrameChoice few(50);
  for (std::int64_t step = 0; step <= 50; ++step) EXPECT_TRUE(few.contains(step, false));
  const FrameChoice many(1001);
  EXPECT_FALSE(many.contains(1, false));
  EXPECT_TRUE(many.contains(1, true));
  EXPECT_TRUE(many.contains(6, false));
  EXPECT_TRUE(many.contains(1001, false));
  EXPECT_EQ(many.duration(1001), 200);
  EXPECT_EQ(many.duration(0), 50);
}

TEST(GifRecorder, WritesAtTheLastFrame) {
  const ScratchFolder scratch;
  const Playback short_run = playback({.size = GridSize{8, 8}, .steps = 3});
  {
    GifRecorder unfinished(scratch / "a.gif", short_run);
    unfinished.add(0, automata::BitGrid::from(short_run.start));
  }
  EXPECT_FALSE(std::filesystem::exists(scratch / "a.gif"));
  GifRecorder recorder(scratch / "a.gif", short_run);
  play(short_run, &recorder);
  EXPECT_TRUE(read_bytes(scratch / "a.gif").starts_with("GIF89a"));
}

}  // namespace
}  // namespace boolgrad
