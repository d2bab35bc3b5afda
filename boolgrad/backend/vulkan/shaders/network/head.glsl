// From the sums of a head to the scores that its loss is computed from.

// Must match `HeadKind`.
const int CLASSES = 0, BINARY = 1, REGRESSION = 2, BITS = 3;

/// Whether every group votes on a bit of the class.
const bool HAS_VOTES = HEAD_KIND == BINARY || HEAD_KIND == BITS;

/// The derivative of a score with respect to its sum.
float slope_of_score(int g) {
  return HEAD_KIND == REGRESSION ? arguments.score_scale / largest_sum(g) : arguments.score_scale;
}

/// A class: sum / temperature. A vote: (sum - largest / 2) / (2 temperature). Regression: sum /
/// largest.
float score_of(int g, float sum) {
  return (HAS_VOTES ? sum - 0.5 * largest_sum(g) : sum) * slope_of_score(g);
}
