// The MONK's problems (Thrun et al., The MONK's Problems, 1991): robots with six attributes.
#pragma once

#include "boolgrad/data/data_set.h"

namespace boolgrad::data {

struct MonkProblem {
  SampleSet train;  ///< features uint8 [samples, 17], one per value of an attribute
  SampleSet test;   ///< all 432 robots
  DataFormat format;
};

/// Problem 1, 2 or 3:
///
///   1  head and body have the same shape, or the jacket is red        (a1 = a2 or a5 = 1)
///   2  exactly two of the six attributes have their first value
///   3  a green jacket and a sword, or a jacket that is not blue and a body that is not an octagon
///      (a5 = 3 and a4 = 1, or a5 != 4 and a2 != 3)
///
/// The training sets have 124, 169 and 122 robots, as published. They are sampled with a fixed seed
/// and are not the published ones. In problem 3, 6 of the 122 labels (5 %) are flipped as noise.
MonkProblem monk_problem(int number);

}  // namespace boolgrad::data
