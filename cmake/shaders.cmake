# Compiles the shaders of backend/vulkan to SPIR-V, validates them and embeds their words in the
# library. A shader is compiled once for each set of names that it is made for; a set is part of the
# name that the library knows it by: automaton/forward.hard.scratch.
set(shader_folder ${PROJECT_SOURCE_DIR}/boolgrad/backend/vulkan/shaders)
set(shaders
  automaton/prepare automaton/prepare.hard
  automaton/forward automaton/forward.scratch
  automaton/forward.hard automaton/forward.hard.scratch
  automaton/backward automaton/backward.scratch
  automaton/backward.recompute automaton/backward.recompute.scratch
  automaton/train automaton/hard_steps
  automaton/loss automaton/errors automaton/gather automaton/finish automaton/update
  network/gather network/tables network/tables.hard network/forward
  network/loss network/scores network/join_scores network/head_loss network/thresholds
  network/sums network/sums.subgroups network/backward network/finish network/update
  network/choose network/select network/select.hard network/candidate_sums network/gather_uses
  network/finish_wires network/weights network/weigh
  network/pool network/pool.hard network/pool_backward
  network/trees network/trees_backward network/trees_backward.inputs network/leaves_backward
  network/pack network/hard network/ones
  bits/step bits/step.scratch bits/fire bits/clear)

set(binaries "")
foreach(shader IN LISTS shaders)
  string(REPLACE "." ";" names ${shader})
  list(POP_FRONT names file)
  set(definitions "")
  foreach(name IN LISTS names)
    string(TOUPPER ${name} name)
    list(APPEND definitions -D${name})
  endforeach()
  set(source ${shader_folder}/${file}.comp)
  set(binary ${PROJECT_BINARY_DIR}/generated/shaders/${shader}.spv)
  get_filename_component(binary_folder ${binary} DIRECTORY)
  add_custom_command(
    OUTPUT ${binary}
    COMMAND ${CMAKE_COMMAND} -E make_directory ${binary_folder}
    COMMAND ${GLSLC} --target-env=vulkan1.2 -O -Werror ${definitions} -I ${shader_folder}
      -MD -MF ${binary}.d -o ${binary} ${source}
    COMMAND ${SPIRV_VAL} --target-env vulkan1.2 ${binary}
    DEPENDS ${source}
    DEPFILE ${binary}.d
    COMMENT "Compiling the shader ${shader}"
    VERBATIM)
  list(APPEND binaries ${binary})
endforeach()

set(shader_sources ${PROJECT_BINARY_DIR}/generated/shader_words.cpp)
add_custom_command(
  OUTPUT ${shader_sources}
  COMMAND ${CMAKE_COMMAND} "-Dbinaries=${binaries}" -Dfolder=${PROJECT_BINARY_DIR}/generated/shaders
    -Doutput=${shader_sources}
    -P ${PROJECT_SOURCE_DIR}/cmake/shader_words.cmake
  DEPENDS ${binaries} ${PROJECT_SOURCE_DIR}/cmake/shader_words.cmake
  COMMENT "Embedding the shaders"
  VERBATIM)
