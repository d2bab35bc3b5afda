#include "module.h"

#include <fmt/format.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <nlohmann/json.hpp>
#include <string_view>

#include "boolgrad/backend/device/devices.h"
#include "boolgrad/core/build_info.h"
#include "boolgrad/core/error.h"
#include "boolgrad/core/fail.h"
#include "boolgrad/core/parallel.h"
#include "boolgrad/core/text.h"

namespace boolgrad::python {
namespace {

/// Whether a message is about the system rather than about an argument: `[where] cannot ...`.
bool is_system_failure(std::string_view message) {
  return message.find("cannot ") != std::string_view::npos ||
         message.find("out of memory") != std::string_view::npos ||
         message.find("no usable ") != std::string_view::npos;
}

void translate(const std::exception_ptr& thrown, void* /*unused*/) {
  try {
    std::rethrow_exception(thrown);
  } catch (const Error& error) {
    const nb::module_ errors = nb::module_::import_("boolgrad._errors");
    const char* name = is_system_failure(error.what()) ? "Error" : "ArgumentError";
    PyErr_SetString(errors.attr(name).ptr(), error.what());
  }
}

nb::list devices() {
  nb::list result;
  for (const DeviceDescription& device : all_devices()) {
    nb::dict entry;
    entry["device"] = device.device;
    entry["name"] = device.name;
    entry["kind"] = device.kind;
    entry["memory"] = device.memory;
    entry["usable"] = device.why_not.empty();
    entry["why_not"] = device.why_not;
    result.append(entry);
  }
  return result;
}

}  // namespace

Device device_called(const std::string& name) {
  const std::optional<Device> device = parse_device(name);
  if (!device) fail("device", "expected {}, received {}", device_names, printable(name));
  if (device->is_cpu()) return *device;
  const std::string why_not = why_unavailable(*device);
  if (!why_not.empty()) {
    fail("device", "no usable {} device: {}", device->backend == Backend::cuda ? "CUDA" : "Vulkan",
         why_not);
  }
  return *device;
}

nb::object object_of(const nlohmann::ordered_json& json) {
  return nb::module_::import_("json").attr("loads")(json.dump());
}

}  // namespace boolgrad::python

NB_MODULE(_core, module) {
  namespace python = boolgrad::python;
  module.doc() = "The compiled part of boolgrad. Use the package boolgrad.";
  nanobind::register_exception_translator(python::translate);
  module.attr("__version__") = std::string(boolgrad::version());
  module.def("build_info", &boolgrad::build_summary, "What this build contains, as text.");
  module.def("thread_count", &boolgrad::thread_count,
             "The number of threads that computations use.");
  module.def(
      "set_thread_count", &boolgrad::set_thread_count, nanobind::arg("threads"),
      "Sets the number of threads. Results do not depend on it. Do not call it while another "
      "thread computes.");
  module.def("devices", &python::devices,
             "All devices with their names, and whether they can be used.");
  python::bind_circuit(module);
  python::bind_models(module);
  python::bind_training(module);
  python::bind_geometry(module);
  python::bind_ops(module);
  python::bind_layers(module);
}
