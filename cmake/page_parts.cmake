# The page that runs a circuit in a browser lies in web/ as files that are pleasant to edit, and in
# the library as text, so that a program needs no file next to it.
set(page_scripts random netlist automaton shared_view automaton_view circuit_view
  classifier_view main)
list(TRANSFORM page_scripts REPLACE "(.+)" "web/\\1.js")
file(READ web/page.html page_skeleton)
file(READ web/style.css page_style)
set(page_script "")
foreach(script IN LISTS page_scripts)
  file(READ ${script} text)
  string(APPEND page_script "${text}")
endforeach()
set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS
  web/page.html web/style.css ${page_scripts})
configure_file(cmake/page_parts.cpp.in generated/page_parts.cpp @ONLY)
