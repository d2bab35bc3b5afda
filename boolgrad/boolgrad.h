// The whole library in one include.
//
//   boolgrad            tensors, ops, `grad`, optimisers, models: load, predict, evaluate
//   boolgrad::logic     soft gates, wirings, networks of look-up tables
//   boolgrad::circuit   hardened logic: netlists, passes, bit-parallel evaluation, file formats
//   boolgrad::automata  cellular automata whose cells run a network
//   boolgrad::geometry  unions of disks with exact gradients
//   boolgrad::data      data sets and tasks
//   boolgrad::train     experiments, runs, sweeps
//   boolgrad::picture   PNG, GIF, plots
//
// One table order holds everywhere: entry i of a table is the output for the inputs whose bit j is
// input j, so entry 1 of a two-input table is f(a = 1, b = 0).
#pragma once

// IWYU pragma: begin_exports
#include "boolgrad/autograd/custom_vjp.h"
#include "boolgrad/autograd/gradcheck.h"
#include "boolgrad/autograd/tape.h"
#include "boolgrad/automata/bit_automaton.h"
#include "boolgrad/automata/bit_grid.h"
#include "boolgrad/automata/rollout.h"
#include "boolgrad/automata/rule.h"
#include "boolgrad/automata/rule_netlist.h"
#include "boolgrad/automata/starts.h"
#include "boolgrad/circuit/bits/runner.h"
#include "boolgrad/circuit/formats/aiger.h"
#include "boolgrad/circuit/formats/blif.h"
#include "boolgrad/circuit/formats/c99.h"
#include "boolgrad/circuit/formats/dot.h"
#include "boolgrad/circuit/formats/html.h"
#include "boolgrad/circuit/formats/netlist_files.h"
#include "boolgrad/circuit/formats/text.h"
#include "boolgrad/circuit/formats/verilog.h"
#include "boolgrad/circuit/formats/verilog_reader.h"
#include "boolgrad/circuit/group_sums.h"
#include "boolgrad/circuit/harden.h"
#include "boolgrad/circuit/netlist.h"
#include "boolgrad/circuit/passes/mapping.h"
#include "boolgrad/circuit/passes/passes.h"
#include "boolgrad/circuit/proof/equivalence.h"
#include "boolgrad/circuit/shared_circuit.h"
#include "boolgrad/core/build_info.h"
#include "boolgrad/core/error.h"
#include "boolgrad/core/random.h"
#include "boolgrad/data/automaton_task.h"
#include "boolgrad/data/boolean_task.h"
#include "boolgrad/data/data_set.h"
#include "boolgrad/geometry/hybrid.h"
#include "boolgrad/geometry/impact.h"
#include "boolgrad/geometry/pair_area.h"
#include "boolgrad/geometry/smoothed_area.h"
#include "boolgrad/geometry/union_area.h"
#include "boolgrad/logic/gates.h"
#include "boolgrad/logic/head.h"
#include "boolgrad/logic/lut.h"
#include "boolgrad/logic/network.h"
#include "boolgrad/logic/parametrisation.h"
#include "boolgrad/logic/thresholds.h"
#include "boolgrad/logic/wiring.h"
#include "boolgrad/model/equality.h"
#include "boolgrad/model/evaluation.h"
#include "boolgrad/model/export.h"
#include "boolgrad/model/inspection.h"
#include "boolgrad/model/model.h"
#include "boolgrad/model/playback.h"
#include "boolgrad/model/prediction.h"
#include "boolgrad/ops/activation.h"
#include "boolgrad/ops/arithmetic.h"
#include "boolgrad/ops/elementwise.h"
#include "boolgrad/ops/loss.h"
#include "boolgrad/ops/matrix.h"
#include "boolgrad/ops/reduction.h"
#include "boolgrad/ops/shaping.h"
#include "boolgrad/optim/adamw.h"
#include "boolgrad/optim/gradients.h"
#include "boolgrad/optim/schedule.h"
#include "boolgrad/picture/gif.h"
#include "boolgrad/picture/image.h"
#include "boolgrad/picture/plot.h"
#include "boolgrad/picture/png.h"
#include "boolgrad/tensor/safetensors.h"
#include "boolgrad/tensor/tensor.h"
#include "boolgrad/train/experiment/changes.h"
#include "boolgrad/train/experiment/experiment.h"
#include "boolgrad/train/run/run.h"
#include "boolgrad/train/sweep/sweep.h"
// IWYU pragma: end_exports
