# Installs the build and uses it as another project would: examples/ is built as a project of its own,
# from the copy that was installed, and every example is run.
cmake_minimum_required(VERSION 3.22)
include(${CMAKE_CURRENT_LIST_DIR}/package.cmake)

install_package()
set(examples ${scratch}/prefix/share/doc/boolgrad/examples)
build_project(${examples} ${scratch}/examples -D CMAKE_PREFIX_PATH=${scratch}/prefix)

file(GLOB sources ${examples}/*.cpp)
if(NOT sources)
  message(FATAL_ERROR "no examples in ${examples}")
endif()
foreach(example IN LISTS sources)
  get_filename_component(name ${example} NAME_WE)
  message(STATUS "${name}")
  run(${scratch}/examples/${name})
endforeach()

# The project of the C++ tutorial, word for word: it trains XOR, hardens it and prints Verilog.
set(tutorial ${scratch}/prefix/share/doc/boolgrad/docs/tutorials/cpp)
build_project(${tutorial} ${scratch}/tutorial -D CMAKE_PREFIX_PATH=${scratch}/prefix)
execute_process(COMMAND ${scratch}/tutorial/xor OUTPUT_VARIABLE verilog RESULT_VARIABLE result)
if(NOT result EQUAL 0 OR NOT verilog MATCHES "in\\[0\\] \\^ in\\[1\\]|in\\[1\\] \\^ in\\[0\\]")
  message(FATAL_ERROR "expected Verilog of an XOR, received ${result}:\n${verilog}")
endif()

# The installed program finds the reference values that were installed with it.
run(${scratch}/prefix/bin/boolgrad --version)
run(${scratch}/prefix/bin/boolgrad verify --quiet)

foreach(file bash-completion/completions/boolgrad zsh/site-functions/_boolgrad
    fish/vendor_completions.d/boolgrad.fish man/man1/boolgrad.1)
  file(STRINGS ${scratch}/prefix/share/${file} lines REGEX "explain")
  if(NOT lines)
    message(FATAL_ERROR "${file} does not name the command explain")
  endif()
endforeach()

foreach(file LICENSE README.md docs/install.md)
  if(NOT EXISTS ${scratch}/prefix/share/doc/boolgrad/${file})
    message(FATAL_ERROR "${file} is not installed")
  endif()
endforeach()
