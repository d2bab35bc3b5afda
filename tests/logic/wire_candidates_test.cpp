#include "boolgrad/logic/wire_candidates.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>

#include "boolgrad/autograd/gradcheck.h"
#include "boolgrad/autograd/tape.h"
#include "boolgrad/backend/plan/lut_wires.h"
#include "boolgrad/logic/network.h"
#include "boolgrad/ops/arithmetic.h"
#include "boolgrad/ops/reduction.h"
#include "tests/support/messages.h"
#include "tests/support/random_tensor.h"

namespace boolgrad::logic {
namespace {

CandidatesPtr candidates_of(std::int64_t inputs, std::int64_t gates, int arity,
                            std::int64_t count) {
  return random_candidates({.inputs = inputs, .gates = gates, .arity = arity}, count, 5, 2);
}

TEST(RandomCandidates, AreDifferentSourcesThatDependOnSeedAndLayer) {
  for (const std::int64_t count : {2, 7, 11, 19}) {
    const CandidatesPtr candidates = candidates_of(20, 30, 3, count);
    for (std::int64_t slot = 0; slot < candidates->slots(); ++slot) {
      std::set<std::int32_t> sources;
      for (std::int64_t k = 0; k < count; ++k) sources.insert(candidates->source(slot, k));
      EXPECT_EQ(std::ssize(sources), count);
      EXPECT_LT(*sources.rbegin(), 20);
    }
  }
  const auto sources_of = [](std::uint64_t seed, std::uint32_t layer) {
    const auto values =
        random_candidates({.inputs = 50, .gates = 9, .arity = 2}, 4, seed, layer)->sources();
    return std::vector<std::int32_t>(values.values<std::int32_t>().begin(),
                                     values.values<std::int32_t>().end());
  };
  EXPECT_EQ(sources_of(1, 0), sources_of(1, 0));
  EXPECT_NE(sources_of(1, 0), sources_of(2, 0));
  EXPECT_NE(sources_of(1, 0), sources_of(1, 1));
}

TEST(RandomCandidates, ListEveryUseOnceInAscendingOrder) {
  const CandidatesPtr candidates = candidates_of(6, 5, 2, 4);
  const CandidateWires wires = candidates->view();
  std::vector<std::int32_t> all;
  for (std::size_t input = 0; input < 6; ++input) {
    const auto begin = wires.uses.begin() + wires.first_use[input];
    const auto end = wires.uses.begin() + wires.first_use[input + 1];
    EXPECT_TRUE(std::is_sorted(begin, end));
    for (auto use = begin; use != end; ++use) {
      EXPECT_EQ(wires.sources[static_cast<std::size_t>(*use)], static_cast<std::int32_t>(input));
      all.push_back(*use);
    }
  }
  std::ranges::sort(all);
  for (std::size_t i = 0; i < all.size(); ++i) EXPECT_EQ(all[i], static_cast<std::int32_t>(i));
  EXPECT_EQ(all.size(), 5U * 2 * 4);
}

TEST(RandomCandidates, AreAllInputsWithoutAListIfAsManyAreWanted) {
  const CandidatesPtr candidates = candidates_of(6, 5, 2, 6);
  EXPECT_TRUE(candidates->has_all());
  EXPECT_FALSE(candidates->sources().defined());
  EXPECT_EQ(candidates->source(3, 4), 4);
}

TEST(RandomCandidates, RejectInvalidCounts) {
  expect_error([] { candidates_of(6, 5, 2, 7); },
               "[candidates] expected from 2 to 6 candidates, one per source at most, received 7");
  expect_error([] { candidates_of(6, 5, 2, 1); },
               "[candidates] expected from 2 to 6 candidates, one per source at most, received 1");
  expect_error(
      [] {
        WireCandidates(4, Tensor::of<std::int32_t>({0, 4}, {1, 1, 2}));
      },
      "[candidates] expected sources below 4, received 4");
  expect_error(
      [] {
        WireCandidates(4, Tensor::of<std::int32_t>({0, 1, 3, 3}, {2, 1, 2}));
      },
      "[candidates] expected different candidates, received source 3 twice at gate 1");
}

std::vector<ImagePosition> positions_of(std::int32_t width, std::int32_t height, int channels) {
  std::vector<ImagePosition> positions;
  for (int channel = 0; channel < channels; ++channel) {
    for (std::int32_t y = 0; y < height; ++y) {
      for (std::int32_t x = 0; x < width; ++x) positions.push_back({x, y});
    }
  }
  return positions;
}

TEST(WindowWiring, StaysInsideItsWindow) {
  const auto positions = positions_of(10, 8, 2);
  const WiringSize size{.inputs = 160, .gates = 50, .arity = 3};
  const WiringPtr wiring = window_wiring(size, positions, 5, 1, 0);
  const CandidatesPtr candidates = window_candidates(size, 6, positions, 5, 1, 0);
  const auto apart = [&](std::int32_t a, std::int32_t b) {
    const ImagePosition p = positions[static_cast<std::size_t>(a)];
    const ImagePosition q = positions[static_cast<std::size_t>(b)];
    return std::max(std::abs(p.x - q.x), std::abs(p.y - q.y));
  };
  std::int32_t farthest = 0;
  for (std::int64_t gate = 0; gate < 50; ++gate) {
    for (int j = 1; j < 3; ++j) {
      farthest = std::max(farthest, apart(wiring->source(gate, 0), wiring->source(gate, j)));
    }
    for (std::int64_t k = 0; k < 18; ++k) {
      farthest = std::max(farthest, apart(candidates->source(gate * 3, 0),
                                          candidates->source(gate * 3 + k / 6, k % 6)));
    }
  }
  EXPECT_EQ(farthest, 4);
}

TEST(WindowWiring, GrowsAWindowThatIsTooSmall) {
  const auto positions = positions_of(10, 8, 1);
  const CandidatesPtr candidates =
      window_candidates({.inputs = 80, .gates = 20, .arity = 2}, 12, positions, 1, 1, 0);
  EXPECT_EQ(candidates->count(), 12);
}

TEST(ButterflyPairs, ReadEveryInputEquallyOften) {
  for (const std::int64_t inputs : {8, 13, 100}) {
    for (std::uint32_t layer = 0; layer < 5; ++layer) {
      const WiringPtr wiring = butterfly_pairs({.inputs = inputs, .gates = inputs}, 1, layer);
      for (std::int64_t i = 0; i < inputs; ++i) EXPECT_EQ(wiring->consumers(i).size(), 2U);
      const WiringPtr half = butterfly_pairs({.inputs = inputs, .gates = inputs / 2}, 1, layer);
      for (std::int64_t i = 0; i < inputs; ++i) EXPECT_LE(half->consumers(i).size(), 2U);
    }
  }
}

TEST(ButterflyPairs, ConnectAnOutputToAllInputsAfterLogarithmicallyManyLayers) {
  constexpr std::int64_t width = 16;
  std::vector<std::set<std::int64_t>> seen(width);
  for (std::int64_t i = 0; i < width; ++i) seen[static_cast<std::size_t>(i)] = {i};
  for (std::uint32_t layer = 0; layer < 4; ++layer) {
    const WiringPtr wiring = butterfly_pairs({.inputs = width, .gates = width}, 1, layer);
    std::vector<std::set<std::int64_t>> next(width);
    for (std::int64_t gate = 0; gate < width; ++gate) {
      for (int j = 0; j < 2; ++j) {
        const auto& from = seen[static_cast<std::size_t>(wiring->source(gate, j))];
        next[static_cast<std::size_t>(gate)].insert(from.begin(), from.end());
      }
    }
    seen = next;
  }
  std::size_t largest = 0;
  for (const auto& inputs : seen) largest = std::max(largest, inputs.size());
  EXPECT_EQ(largest, static_cast<std::size_t>(width));
}

TEST(SelectWires, EqualsTheReferenceWithItsGradients) {
  for (const DType dtype : {DType::float32, DType::float64}) {
    for (const std::int64_t count : {2, 5, 9}) {
      for (const std::int64_t samples : {1, 37, 130}) {
        const CandidatesPtr candidates = candidates_of(9, 6, 2, count);
        const Tensor logits = parameter(initial_wire_logits(*candidates, dtype, 1, 3, 0));
        const Tensor x = parameter(random_tensor({9, samples}, dtype, 4, {0, 1}));
        const Tensor weights = random_tensor({12, samples}, dtype, 6, {-1, 1});
        const Tensor y = select_wires(x, logits, candidates, WireForward::soft, 0.8);
        const Tensor expected = select_wires_reference(x, logits, *candidates, 0.8);
        const auto own = grad(sum(multiply(y, weights)), {x, logits});
        const auto reference = grad(sum(multiply(expected, weights)), {x, logits});
        const double tolerance = dtype == DType::float32 ? 2e-5 : 1e-12;
        for (std::int64_t i = 0; i < y.size(); ++i) {
          ASSERT_NEAR(y.at(i), expected.at(i), tolerance);
        }
        for (std::size_t t = 0; t < 2; ++t) {
          ASSERT_EQ(own[t].shape(), reference[t].shape());
          for (std::int64_t i = 0; i < own[t].size(); ++i) {
            ASSERT_NEAR(own[t].at(i), reference[t].at(i), 10 * tolerance);
          }
        }
      }
    }
  }
}

TEST(SelectWires, ReadsTheBestCandidateAndLearnsLikeTheMixtureIfHard) {
  const CandidatesPtr candidates = candidates_of(9, 6, 2, 4);
  const Tensor logits = parameter(initial_wire_logits(*candidates, DType::float64, 1, 3, 0));
  const Tensor x = parameter(random_tensor({9, 20}, DType::float64, 4, {0, 1}));
  const Tensor weights = random_tensor({12, 20}, DType::float64, 6, {-1, 1});
  const Tensor y = select_wires(x, logits, candidates, WireForward::hard);
  const std::vector<std::int32_t> sources = best_sources(*candidates, logits);
  for (std::int64_t slot = 0; slot < 12; ++slot) {
    for (std::int64_t s = 0; s < 20; ++s) {
      EXPECT_EQ(y.at(slot * 20 + s), x.at(sources[static_cast<std::size_t>(slot)] * 20 + s));
    }
  }
  const auto hard = grad(sum(multiply(y, weights)), {x, logits});
  const auto soft = grad(
      sum(multiply(select_wires(x, logits, candidates, WireForward::soft), weights)), {x, logits});
  for (std::int64_t i = 0; i < soft[1].size(); ++i) {
    EXPECT_NEAR(hard[1].at(i), soft[1].at(i), 1e-13);
  }
  for (std::int64_t input = 0; input < 9; ++input) {
    for (std::int64_t s = 0; s < 20; ++s) {
      double expected = 0;
      for (std::int64_t slot = 0; slot < 12; ++slot) {
        if (sources[static_cast<std::size_t>(slot)] == input) expected += weights.at(slot * 20 + s);
      }
      EXPECT_NEAR(hard[0].at(input * 20 + s), expected, 1e-13);
    }
  }
}

TEST(Redraw, ReplacesAllButTheBestCandidateOfSettledSlots) {
  const CandidatesPtr before = candidates_of(40, 2, 1, 4);
  Tensor logits = Tensor::of<float>({0, 9, 0, 0, 0.1F, 0, 0, 0}, {2, 1, 4});
  const RedrawnCandidates after =
      redraw_candidates(before, logits, {.keep_above = 0.9, .redraw_below = 0}, 1, 0, 7);
  EXPECT_EQ(after.candidates->source(0, 1), before->source(0, 1));
  std::set<std::int32_t> sources;
  for (std::int64_t k = 0; k < 4; ++k) sources.insert(after.candidates->source(0, k));
  EXPECT_EQ(sources.size(), 4U);
  EXPECT_NE(after.candidates->source(0, 0), before->source(0, 0));
  for (std::int64_t k = 0; k < 4; ++k) {
    EXPECT_EQ(after.is_new.at(k), k == 1 ? 0 : 1);
    EXPECT_EQ(after.is_new.at(4 + k), 0);
    EXPECT_EQ(after.candidates->source(1, k), before->source(1, k));
    EXPECT_EQ(after.logits.at(4 + k), logits.at(4 + k));
  }
  // The best one has the probability keep_above.
  double others = 0;
  for (const std::int64_t k : {0, 2, 3}) others += std::exp(after.logits.at(k) - 9);
  EXPECT_NEAR(1 / (1 + others), 0.9, 1e-6);
}

TEST(Redraw, ReplacesAllCandidatesOfUndecidedSlots) {
  const CandidatesPtr before = candidates_of(40, 2, 1, 4);
  const Tensor logits = Tensor::of<float>({0, 9, 0, 0, 0.1F, 0, 0, 0}, {2, 1, 4});
  const RedrawnCandidates after =
      redraw_candidates(before, logits, {.keep_above = 1, .redraw_below = 0.5}, 1, 0, 7);
  for (std::int64_t k = 0; k < 4; ++k) {
    EXPECT_EQ(after.is_new.at(k), 0);
    EXPECT_EQ(after.is_new.at(4 + k), 1);
  }
  EXPECT_EQ(best_candidates(*after.candidates, after.logits)[0], 1);
}

TEST(Regrow, ReplacesTheLeastProbableByTheSourcesWithTheMostNegativeGradients) {
  const CandidatesPtr before = std::make_shared<const WireCandidates>(
      8, Tensor::of<std::int32_t>({0, 1, 2, 3, 4, 5, 6, 7}, {2, 1, 4}));
  const Tensor logits = Tensor::of<float>({3, 0, 2, 1, 0, 1, 2, 3}, {2, 1, 4});
  // One sample: the gradient of source i is i for the first slot and -i for the second.
  const Tensor inputs = Tensor::of<float>({0, 1, 2, 3, 4, 5, 6, 7}, {8, 1});
  const Tensor gradients = Tensor::of<float>({1, -1}, {2, 1});
  const RedrawnCandidates after = regrow_candidates(before, logits, inputs, gradients, 0.5);
  // The first slot keeps 0 and 2; 1 and 3 are the best of the others, so nothing changes.
  for (std::int64_t k = 0; k < 4; ++k) {
    EXPECT_EQ(after.candidates->source(0, k), k);
    EXPECT_EQ(after.is_new.at(k), 0);
    EXPECT_EQ(after.logits.at(k), logits.at(k));
  }
  // The second keeps 6 and 7, and 4 and 5 are the best of the others as well.
  const RedrawnCandidates other =
      regrow_candidates(before, logits, inputs, Tensor::of<float>({-1, 1}, {2, 1}), 0.5);
  EXPECT_EQ(other.candidates->source(0, 0), 0);
  EXPECT_EQ(other.candidates->source(0, 2), 2);
  EXPECT_EQ(other.candidates->source(0, 1), 7);
  EXPECT_EQ(other.candidates->source(0, 3), 6);
  EXPECT_EQ(other.is_new.at(1), 1);
  EXPECT_EQ(other.is_new.at(2), 0);
  EXPECT_EQ(other.logits.at(1), 2) << "new candidates start with the smallest logit that is kept";
  EXPECT_EQ(best_candidates(*other.candidates, other.logits), best_candidates(*before, logits));
}

TEST(LearnedNetwork, IsTheSameAfterAFileAndWithItsWiresFixed) {
  Network network(12, Parametrisation::sigmoid);
  network.add_layer({.gates = 10, .arity = 3, .candidates = 4, .seed = 3});
  network.add_layer({.gates = 6, .arity = 2, .candidates = 0, .seed = 3});
  network.add_layer({.gates = 4, .arity = 2, .seed = 3});
  ASSERT_EQ(network.parameters().size(), 5U);
  const Tensor x = random_tensor({12, 70}, DType::float32, 4, {0, 1});
  const BitMatrix bits = pack_bits(x);
  const BitMatrix expected = network.hard(bits);
  Network loaded = Network::from_file(network.to_file());
  EXPECT_TRUE(loaded.learns_wires());
  EXPECT_EQ(loaded.hard(bits).words, expected.words);
  const Network plain = Network::from_file(without_candidates(network.to_file()));
  EXPECT_FALSE(plain.learns_wires());
  EXPECT_EQ(plain.hard(bits).words, expected.words);
  loaded.fix_wires();
  EXPECT_FALSE(loaded.learns_wires());
  EXPECT_EQ(loaded.parameters().size(), 3U);
  EXPECT_EQ(loaded.hard(bits).words, expected.words);
}

TEST(LearnedNetwork, ChoosesWiresAfterItsLogitsHaveChanged) {
  Network network(12, Parametrisation::sigmoid);
  network.add_layer({.gates = 10, .arity = 2, .candidates = 4, .seed = 3});
  Tensor logits = network.layers()[0].wire_logits;
  for (float& logit : logits.mutable_values<float>()) logit = -logit;
  const CandidatesPtr candidates = network.layers()[0].candidates;
  network.choose_wires();
  const auto sources = best_sources(*candidates, logits);
  EXPECT_TRUE(std::ranges::equal(network.layers()[0].wiring->sources(), sources));
}

}  // namespace
}  // namespace boolgrad::logic
