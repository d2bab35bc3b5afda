# Compiles the shaders of backend/vulkan to SPIR-V, validates them and embeds their words in the
# library. A shader is compiled once for each set of names that it is made for; a set is part of the
# name that the library knows it by: automaton_forward.hard.scratch.
set(shader_folder ${PROJECT_SOURCE_DIR}/boolgrad/backend/vulkan/shaders)
set(shaders
  automaton_prepare automaton_prepare.hard
  automaton_forward automaton_forward.scratch
  automaton_forward.hard automaton_forward.hard.scratch
  automaton_backward automaton_backward.scratch
  automaton_backward.again automaton_backward.again.scratch
  automaton_train automaton_hard_steps
  automaton_loss automaton_wrong automaton_gather automaton_finish automaton_update
  network_gather network_tables network_tables.hard network_forward
  network_loss network_scores network_join_scores network_class_loss
  network_sums network_sums.subgroups network_backward network_finish network_update
  network_pack network_hard network_ones network_judge
  bits_step bits_step.scratch bits_fire bits_clear)

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
  add_custom_command(
    OUTPUT ${binary}
    COMMAND ${CMAKE_COMMAND} -E make_directory ${PROJECT_BINARY_DIR}/generated/shaders
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
  COMMAND ${CMAKE_COMMAND} "-Dbinaries=${binaries}" -Doutput=${shader_sources}
    -P ${PROJECT_SOURCE_DIR}/cmake/shader_words.cmake
  DEPENDS ${binaries} ${PROJECT_SOURCE_DIR}/cmake/shader_words.cmake
  COMMENT "Embedding the shaders"
  VERBATIM)
