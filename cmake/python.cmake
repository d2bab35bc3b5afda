# The extension of the Python package: python/bindings, linked with the static libraries. pip builds it
# through pyproject.toml. Its files are the install component `python`, which pip alone installs.
if(BUILD_SHARED_LIBS)
  message(FATAL_ERROR "The Python package contains its libraries: BOOLGRAD_PYTHON needs BUILD_SHARED_LIBS=OFF")
endif()

file(GLOB python_sources CONFIGURE_DEPENDS python/bindings/*.cpp)
# In split mode one extension serves Python 3.10 and later: it uses the stable ABI of 3.10, and the part of
# nanobind that depends on the interpreter is the package nanobind-backend.
nanobind_add_module(boolgrad_python BACKEND_MODULE nanobind_backend NB_SUPPRESS_WARNINGS
  ${python_sources})
set_target_properties(boolgrad_python PROPERTIES
  OUTPUT_NAME _core
  LIBRARY_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/python/boolgrad)
target_link_libraries(boolgrad_python PRIVATE
  boolgrad fmt::fmt nlohmann_json::nlohmann_json boolgrad_compile_options)
# Other extensions of the same process have libraries of the same names.
target_link_options(boolgrad_python PRIVATE -Wl,--exclude-libs,ALL)

# Type stubs. They name the extension as a part of the package, which is empty here.
file(WRITE ${PROJECT_BINARY_DIR}/python/boolgrad/__init__.py "")
set(python_stubs __init__ geometry layers ops)
list(TRANSFORM python_stubs REPLACE "(.+)" "${PROJECT_BINARY_DIR}/python/stubs/_core/\\1.pyi")
nanobind_add_stub(boolgrad_python_stub
  MODULE boolgrad._core
  RECURSIVE
  OUTPUT_PATH ${PROJECT_BINARY_DIR}/python/stubs
  OUTPUT ${python_stubs}
  PYTHON_PATH ${PROJECT_BINARY_DIR}/python
  DEPENDS boolgrad_python)

install(TARGETS boolgrad_python LIBRARY DESTINATION . COMPONENT python EXCLUDE_FROM_ALL)
install(FILES ${python_stubs} DESTINATION _core COMPONENT python EXCLUDE_FROM_ALL)
# The program finds its files as after any other installation.
install(TARGETS boolgrad_cli RUNTIME DESTINATION bin COMPONENT python EXCLUDE_FROM_ALL)
install(FILES ${goldens} DESTINATION share/boolgrad/goldens COMPONENT python EXCLUDE_FROM_ALL)
install(FILES ${experiments} DESTINATION share/boolgrad/experiments COMPONENT python EXCLUDE_FROM_ALL)
install(FILES ${libraries} DESTINATION share/boolgrad/libraries COMPONENT python EXCLUDE_FROM_ALL)
