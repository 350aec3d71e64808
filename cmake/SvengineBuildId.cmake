# svengine_build_id(OUTPUT): writes a C++ file with one number for the engine as it is built here: the hash of its sources, of how
# they are built, and of the compiler. Packed weights in a cache are for the build that made them (runtime/weight_cache.h).
#
# As a script (cmake -DROOT=.. -DHOW=.. -DOUTPUT=.. -P this) it does the writing, whenever a source has changed.
if(CMAKE_SCRIPT_MODE_FILE)
  file(GLOB_RECURSE sources RELATIVE ${ROOT} ${ROOT}/engine/*.h ${ROOT}/engine/*.cc ${ROOT}/engine/CMakeLists.txt ${ROOT}/cmake/*.cmake)
  list(FILTER sources EXCLUDE REGEX "_(test|bench)\\.cc$")
  list(SORT sources)
  set(all "${HOW}")
  foreach(source IN LISTS sources)
    file(SHA256 ${ROOT}/${source} hash)
    string(APPEND all "\n${source} ${hash}")
  endforeach()
  string(SHA256 id "${all}")
  string(SUBSTRING ${id} 0 16 id)
  file(WRITE ${OUTPUT} "// Made by cmake/SvengineBuildId.cmake.\n#include \"engine/plan/build_id.h\"\n\n"
    "namespace svengine {\n\nuint64_t build_id() { return 0x${id}; }\n\n}  // namespace svengine\n")
  return()
endif()
include_guard()
set(SVENGINE_BUILD_ID_SCRIPT ${CMAKE_CURRENT_LIST_FILE})

function(svengine_build_id output)
  file(GLOB_RECURSE sources CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/engine/*.h ${PROJECT_SOURCE_DIR}/engine/*.cc)
  list(FILTER sources EXCLUDE REGEX "_(test|bench)\\.cc$")
  file(GLOB how_files CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/cmake/*.cmake)
  string(TOUPPER "${CMAKE_BUILD_TYPE}" type)
  set(how "${CMAKE_CXX_COMPILER_ID} ${CMAKE_CXX_COMPILER_VERSION} ${CMAKE_SYSTEM_PROCESSOR} ${CMAKE_CXX_FLAGS} ${CMAKE_CXX_FLAGS_${type}}")
  add_custom_command(OUTPUT ${output}
    COMMAND ${CMAKE_COMMAND} -DROOT=${PROJECT_SOURCE_DIR} "-DHOW=${how}" -DOUTPUT=${output} -P ${SVENGINE_BUILD_ID_SCRIPT}
    DEPENDS ${sources} ${how_files} ${PROJECT_SOURCE_DIR}/engine/CMakeLists.txt
    COMMENT "Hashing the engine's sources" VERBATIM)
endfunction()
