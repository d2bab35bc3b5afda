#include "boolgrad/train/run/report.h"

#include <gtest/gtest.h>

#include <string>

#include "boolgrad/picture/png.h"
#include "boolgrad/train/run/metrics.h"
#include "boolgrad/train/run/run.h"
#include "tests/support/messages.h"
#include "tests/support/scratch.h"

namespace boolgrad::train {
namespace {

using testing_support::ScratchFolder;
using testing_support::write_bytes;

const Inspection gates{.layers = {},
                       .gates = 5,
                       .active_gates = 4,
                       .depth = 2,
                       .kinds = {{"AND", 3}, {"XOR", 2}},
                       .samples = 0};

std::string line(int step, double soft, double hard) {
  return "{\"step\":" + std::to_string(step) + ",\"soft_loss\":" + std::to_string(soft) +
         ",\"hard_loss\":" + std::to_string(hard) + "}\n";
}

TEST(Report, PlotsMetricsAndGates) {
  const ScratchFolder scratch;
  write_bytes(scratch / metrics_file, line(0, 9, 20) + line(10, 2, 5) + line(20, 0.5, 0));
  const Plots plots = write_plots(scratch.path(), "test, seed 1", "bit errors", gates);
  EXPECT_EQ(plots.losses, scratch / "losses.png");
  EXPECT_EQ(plots.gates, scratch / "gates.png");
  const picture::Image losses = picture::read_png(plots.losses);
  const picture::Image kinds = picture::read_png(plots.gates);
  EXPECT_EQ(losses.width, 800);
  EXPECT_EQ(losses.height, 500);
  EXPECT_EQ(kinds.width, 800);

  write_plots(scratch.path(), "test, seed 1", "bit errors", gates);
  EXPECT_EQ(picture::read_png(plots.losses), losses) << "the same again";
  EXPECT_EQ(picture::read_png(plots.gates), kinds);
  write_plots(scratch.path(), "test, seed 1", "errors", gates);
  EXPECT_NE(picture::read_png(plots.losses), losses) << "says what is counted";

  write_bytes(scratch / metrics_file, line(0, 9, 20) + line(10, 2, 5) + line(20, 0.5, 3));
  Inspection other = gates;
  other.kinds[1].second = 1;
  write_plots(scratch.path(), "test, seed 1", "bit errors", other);
  EXPECT_NE(picture::read_png(plots.losses), losses);
  EXPECT_NE(picture::read_png(plots.gates), kinds);
}

TEST(Report, NeedsMetrics) {
  const ScratchFolder scratch;
  expect_error(
      [&] { write_plots(scratch.path(), "test", "bit errors", gates); },
      "[metrics] cannot read " + (scratch / metrics_file).string() + ": No such file or directory");
}

TEST(Losses, IgnoreInvalidLines) {
  const ScratchFolder scratch;
  write_bytes(scratch / metrics_file,
              line(0, 9, 20) + "[1, 2]\n{\"step\":5}\n{\"step\":\"x\",\"soft_loss\":1}\n\n" +
                  line(10, 2, 5) + "{\"step\":20,\"soft_l");
  const std::vector<LoggedLoss> losses = read_losses(scratch / metrics_file);
  ASSERT_EQ(losses.size(), 2U);
  EXPECT_EQ(losses[0].step, 0);
  EXPECT_EQ(losses[1].step, 10);
  EXPECT_EQ(losses[1].soft, 2);
  EXPECT_EQ(losses[1].hard, 5);
}

}  // namespace
}  // namespace boolgrad::train
