# svengine_tests(PROGRAM SOURCES file... DEPENDS target...): one Catch2 program of several test files, and one CTest entry for each file,
# named after its path. A program a layer: a file more costs neither another main nor another link of the whole layer.
# svengine_test(SOURCE target...): a program of one file.
#
# When cross compiling, CTest runs them through CMAKE_CROSSCOMPILING_EMULATOR, and names get the prefix "a64fx.", so that both
# builds' tests can stand in one list.
include_guard()
find_package(Catch2 REQUIRED)
# Tests written in Python use Debian's interpreter, where python3-torch and python3-onnx are.
set(SVENGINE_PYTHON /usr/bin/python3 CACHE FILEPATH "Python interpreter of the tests")

set(SVENGINE_TEST_PREFIX "")
if(CMAKE_CROSSCOMPILING)
  set(SVENGINE_TEST_PREFIX "a64fx.")
endif()
# svengine_disable_unless_runnable(SET TEST): a test of a kernel set that this processor lacks stays in CTest's list, as not run. (Emulated processors have all that is built for them.)
function(svengine_disable_unless_runnable set test)
  if(CMAKE_CROSSCOMPILING OR NOT set MATCHES "^avx512" OR NOT EXISTS /proc/cpuinfo)
    return()
  endif()
  file(STRINGS /proc/cpuinfo flags REGEX "^flags.* avx512f.* avx512dq.* avx512bw.* avx512vl" LIMIT_COUNT 1)
  if(NOT flags)
    set_tests_properties(${test} PROPERTIES DISABLED TRUE)
  endif()
endfunction()
# Memory that is not there is an error with a message, under the sanitizers too, which keep few frames of whoever allocated: a sixth of the
# hostile test's time. Kernels' contracts are checked (kernels/contract.h).
set(SVENGINE_CHECKED_KERNELS "ASAN_OPTIONS=allocator_may_return_null=1:malloc_context_size=6;SVENGINE_CHECK_CONTRACTS=1")
set(SVENGINE_TEST_ENVIRONMENT ${SVENGINE_CHECKED_KERNELS})
if(NOT CMAKE_CROSSCOMPILING)  # passes are the same C++ everywhere; graphs are verified after each of them (PassContext::verify)
  list(APPEND SVENGINE_TEST_ENVIRONMENT "SVENGINE_VERIFY_PASSES=1")
endif()

# What every program of tests is linked with: Catch2 and its main. Version 2 (Debian 12) is one header, version 3 (Debian 13) is many,
# which tests/support/catch2_3 offers under version 2's name.
add_library(svengine_test_main INTERFACE)
target_link_libraries(svengine_test_main INTERFACE svengine_flags svengine_fmt Catch2::Catch2WithMain)
if(Catch2_VERSION VERSION_LESS 3)
  set(SVENGINE_CATCH_STRICT --warn NoTests)  # a file without tests is an error, as it always is in version 3
else()
  target_include_directories(svengine_test_main SYSTEM INTERFACE ${PROJECT_SOURCE_DIR}/tests/support/catch2_3)
  set(SVENGINE_CATCH_STRICT "")
endif()

# Compares and makes tensors. It also holds what every test file begins with, compiled once for all programs: so all of them have
# the same flags.
add_library(svengine_test_support STATIC ${PROJECT_SOURCE_DIR}/tests/support/compare.cc ${PROJECT_SOURCE_DIR}/tests/support/random_tensor.cc)
target_link_libraries(svengine_test_support PUBLIC svengine_base PRIVATE svengine_test_main)
target_compile_options(svengine_test_support PRIVATE ${SVENGINE_CALM_FLAGS})
set_target_properties(svengine_test_support PROPERTIES POSITION_INDEPENDENT_CODE OFF)
target_precompile_headers(svengine_test_support PRIVATE <catch2/catch.hpp> <algorithm> <cmath> <filesystem> <map> <random> <string> <vector>
  ${PROJECT_SOURCE_DIR}/engine/base/tensor.h)

# The name of a file's test: its path.
function(svengine_test_name source output)
  cmake_path(NORMAL_PATH source)
  cmake_path(RELATIVE_PATH source BASE_DIRECTORY ${PROJECT_SOURCE_DIR} OUTPUT_VARIABLE name)
  string(REGEX REPLACE "\\.cc$" "" name ${name})
  string(REPLACE "/" "_" name ${name})
  set(${output} ${name} PARENT_SCOPE)
endfunction()

function(svengine_tests program)
  cmake_parse_arguments(arg "" "" "SOURCES;DEPENDS" ${ARGN})
  add_executable(${program} ${arg_SOURCES})
  set_target_properties(${program} PROPERTIES RUNTIME_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/tests POSITION_INDEPENDENT_CODE OFF)
  target_link_libraries(${program} PRIVATE ${arg_DEPENDS} svengine_test_main)
  target_compile_options(${program} PRIVATE ${SVENGINE_CALM_FLAGS})
  if(CMAKE_CROSSCOMPILING)
    target_compile_definitions(${program} PRIVATE SVENGINE_EMULATED=1)
  endif()
  target_precompile_headers(${program} REUSE_FROM svengine_test_support)
  if(SVENGINE_UNITY)
    set_target_properties(${program} PROPERTIES UNITY_BUILD ON UNITY_BUILD_MODE BATCH UNITY_BUILD_BATCH_SIZE 12)
  endif()
  foreach(source IN LISTS arg_SOURCES)
    svengine_test_name(${source} name)
    cmake_path(GET source STEM stem)
    add_test(NAME ${SVENGINE_TEST_PREFIX}${name} COMMAND ${program} --filenames-as-tags "[#${stem}]" ${SVENGINE_CATCH_STRICT})
    set_tests_properties(${SVENGINE_TEST_PREFIX}${name} PROPERTIES WORKING_DIRECTORY ${PROJECT_SOURCE_DIR} TIMEOUT 900
      ENVIRONMENT "${SVENGINE_TEST_ENVIRONMENT}")
  endforeach()
endfunction()

function(svengine_test source)
  svengine_test_name(${source} name)
  svengine_tests(${name} SOURCES ${source} DEPENDS ${ARGN})
endfunction()
