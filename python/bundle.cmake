# Copies the shared libraries that `module` needs beside it, but for those of the system and the compiler, which every Linux has.
file(GET_RUNTIME_DEPENDENCIES MODULES ${module} RESOLVED_DEPENDENCIES_VAR found UNRESOLVED_DEPENDENCIES_VAR missing
  PRE_INCLUDE_REGEXES "^lib(protobuf-lite|re2|numa|absl_.*)\\.so" PRE_EXCLUDE_REGEXES ".")
if(missing)
  message(FATAL_ERROR "${module} needs ${missing}, which cannot be found")
endif()
foreach(library IN LISTS found)
  cmake_path(GET library FILENAME name)
  file(REAL_PATH ${library} file)
  message(STATUS "Installing: ${CMAKE_INSTALL_PREFIX}/svengine/${name}")
  file(COPY_FILE ${file} ${CMAKE_INSTALL_PREFIX}/svengine/${name} ONLY_IF_DIFFERENT)
endforeach()
