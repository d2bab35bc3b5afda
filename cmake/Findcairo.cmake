# Cairo is installed without a CMake package. Defines cairo::cairo.
find_path(cairo_INCLUDE_DIR cairo.h PATH_SUFFIXES cairo)
find_library(cairo_LIBRARY cairo)
mark_as_advanced(cairo_INCLUDE_DIR cairo_LIBRARY)

include(FindPackageHandleStandardArgs)
find_package_handle_standard_args(cairo
  REQUIRED_VARS cairo_LIBRARY cairo_INCLUDE_DIR
  REASON_FAILURE_MESSAGE "The package of Debian and Ubuntu is libcairo2-dev.")

if(cairo_FOUND AND NOT TARGET cairo::cairo)
  add_library(cairo::cairo UNKNOWN IMPORTED)
  set_target_properties(cairo::cairo PROPERTIES
    IMPORTED_LOCATION "${cairo_LIBRARY}"
    INTERFACE_INCLUDE_DIRECTORIES "${cairo_INCLUDE_DIR}")
endif()
