// The MONK's problems (Thrun and others: The MONK's Problems, 1991): robots of six attributes.
#pragma once

#include "boolgrad/data/data_set.h"

namespace boolgrad {

struct MonkProblem {
  SampleSet train;  ///< features uint8 [samples, 17], a feature a value of an attribute
  SampleSet test;   ///< all 432 robots
  DataForm form;
};

/// Problem 1, 2 or 3:
///
///   1  head and body have the same shape, or the jacket is red        (a1 = a2 or a5 = 1)
///   2  exactly two of the six attributes have their first value
///   3  a green jacket and a sword, or a jacket that is not blue and a body that is no octagon
///      (a5 = 3 and a4 = 1, or a5 != 4 and a2 != 3)
///
/// It is learned from 124, 169 and 122 of the robots, as many as were published. Which they are is
/// drawn here, always the same: they are not those of the publication. Of problem 3, 6 of the 122
/// labels (5 %) are wrong on purpose.
MonkProblem monk_problem(int number);

}  // namespace boolgrad
