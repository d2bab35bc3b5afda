# OpenBLAS gives variables with absolute paths. A target by name is what an export can carry, so that
# the installed package holds no path of the machine it was built on.
if(NOT TARGET boolgrad::openblas)
  add_library(boolgrad::openblas INTERFACE IMPORTED)
  set_target_properties(boolgrad::openblas PROPERTIES
    INTERFACE_INCLUDE_DIRECTORIES "${OpenBLAS_INCLUDE_DIRS}"
    INTERFACE_LINK_LIBRARIES "${OpenBLAS_LIBRARIES}")
endif()
