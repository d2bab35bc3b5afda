# `cmake --install` leaves a package for find_package(boolgrad): the library with the headers a user
# includes, the program, the reference values that it verifies itself against and the experiments it
# knows by name, with the patterns some of them grow.
include(CMakePackageConfigHelpers)

set(package_dir ${CMAKE_INSTALL_LIBDIR}/cmake/boolgrad)

install(TARGETS boolgrad EXPORT boolgrad)
install(EXPORT boolgrad NAMESPACE boolgrad:: FILE boolgradTargets.cmake DESTINATION ${package_dir})
install(DIRECTORY boolgrad DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}
  FILES_MATCHING PATTERN "*.h"
  # The inside of the library. The install test includes every header that is left.
  PATTERN "cli" EXCLUDE
  REGEX "/backend/(cpu|cuda|vulkan|no_cuda|no_vulkan)$" EXCLUDE
  REGEX "/backend/plan/(automaton|network|gate_order|flat)[a-z_]*\\.h$" EXCLUDE
  PATTERN "network_checks.h" EXCLUDE
  PATTERN "tape_node.h" EXCLUDE
  PATTERN "page_parts.h" EXCLUDE
  PATTERN "sat_miter.h" EXCLUDE
  PATTERN "data/bytes_file.h" EXCLUDE
  PATTERN "model/keys.h" EXCLUDE
  PATTERN "experiment_keys.h" EXCLUDE
  PATTERN "best_model.h" EXCLUDE
  PATTERN "ops/checks.h" EXCLUDE
  PATTERN "ops/unary.h" EXCLUDE
  PATTERN "geometry/arrangement.h" EXCLUDE
  PATTERN "geometry/disk_tree.h" EXCLUDE
  PATTERN "geometry/saved_gradient.h" EXCLUDE
  PATTERN "picture/axis.h" EXCLUDE
  PATTERN "picture/canvas.h" EXCLUDE
  PATTERN "picture/plot_style.h" EXCLUDE)

configure_package_config_file(cmake/boolgradConfig.cmake.in generated/boolgradConfig.cmake
  INSTALL_DESTINATION ${package_dir})
write_basic_package_version_file(${PROJECT_BINARY_DIR}/generated/boolgradConfigVersion.cmake
  COMPATIBILITY SameMinorVersion)
install(FILES
  ${PROJECT_BINARY_DIR}/generated/boolgradConfig.cmake
  ${PROJECT_BINARY_DIR}/generated/boolgradConfigVersion.cmake
  cmake/openblas_target.cmake
  cmake/cadical_target.cmake
  DESTINATION ${package_dir})

if(TARGET boolgrad_cli)
  install(TARGETS boolgrad_cli)
endif()
file(GLOB goldens CONFIGURE_DEPENDS goldens/*.safetensors)
install(FILES ${goldens} DESTINATION ${CMAKE_INSTALL_DATADIR}/boolgrad/goldens)
file(GLOB experiments CONFIGURE_DEPENDS experiments/*.toml experiments/*.txt)
install(FILES ${experiments} DESTINATION ${CMAKE_INSTALL_DATADIR}/boolgrad/experiments)
