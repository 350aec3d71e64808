# The shared library, with protobuf and zlib inside and hidden, so that a host program's own are not met. Debian's archives are compiled for
# programs (position independent executables), which of RE2 leaves nothing that a library could hold, and of protobuf-lite all but two objects:
# protobuf_parts.cc stands for these. RE2 is a library beside it, therefore, and so is libnuma, whose symbols have versions.
option(SVENGINE_PIC_ARCHIVES "The archives of protobuf and RE2 are compiled with -fPIC: the shared library takes in both" OFF)
find_library(NUMA_SHARED NAMES libnuma.so REQUIRED)
add_library(svengine_shared SHARED $<TARGET_OBJECTS:svengine_api>)
if(SVENGINE_PIC_ARCHIVES)
  set(re2 ${RE2_ARCHIVES})
else()
  find_library(RE2_SHARED NAMES libre2.so REQUIRED)
  set(re2 ${RE2_SHARED})
  target_sources(svengine_shared PRIVATE protobuf_parts.cc)
  target_include_directories(svengine_shared SYSTEM PRIVATE ${Protobuf_INCLUDE_DIRS})
endif()
configure_file(exports.map.in exports.map @ONLY)
set(exports ${CMAKE_CURRENT_BINARY_DIR}/exports.map)
set_property(TARGET svengine_shared APPEND PROPERTY LINK_DEPENDS ${layers} ${exports})
target_link_libraries(svengine_shared INTERFACE svengine_headers
  PRIVATE -Wl,--start-group ${layers} $<TARGET_FILE:protobuf::libprotobuf-lite> ${re2} -Wl,--end-group ZLIB::ZLIB ${NUMA_SHARED})
target_link_options(svengine_shared PRIVATE -fopenmp -Wl,--exclude-libs,ALL -Wl,--gc-sections -Wl,--version-script=${exports} -Wl,-z,defs)
set_target_properties(svengine_shared PROPERTIES OUTPUT_NAME svengine EXPORT_NAME shared
  VERSION ${PROJECT_VERSION} SOVERSION ${SVENGINE_ABI})
