// Three disks that cover a wanted area, and where the gradient of that area comes from.
//
// Two of them overlap and the third stands apart. Its radius has a gradient, its centre none:
// moving it changes nothing until it touches another. `fit_union_area` finds its way across with a
// blurred area and finishes with the exact one.
#include <fmt/format.h>

#include <cmath>
#include <vector>

#include "boolgrad/autograd/tape.h"
#include "boolgrad/geometry/hybrid.h"
#include "boolgrad/geometry/union_area.h"

using boolgrad::Tensor;

namespace {

void print(const char* title, const Tensor& numbers) {
  fmt::print("{}\n", title);
  for (std::int64_t i = 0; i < numbers.size(); i += 3) {
    fmt::print("  x {:8.4f}  y {:8.4f}  r {:8.4f}\n", numbers.at(i), numbers.at(i + 1),
               numbers.at(i + 2));
  }
}

}  // namespace

int main() {
  const Tensor disks =
      boolgrad::parameter(Tensor::of<double>({0, 0, 1, 1.2, 0, 0.9, 3.4, 0.5, 0.8}, {3, 3}));
  const Tensor area = disk_union_area(disks);
  backward(area);
  print("disks", disks);
  fmt::print("area {:.6f}\n", area.item());
  print("gradient", gradient(disks));

  // The third disk alone may move, until the union covers 90 percent of what it covers now.
  const Tensor third_centre = Tensor::of<double>({0, 0, 0, 0, 0, 0, 1, 1, 0}, {3, 3});
  const double target = 0.9 * area.item();
  const boolgrad::FitResult fit = fit_union_area(disks, third_centre, target);
  print("moved", fit.disks);
  fmt::print("area {:.6f} after {} steps, wanted {:.6f}\n", disk_union_area(fit.disks).item(),
             fit.history.size() - 1, target);

  const bool apart_has_no_pull = gradient(disks).at(6) == 0 && gradient(disks).at(7) == 0;
  return apart_has_no_pull && fit.converged && std::abs(fit.error) <= 1e-12 ? 0 : 1;
}
