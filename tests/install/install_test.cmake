# Installs the build into a scratch folder, then uses it from there as another project would: every
# header is included, examples/ is built as a project of its own, and every example is run.
# Needs -D build, examples, scratch, generator, compiler, flags.

function(run)
  execute_process(COMMAND ${ARGV} RESULT_VARIABLE result)
  if(NOT result EQUAL 0)
    list(JOIN ARGV " " command)
    message(FATAL_ERROR "${command}: ${result}")
  endif()
endfunction()

# Left-overs of an earlier run could hide that something is no longer installed.
file(REMOVE_RECURSE ${scratch})
run(${CMAKE_COMMAND} --install ${build} --prefix ${scratch}/prefix)

# The flags matter: a sanitized library needs sanitized programs.
function(build_against_package source binary)
  run(${CMAKE_COMMAND} -S ${source} -B ${binary} -G ${generator}
    -D CMAKE_PREFIX_PATH=${scratch}/prefix
    -D CMAKE_BUILD_TYPE=Debug
    -D CMAKE_CXX_COMPILER=${compiler}
    -D CMAKE_CXX_FLAGS=${flags})
  run(${CMAKE_COMMAND} --build ${binary})
endfunction()

# A header that was installed may include only headers that were.
file(GLOB_RECURSE headers RELATIVE ${scratch}/prefix/include ${scratch}/prefix/include/boolgrad/*.h)
list(TRANSFORM headers REPLACE "(.+)" "#include <\\1>\n")
list(JOIN headers "" includes)
file(WRITE ${scratch}/headers/main.cpp "${includes}int main() {}\n")
file(WRITE ${scratch}/headers/CMakeLists.txt [[
cmake_minimum_required(VERSION 3.22)
project(headers LANGUAGES CXX)
find_package(boolgrad REQUIRED)
add_executable(headers main.cpp)
target_link_libraries(headers PRIVATE boolgrad::boolgrad)
]])
build_against_package(${scratch}/headers ${scratch}/headers/build)

build_against_package(${examples} ${scratch}/examples)

file(GLOB sources ${examples}/*.cpp)
if(NOT sources)
  message(FATAL_ERROR "no examples in ${examples}")
endif()
foreach(source IN LISTS sources)
  get_filename_component(name ${source} NAME_WE)
  message(STATUS "${name}")
  run(${scratch}/examples/${name})
endforeach()

# The installed program finds the reference values that were installed with it.
if(EXISTS ${build}/boolgrad)
  run(${scratch}/prefix/bin/boolgrad --version)
  run(${scratch}/prefix/bin/boolgrad verify --quiet)
endif()
