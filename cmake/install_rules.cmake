# `cmake --install` leaves a package for find_package(boolgrad): the libraries, the public headers, the
# program with its reference values and built-in experiments, the documentation and the examples.
include(CMakePackageConfigHelpers)

set(package_dir ${CMAKE_INSTALL_LIBDIR}/cmake/boolgrad)

install(TARGETS ${library_targets} EXPORT boolgrad)
install(EXPORT boolgrad NAMESPACE boolgrad:: FILE boolgradTargets.cmake DESTINATION ${package_dir})

# The headers that a user may include.
set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS cmake/public_headers.txt)
file(STRINGS cmake/public_headers.txt public_headers REGEX "^boolgrad/")
foreach(header IN LISTS public_headers)
  get_filename_component(folder ${header} DIRECTORY)
  install(FILES ${header} DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/${folder})
endforeach()

set(package_lists "")
foreach(module IN LISTS library_modules)
  string(APPEND package_lists "set(boolgrad_packages_of_${module} ${${module}_packages})\n")
endforeach()
configure_package_config_file(cmake/boolgradConfig.cmake.in generated/boolgradConfig.cmake
  INSTALL_DESTINATION ${package_dir})
write_basic_package_version_file(${PROJECT_BINARY_DIR}/generated/boolgradConfigVersion.cmake
  COMPATIBILITY SameMinorVersion)
install(FILES
  ${PROJECT_BINARY_DIR}/generated/boolgradConfig.cmake
  ${PROJECT_BINARY_DIR}/generated/boolgradConfigVersion.cmake
  cmake/boolgrad_packages.cmake
  cmake/FindCaDiCaL.cmake
  cmake/Findcairo.cmake
  DESTINATION ${package_dir})

if(TARGET boolgrad_cli)
  install(TARGETS boolgrad_cli)
endif()
file(GLOB goldens CONFIGURE_DEPENDS goldens/*.safetensors)
install(FILES ${goldens} DESTINATION ${CMAKE_INSTALL_DATADIR}/boolgrad/goldens)
file(GLOB experiments CONFIGURE_DEPENDS experiments/*.toml experiments/*.txt)
install(FILES ${experiments} DESTINATION ${CMAKE_INSTALL_DATADIR}/boolgrad/experiments)

install(FILES LICENSE README.md DESTINATION ${CMAKE_INSTALL_DOCDIR})
install(DIRECTORY docs examples DESTINATION ${CMAKE_INSTALL_DOCDIR})
