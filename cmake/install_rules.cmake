# `cmake --install` leaves a package for find_package(boolgrad): the libraries, the public headers, the
# program with its reference values, built-in experiments, completion scripts and manual page, the
# documentation and the examples.
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
  # The program writes its own completion scripts and manual page.
  set(from_program ${PROJECT_BINARY_DIR}/generated/from_program)
  install(CODE "
    file(MAKE_DIRECTORY ${from_program})
    foreach(item \"completion;bash\" \"completion;zsh\" \"completion;fish\" \"manual\")
      list(GET item -1 name)
      execute_process(COMMAND $<TARGET_FILE:boolgrad_cli> \${item}
        OUTPUT_FILE ${from_program}/\${name} RESULT_VARIABLE result)
      if(NOT result EQUAL 0)
        message(FATAL_ERROR \"boolgrad \${item}: \${result}\")
      endif()
    endforeach()")
  install(FILES ${from_program}/bash RENAME boolgrad
    DESTINATION ${CMAKE_INSTALL_DATADIR}/bash-completion/completions)
  install(FILES ${from_program}/zsh RENAME _boolgrad
    DESTINATION ${CMAKE_INSTALL_DATADIR}/zsh/site-functions)
  install(FILES ${from_program}/fish RENAME boolgrad.fish
    DESTINATION ${CMAKE_INSTALL_DATADIR}/fish/vendor_completions.d)
  install(FILES ${from_program}/manual RENAME boolgrad.1 DESTINATION ${CMAKE_INSTALL_MANDIR}/man1)
endif()
file(GLOB goldens CONFIGURE_DEPENDS goldens/*.safetensors)
install(FILES ${goldens} DESTINATION ${CMAKE_INSTALL_DATADIR}/boolgrad/goldens)
file(GLOB experiments CONFIGURE_DEPENDS experiments/*.toml experiments/*.txt)
install(FILES ${experiments} DESTINATION ${CMAKE_INSTALL_DATADIR}/boolgrad/experiments)
file(GLOB libraries CONFIGURE_DEPENDS libraries/*.genlib)
install(FILES ${libraries} DESTINATION ${CMAKE_INSTALL_DATADIR}/boolgrad/libraries)

install(FILES LICENSE README.md DESTINATION ${CMAKE_INSTALL_DOCDIR})
install(DIRECTORY docs examples DESTINATION ${CMAKE_INSTALL_DOCDIR})
