# CaDiCaL comes as a header and a library without a word for CMake. As with OpenBLAS, a target by
# name is what an export can carry.
if(NOT TARGET boolgrad::cadical)
  find_path(CADICAL_INCLUDE_DIR cadical.hpp PATH_SUFFIXES cadical)
  find_library(CADICAL_LIBRARY cadical)
  mark_as_advanced(CADICAL_INCLUDE_DIR CADICAL_LIBRARY)
  if(NOT CADICAL_INCLUDE_DIR OR NOT CADICAL_LIBRARY)
    message(FATAL_ERROR "CaDiCaL was not found: Debian and Ubuntu have it as libcadical-dev")
  endif()
  add_library(boolgrad::cadical INTERFACE IMPORTED)
  set_target_properties(boolgrad::cadical PROPERTIES
    INTERFACE_INCLUDE_DIRECTORIES "${CADICAL_INCLUDE_DIR}"
    INTERFACE_LINK_LIBRARIES "${CADICAL_LIBRARY}")
endif()
