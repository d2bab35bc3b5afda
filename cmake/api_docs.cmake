# The API reference. Doxygen reads generated/Doxyfile; `make api-docs` and a test run it.
find_program(DOXYGEN doxygen)
mark_as_advanced(DOXYGEN)

set(api_inputs ${PROJECT_SOURCE_DIR}/cmake/api_main_page.md)
foreach(header IN LISTS public_headers)
  list(APPEND api_inputs ${PROJECT_SOURCE_DIR}/${header})
endforeach()
list(TRANSFORM api_inputs REPLACE "(.+)" "\"\\1\"")
list(JOIN api_inputs " \\\n                         " api_inputs)
configure_file(cmake/Doxyfile.in generated/Doxyfile @ONLY)

