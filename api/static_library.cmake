# The static library: an archive of one object, in which all symbols but the API's are local.
set(whole ${CMAKE_CURRENT_BINARY_DIR}/svengine_whole.o)
set(closed ${CMAKE_CURRENT_BINARY_DIR}/svengine.o)
set(unique ${CMAKE_CURRENT_BINARY_DIR}/svengine_unique.txt)
set(archives ${layers} $<TARGET_FILE:protobuf::libprotobuf-lite> $<TARGET_FILE:ZLIB::ZLIB> ${NUMA_LIBRARY} ${RE2_ARCHIVES})
# Visibility decides: what is ours is compiled as hidden but for the API, and the linker hides what comes out of others' archives.
# Templates of the standard library in our objects stay weak, as in any object: another program's copy of one serves as well.
set(hidden)
foreach(archive IN ITEMS $<TARGET_FILE:protobuf::libprotobuf-lite> $<TARGET_FILE:ZLIB::ZLIB> ${NUMA_LIBRARY} ${RE2_ARCHIVES})
  list(APPEND hidden -Wl,--exclude-libs,$<PATH:GET_FILENAME,${archive}>)
endforeach()
# Groups (inline functions and templates) must end here: the linker would otherwise drop ours for another program's copy.
add_custom_command(OUTPUT ${closed}
  COMMAND ${CMAKE_CXX_COMPILER} -r -nostdlib -Wl,--force-group-allocation ${hidden} -o ${whole} $<TARGET_OBJECTS:svengine_api>
    -Wl,--start-group ${archives} -Wl,--end-group
  COMMAND sh -c "${CMAKE_NM} ${whole} | sed -n 's/.* u //p' | sort -u > ${unique}"
  COMMAND ${CMAKE_OBJCOPY} --weaken-symbols=${unique} ${whole}
  COMMAND ${CMAKE_OBJCOPY} --localize-hidden ${whole} ${closed}
  COMMAND ${CMAKE_COMMAND} -E rm ${whole}
  DEPENDS $<TARGET_OBJECTS:svengine_api> svengine_runtime svengine_importers svengine_onnx_proto
  VERBATIM COMMAND_EXPAND_LISTS)
add_library(svengine_library STATIC ${closed})
target_link_libraries(svengine_library INTERFACE svengine_headers stdc++ m)  # C programs are not linked with these by themselves
target_link_options(svengine_library INTERFACE -fopenmp)
set_target_properties(svengine_library PROPERTIES OUTPUT_NAME svengine EXPORT_NAME static LINKER_LANGUAGE CXX)
