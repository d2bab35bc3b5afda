// How good a network is at a task, soft and hardened.
#pragma once

#include "boolgrad/data/boolean_task.h"
#include "boolgrad/logic/network.h"
#include "boolgrad/train/experiment/experiment.h"

namespace boolgrad {

/// A task's cases in the forms that forward passes read.
struct Cases {
  Tensor inputs;   ///< [inputs, cases] in the network's dtype
  Tensor targets;  ///< [outputs, cases]
  BitMatrix input_bits;
  BitMatrix target_bits;

  Cases(const BooleanTask& task, DType dtype);
};

struct Evaluation {
  // A case is a line of a truth table or, of an automaton, a fresh start. Soft figures of automata
  // are those of as many starts as a training step has.
  double soft_loss = 0;      ///< the training loss, summed over all outputs of all cases
  double soft_accuracy = 0;  ///< share of cases whose soft outputs all round to what is wanted
  double hard_loss = 0;      ///< output bits of all cases that the hardened circuit gets wrong
  double hard_accuracy = 0;  ///< share of cases of which it gets every output bit right
  double bit_accuracy = 0;   ///< share of output bits that it gets right

  Tensor picture =
      {};  ///< of automata: a state that the soft rule leads to, [channels, 1, height, width]

  bool solved() const { return hard_loss == 0; }
};

/// Output bits of all cases that the hardened circuit gets wrong.
double wrong_bits(const LogicNetwork& network, const Cases& cases);

Evaluation evaluate(const LogicNetwork& network, const Cases& cases,
                    const TrainingOptions& training);

}  // namespace boolgrad
