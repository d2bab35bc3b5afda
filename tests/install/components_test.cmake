# A project that links boolgrad::circuit only is configured where the packages of other modules cannot
# be found, builds, runs, and contains none of their libraries.
cmake_minimum_required(VERSION 3.22)
include(${CMAKE_CURRENT_LIST_DIR}/package.cmake)

install_package()
set(hidden cairo CaDiCaL PNG GIF ZLIB tomlplusplus)
set(hide "")
foreach(package IN LISTS hidden)
  list(APPEND hide -D CMAKE_DISABLE_FIND_PACKAGE_${package}=ON)
endforeach()
set(project ${CMAKE_CURRENT_LIST_DIR}/circuit_only)
build_project(${project} ${scratch}/build -D CMAKE_PREFIX_PATH=${scratch}/prefix ${hide})
run(${scratch}/build/circuit_only)

# What is hidden really is: other components, and the whole package, do not configure.
foreach(components "" picture proof train no_such_module)
  execute_process(
    COMMAND ${CMAKE_COMMAND} -S ${project} -B ${scratch}/build_${components} -G ${generator}
      -D CMAKE_CXX_COMPILER=${compiler} -D CMAKE_PREFIX_PATH=${scratch}/prefix
      -D components=${components} ${hide}
    RESULT_VARIABLE result OUTPUT_QUIET ERROR_VARIABLE message)
  if(result EQUAL 0)
    message(FATAL_ERROR "find_package(boolgrad COMPONENTS ${components}) does not need ${hidden}")
  endif()
  if(NOT message MATCHES "cairo|CaDiCaL|PNG|GIF|ZLIB|tomlplusplus|no_such_module")
    message(FATAL_ERROR "the message does not say what is missing: ${message}")
  endif()
endforeach()

# The libraries that the program was linked with.
find_program(READELF readelf)
if(READELF)
  execute_process(COMMAND ${READELF} -d ${scratch}/build/circuit_only
    OUTPUT_VARIABLE needed COMMAND_ERROR_IS_FATAL ANY)
  if(NOT needed MATCHES "NEEDED")
    message(FATAL_ERROR "readelf lists no library: ${needed}")
  endif()
  if(needed MATCHES "\\[lib(cairo|png|gif|z\\.|toml|cadical)[^]]*\\]")
    message(FATAL_ERROR "the program needs ${CMAKE_MATCH_0}")
  endif()
endif()
file(GLOB link_lines ${scratch}/build/build.ninja ${scratch}/build/CMakeFiles/circuit_only.dir/link.txt)
foreach(file IN LISTS link_lines)
  file(READ ${file} text)
  if(text MATCHES "[^ ]*(cadical|libboolgrad_(proof|picture|data|model|train))[^ ]*")
    message(FATAL_ERROR "the program is linked with ${CMAKE_MATCH_0}")
  endif()
endforeach()
