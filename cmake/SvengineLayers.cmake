# svengine_layer(NAME DIRS dir... DEPENDS target... [TEST_DEPENDS target...])
#
# One static library svengine_NAME from every *.cc below DIRS (relative to the calling directory, not recursive), except
# tests (*_test.cc) and benchmarks (*_bench.cc). The tests beside the code become one program, NAME_tests: see SvengineTests.
include_guard()

function(svengine_layer name)
  cmake_parse_arguments(arg "" "" "DIRS;DEPENDS;TEST_DEPENDS" ${ARGN})
  set(sources)
  set(tests)
  foreach(dir IN LISTS arg_DIRS)
    file(GLOB found CONFIGURE_DEPENDS ${CMAKE_CURRENT_SOURCE_DIR}/${dir}/*.cc)
    file(GLOB found_tests CONFIGURE_DEPENDS ${CMAKE_CURRENT_SOURCE_DIR}/${dir}/*_test.cc)
    file(GLOB found_benches CONFIGURE_DEPENDS ${CMAKE_CURRENT_SOURCE_DIR}/${dir}/*_bench.cc)
    list(REMOVE_ITEM found ${found_tests} ${found_benches})
    list(APPEND sources ${found})
    list(APPEND tests ${found_tests})
  endforeach()
  add_library(svengine_${name} STATIC ${sources})
  target_link_libraries(svengine_${name} PUBLIC svengine_flags ${arg_DEPENDS})
  if(NOT name STREQUAL kernels)  # reference kernels are emulated in tests, where every instruction counts
    target_compile_options(svengine_${name} PRIVATE ${SVENGINE_CALM_FLAGS})
    svengine_unity(svengine_${name} ${sources})
  endif()
  # The graph's headers are in every layer above it: preset dev does without, so that every file names what it uses.
  if(TARGET svengine_graph AND NOT name MATCHES "^(graph|ops)$")
    target_precompile_headers(svengine_${name} REUSE_FROM svengine_graph)
  endif()
  if(SVENGINE_TESTS AND tests)
    svengine_tests(${name}_tests SOURCES ${tests} DEPENDS svengine_${name} ${arg_TEST_DEPENDS})
  endif()
endfunction()
