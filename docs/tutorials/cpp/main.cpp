#include <boolgrad/boolgrad.h>

#include <iostream>

namespace bg = boolgrad;

int main() {
  // All four cases of XOR, one per column: [inputs, samples] and [outputs, samples].
  const bg::Tensor x = bg::Tensor::of<float>({0, 1, 0, 1, 0, 0, 1, 1}, {2, 4});
  const bg::Tensor y = bg::Tensor::of<float>({0, 1, 1, 0}, {1, 4});

  bg::logic::Network network(2, bg::Parametrisation::sigmoid);
  network.add_layer({.gates = 4, .arity = 2, .seed = 1});
  network.add_layer({.gates = 1, .arity = 2, .seed = 2});

  bg::AdamW optimiser(network.parameters(), {});
  for (int step = 0; step < 200; ++step) {
    const bg::Tensor loss = bg::mean_squared_error(network.soft(x), y);
    optimiser.step(bg::grad(loss, network.parameters()), 0.1);
  }

  const bg::circuit::Netlist circuit = bg::circuit::simplify(bg::circuit::harden(network));
  std::cout << circuit.to_verilog();
}
