# The packages that boolgrad links, how each is found and the target it provides. The build and the
# installed package share this file. Before it is included, boolgrad_find_package must be defined:
# the build requires a package, the installed one looks for it as a dependency.
set(boolgrad_target_fmt fmt::fmt)
set(boolgrad_target_TBB TBB::tbb)
set(boolgrad_target_hwy hwy::hwy)
set(boolgrad_target_OpenBLAS boolgrad::openblas)
set(boolgrad_target_CUDAToolkit CUDA::cudart_static)
set(boolgrad_target_CaDiCaL CaDiCaL::CaDiCaL)
set(boolgrad_target_PNG PNG::PNG)
set(boolgrad_target_GIF GIF::GIF)
set(boolgrad_target_ZLIB ZLIB::ZLIB)
set(boolgrad_target_cairo cairo::cairo)
set(boolgrad_target_tomlplusplus tomlplusplus::tomlplusplus)

macro(boolgrad_find package)
  if("${package}" MATCHES "^(fmt|TBB|hwy|OpenBLAS|tomlplusplus)$")
    boolgrad_find_package(${package} CONFIG)
  else()
    boolgrad_find_package(${package})
  endif()
  # OpenBLAS provides variables with absolute paths. The name of a target keeps the paths of the machine
  # that built boolgrad out of the installed package.
  if("${package}" STREQUAL "OpenBLAS" AND NOT TARGET boolgrad::openblas)
    add_library(boolgrad::openblas INTERFACE IMPORTED)
    set_target_properties(boolgrad::openblas PROPERTIES
      INTERFACE_INCLUDE_DIRECTORIES "${OpenBLAS_INCLUDE_DIRS}"
      INTERFACE_LINK_LIBRARIES "${OpenBLAS_LIBRARIES}")
  endif()
endmacro()
