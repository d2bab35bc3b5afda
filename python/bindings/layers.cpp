#include <nanobind/nanobind.h>

#include "arrays.h"
#include "module.h"

namespace boolgrad::python {

void bind_layers(nb::module_& package) { package.def_submodule("layers"); }

}  // namespace boolgrad::python
