# Writes a source that holds the words of the compiled shaders below a folder:
# -Dbinaries=A;B -Dfolder=DIR -Doutput=FILE.
set(arrays "")
set(choices "")
set(number 0)
foreach(binary IN LISTS binaries)
  file(RELATIVE_PATH file ${folder} ${binary})
  string(REGEX REPLACE "\\.spv$" "" name ${file})
  file(READ ${binary} bytes HEX)
  string(REGEX REPLACE "(..)(..)(..)(..)" "0x\\4\\3\\2\\1," words "${bytes}")
  string(APPEND arrays "constexpr std::uint32_t words_${number}[] = {${words}};\n")
  string(APPEND choices "  if (name == \"${name}\") return words_${number};\n")
  math(EXPR number "${number} + 1")
endforeach()
file(WRITE ${output} "// Written by CMake out of boolgrad/backend/vulkan/shaders.
#include \"boolgrad/backend/vulkan/runtime/shaders.h\"
#include \"boolgrad/core/fail.h\"

namespace boolgrad::vulkan {
namespace {

${arrays}
}  // namespace

std::span<const std::uint32_t> shader_words(std::string_view name) {
${choices}  fail(\"vulkan\", \"expected a shader, received {}\", name);
}

}  // namespace boolgrad::vulkan
")
