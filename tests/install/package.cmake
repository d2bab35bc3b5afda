# Functions that the tests of the installed package share. They need -D source, build, scratch,
# generator, compiler, launcher and flags.

# Runs a command, which must succeed.
function(run)
  execute_process(COMMAND ${ARGV} RESULT_VARIABLE result)
  if(NOT result EQUAL 0)
    list(JOIN ARGV " " command)
    message(FATAL_ERROR "${command}: ${result}")
  endif()
endfunction()

# Installs the build to ${scratch}/prefix. Files of an earlier run are removed first: they could hide
# that something is no longer installed.
function(install_package)
  file(REMOVE_RECURSE ${scratch})
  run(${CMAKE_COMMAND} --install ${build} --prefix ${scratch}/prefix)
endfunction()

# Configures and builds a project; further arguments go to CMake.
function(build_project source binary)
  run(${CMAKE_COMMAND} -S ${source} -B ${binary} -G ${generator}
    -D CMAKE_BUILD_TYPE=Debug
    -D CMAKE_CXX_FLAGS_DEBUG=
    -D CMAKE_CXX_COMPILER=${compiler}
    "-DCMAKE_CXX_COMPILER_LAUNCHER=${launcher}"
    "-DCMAKE_CXX_FLAGS=${flags}"
    ${ARGN})
  run(${CMAKE_COMMAND} --build ${binary} --parallel 2)
endfunction()
