# svengine_test(SOURCE target...): one Catch2 program and one CTest entry, named after the file's path.
# When cross compiling, CTest runs it through CMAKE_CROSSCOMPILING_EMULATOR, and its name gets the prefix "a64fx.", so that
# both builds' tests can stand in one list.
include_guard()
# Catch2 version 2, header only: Debian's CMake package of it also wants a library that exists for this machine only.
find_path(CATCH2_INCLUDE_DIR catch2/catch.hpp REQUIRED)
# Tests written in Python use Debian's interpreter, where python3-torch and python3-onnx are.
set(SVENGINE_PYTHON /usr/bin/python3 CACHE FILEPATH "Python interpreter of the tests")

set(SVENGINE_TEST_PREFIX "")
if(CMAKE_CROSSCOMPILING)
  set(SVENGINE_TEST_PREFIX "a64fx.")
endif()

add_library(svengine_test_main STATIC ${PROJECT_SOURCE_DIR}/tests/support/main.cc)
target_include_directories(svengine_test_main SYSTEM PUBLIC ${CATCH2_INCLUDE_DIR})
target_link_libraries(svengine_test_main PUBLIC svengine_flags)

function(svengine_test source)
  cmake_path(NORMAL_PATH source)
  cmake_path(RELATIVE_PATH source BASE_DIRECTORY ${PROJECT_SOURCE_DIR} OUTPUT_VARIABLE name)
  string(REGEX REPLACE "\\.cc$" "" name ${name})
  string(REPLACE "/" "_" name ${name})
  add_executable(${name} ${source})
  set_target_properties(${name} PROPERTIES RUNTIME_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/tests)
  target_link_libraries(${name} PRIVATE ${ARGN} svengine_test_main)
  target_compile_options(${name} PRIVATE ${SVENGINE_CALM_FLAGS})
  add_test(NAME ${SVENGINE_TEST_PREFIX}${name} COMMAND ${name})
  set_tests_properties(${SVENGINE_TEST_PREFIX}${name} PROPERTIES WORKING_DIRECTORY ${PROJECT_SOURCE_DIR} TIMEOUT 900)
endfunction()
