// Hardens a small network and writes it as Verilog: what a program that links boolgrad::circuit
// needs.
#include <iostream>
#include <string>

#include "boolgrad/circuit/harden.h"
#include "boolgrad/circuit/netlist.h"
#include "boolgrad/logic/network.h"

int main() {
  using namespace boolgrad;
  logic::Network network(4);
  network.add_layer({.gates = 8, .seed = 1});

  const Tensor soft = network.soft(Tensor::ones({4, 3}, DType::float32));
  const std::string design = circuit::harden(network).to_verilog();
  std::cout << design;
  return soft.shape() == Shape{8, 3} && design.find("endmodule") != std::string::npos ? 0 : 1;
}
