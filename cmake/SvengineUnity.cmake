# svengine_unity(TARGET source...): compiles the sources of TARGET two dozen at a time. What a small file costs is its headers, and the
# templates of the standard library that each file would make again; two dozen together cost little more than one.
#
# Sources go together by folder and by a hash of their name, so that a new file changes one unit and not all that follow it. Files
# that are compiled together share their anonymous namespaces: a name of a file's own says whose it is (infer_slice, not infer).
# Option SVENGINE_UNITY=OFF (preset dev) compiles each file by itself, which checks that it includes what it uses.
include_guard()
option(SVENGINE_UNITY "Compile the sources of a folder two dozen at a time" ON)
set(SVENGINE_UNITY_FILES 24)  # g++ 12, engine/ops whole, 2 cores: 120 and 115 s of CPU by the dozen, 108 and 118 by two dozen, 100 by four

function(svengine_unity target)
  if(NOT SVENGINE_UNITY)
    return()
  endif()
  set(folders)
  foreach(source IN LISTS ARGN)
    cmake_path(ABSOLUTE_PATH source BASE_DIRECTORY ${CMAKE_CURRENT_SOURCE_DIR} NORMALIZE)
    cmake_path(GET source PARENT_PATH folder)
    list(APPEND folders ${folder})
    list(APPEND "files_${folder}" ${source})
  endforeach()
  list(REMOVE_DUPLICATES folders)
  foreach(folder IN LISTS folders)
    list(LENGTH "files_${folder}" count)
    math(EXPR units "(${count} + ${SVENGINE_UNITY_FILES} - 1) / ${SVENGINE_UNITY_FILES}")
    cmake_path(GET folder FILENAME name)
    foreach(source IN LISTS "files_${folder}")
      cmake_path(GET source STEM stem)
      string(MD5 hash ${stem})
      string(SUBSTRING ${hash} 0 6 hash)
      math(EXPR unit "0x${hash} % ${units}")
      set_source_files_properties(${source} PROPERTIES UNITY_GROUP ${name}_${unit})
    endforeach()
  endforeach()
  set_target_properties(${target} PROPERTIES UNITY_BUILD ON UNITY_BUILD_MODE GROUP)
endfunction()
