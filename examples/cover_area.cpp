// Three disks that should cover a given area, and where the gradient of that area comes from.
//
// Two of them overlap; the third is separate. Its radius has a gradient, but its centre has none:
// moving it changes nothing until it touches another disk. `fit_union_area` crosses that gap with a
// smoothed area and finishes with the exact one.
#include <boolgrad/boolgrad.h>

#include <cmath>
#include <cstdio>

namespace bg = boolgrad;
using bg::Tensor;

namespace {

void print(const char* title, const Tensor& numbers) {
  std::printf("%s\n", title);
  for (std::int64_t i = 0; i < numbers.size(); i += 3) {
    std::printf("  x %8.4f  y %8.4f  r %8.4f\n", numbers.at(i), numbers.at(i + 1),
                numbers.at(i + 2));
  }
}

}  // namespace

int main() {
  const Tensor disks =
      bg::parameter(Tensor::of<double>({0, 0, 1, 1.2, 0, 0.9, 3.4, 0.5, 0.8}, {3, 3}));
  const Tensor area = bg::geometry::disk_union_area(disks);
  const Tensor slopes = grad(area, disks);
  print("disks", disks);
  std::printf("area %.6f\n", area.item());
  print("gradient", slopes);

  // Only the third disk may move, until the union covers 90 percent of what it covers now.
  const Tensor third_centre = Tensor::of<double>({0, 0, 0, 0, 0, 0, 1, 1, 0}, {3, 3});
  const double target = 0.9 * area.item();
  const bg::geometry::FitResult fit = bg::geometry::fit_union_area(disks, third_centre, target);
  print("moved", fit.disks);
  std::printf("area %.6f after %zu steps, target %.6f\n",
              bg::geometry::disk_union_area(fit.disks).item(), fit.history.size() - 1, target);

  const bool centre_has_no_gradient = slopes.at(6) == 0 && slopes.at(7) == 0;
  return centre_has_no_gradient && fit.converged && std::abs(fit.error) <= 1e-12 ? 0 : 1;
}
