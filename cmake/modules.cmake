# One library per module of boolgrad/modules.txt: boolgrad::<module>. A folder of its own library may
# lie inside a module, as circuit/proof does, so that others can link the module without it.
#
# Sets library_modules to the names in link order, and for each of them <module>_packages to the
# packages that it and the modules it links need.

# The packages that a module links. All modules link fmt.
set(packages_of_core TBB)
set(packages_of_picture PNG GIF cairo)
set(packages_of_backend hwy OpenBLAS)
set(packages_of_proof CaDiCaL)
set(packages_of_data ZLIB)
set(packages_of_model tomlplusplus)
set(packages_of_train tomlplusplus)
if(BOOLGRAD_CUDA)
  # The static runtime: a program runs wherever there is a driver.
  list(APPEND packages_of_backend CUDAToolkit)
endif()

set(folder_of_proof circuit/proof)

set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS boolgrad/modules.txt)
file(STRINGS boolgrad/modules.txt library_modules)
list(REMOVE_ITEM library_modules cli)
list(FIND library_modules circuit place)
math(EXPR place "${place} + 1")
list(INSERT library_modules ${place} proof)

# The module that a path below boolgrad/ belongs to.
function(find_module path result)
  if(path MATCHES "^circuit/proof/")
    set(${result} proof PARENT_SCOPE)
  else()
    string(REGEX REPLACE "/.*" "" module "${path}")
    set(${result} ${module} PARENT_SCOPE)
  endif()
endfunction()

# The sources, and the modules whose headers they include. A module can only include modules above
# it, so the libraries cannot depend on each other in a circle.
file(GLOB_RECURSE library_files CONFIGURE_DEPENDS RELATIVE ${PROJECT_SOURCE_DIR}/boolgrad
  boolgrad/*.cpp boolgrad/*.cu boolgrad/*.h boolgrad/*.cuh)
list(FILTER library_files EXCLUDE REGEX "^(cli|core/mpi)/")  # core/mpi is a library of its own
if(BOOLGRAD_CUDA)
  list(FILTER library_files EXCLUDE REGEX "^backend/no_cuda/")
else()
  list(FILTER library_files EXCLUDE REGEX "^backend/cuda/")
endif()
if(BOOLGRAD_VULKAN)
  list(FILTER library_files EXCLUDE REGEX "^backend/no_vulkan/")
else()
  list(FILTER library_files EXCLUDE REGEX "^backend/vulkan/")
endif()
foreach(file IN LISTS library_files)
  find_module(${file} module)
  if(NOT module IN_LIST library_modules)
    continue()  # a header of the whole library
  endif()
  if(file MATCHES "\\.(cpp|cu)$")
    list(APPEND sources_of_${module} ${PROJECT_SOURCE_DIR}/boolgrad/${file})
  endif()
  file(STRINGS boolgrad/${file} includes REGEX "^[ \t]*#[ \t]*include[ \t]*[<\"]boolgrad/")
  foreach(include IN LISTS includes)
    string(REGEX REPLACE ".*[<\"]boolgrad/([^>\"]+).*" "\\1" path "${include}")
    find_module(${path} other)
    list(APPEND uses_of_${module} ${other})
  endforeach()
endforeach()
list(APPEND sources_of_core ${PROJECT_BINARY_DIR}/generated/build_info.cpp)
list(APPEND sources_of_circuit ${PROJECT_BINARY_DIR}/generated/page_parts.cpp)
if(BOOLGRAD_VULKAN)
  list(APPEND sources_of_backend ${shader_sources})
endif()

# A module of headers only still gets a library, so that every module is linked in the same way.
file(CONFIGURE OUTPUT generated/no_sources.cpp CONTENT "// This module has no sources.\n")

add_library(boolgrad INTERFACE)
add_library(boolgrad::boolgrad ALIAS boolgrad)
set(library_targets boolgrad)
foreach(module IN LISTS library_modules)
  set(target boolgrad_${module})
  if(NOT sources_of_${module})
    set(sources_of_${module} ${PROJECT_BINARY_DIR}/generated/no_sources.cpp)
  endif()
  add_library(${target} ${sources_of_${module}})
  add_library(boolgrad::${module} ALIAS ${target})
  list(APPEND library_targets ${target})
  set_target_properties(${target} PROPERTIES EXPORT_NAME ${module} DEFINE_SYMBOL "")
  target_compile_features(${target} PUBLIC cxx_std_20)
  target_include_directories(${target} PUBLIC
    $<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}>
    $<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}>)

  # Highest first, which is the order that linkers want.
  set(${module}_packages fmt ${packages_of_${module}})
  foreach(package IN LISTS ${module}_packages)
    target_link_libraries(${target} PRIVATE ${boolgrad_target_${package}})
  endforeach()
  foreach(other IN LISTS library_modules)
    if(other IN_LIST uses_of_${module} AND NOT other STREQUAL module)
      target_link_libraries(${target} PUBLIC boolgrad_${other})
      list(APPEND ${module}_packages ${${other}_packages})
    endif()
  endforeach()
  list(REMOVE_DUPLICATES ${module}_packages)
  # Header-only, and no header of the library includes it, so the installed package does not need it.
  target_link_libraries(${target} PRIVATE
    $<BUILD_INTERFACE:nlohmann_json::nlohmann_json> $<BUILD_INTERFACE:boolgrad_compile_options>)
  target_link_libraries(boolgrad INTERFACE ${target})
  if(NOT first_target)
    set(first_target ${target})
    precompile(${target} library_pch.h)
  else()
    precompile(${target} library_pch.h ${first_target})
  endif()
endforeach()
if(BOOLGRAD_VULKAN)
  target_include_directories(boolgrad_backend SYSTEM PRIVATE ${VULKAN_HEADERS})
  target_link_libraries(boolgrad_backend PRIVATE ${CMAKE_DL_LIBS})
endif()

# A kernel is inlined into one function. Tracking the scope of every vector in it makes the address
# sanitizer take minutes per file and finds nothing that its other checks would not.
if(CMAKE_CXX_FLAGS MATCHES "-fsanitize=[a-z,]*address")
  set(kernel_sources ${sources_of_backend})
  list(FILTER kernel_sources INCLUDE REGEX "/backend/cpu/")
  set_source_files_properties(${kernel_sources} PROPERTIES
    COMPILE_OPTIONS -fno-sanitize-address-use-after-scope)
endif()
