# Precompiled headers, and the compiler cache. A source still includes what it uses: the presets with
# sanitizers build without precompiled headers, so that a missing include is found.
option(BOOLGRAD_PRECOMPILED_HEADERS "Precompile the headers that most sources include" ON)

find_program(CCACHE ccache)
mark_as_advanced(CCACHE)
if(CCACHE AND NOT CMAKE_CXX_COMPILER_LAUNCHER)
  # Paths below the source folder are hashed relative to it, so that clones share what they compile.
  set(ccache_settings CCACHE_BASEDIR=${PROJECT_SOURCE_DIR} CCACHE_NOHASHDIR=1)
  if(BOOLGRAD_PRECOMPILED_HEADERS)
    # ccache bypasses the cache for precompiled headers unless it may assume that no macro of the
    # command line or of the clock changes what they contain.
    list(APPEND ccache_settings CCACHE_SLOPPINESS=pch_defines,time_macros)
  endif()
  set(CMAKE_CXX_COMPILER_LAUNCHER ${CMAKE_COMMAND} -E env ${ccache_settings} ${CCACHE})
endif()

# precompile(<target> <header> [<with>]): precompiles a header for a target, or uses what was
# precompiled for the target <with>. Both targets must be compiled with the same flags.
function(precompile target header)
  if(NOT BOOLGRAD_PRECOMPILED_HEADERS)
    return()
  endif()
  if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
    # Lets ccache see which precompiled header a source used.
    target_compile_options(${target} PRIVATE $<$<COMPILE_LANGUAGE:CXX>:-fpch-preprocess>)
  endif()
  if(ARGC GREATER 2)
    target_precompile_headers(${target} REUSE_FROM ${ARGV2})
  else()
    target_precompile_headers(${target} PRIVATE ${PROJECT_SOURCE_DIR}/cmake/${header})
  endif()
endfunction()
