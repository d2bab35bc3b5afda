// The parts of the extension, one file per topic.
#pragma once

#include <nanobind/nanobind.h>

#include <nlohmann/json_fwd.hpp>
#include <string>

#include "boolgrad/options/device.h"

namespace boolgrad::python {

namespace nb = nanobind;

void bind_circuit(nb::module_& module);
void bind_models(nb::module_& module);
void bind_training(nb::module_& module);
void bind_geometry(nb::module_& module);
void bind_ops(nb::module_& module);
void bind_layers(nb::module_& module);

/// The device with this name. Throws if there is none or if it cannot be used.
Device device_called(const std::string& name);

/// JSON as dictionaries, lists, strings and numbers of Python.
nb::object object_of(const nlohmann::ordered_json& json);

}  // namespace boolgrad::python
