# The Fortran module, its tests and examples take a Fortran compiler; where there is none, the rest is built without them. A toolchain file
# names the compiler itself: the one for this machine would not do.
include_guard()
option(SVENGINE_FORTRAN "Build the Fortran module where there is a compiler" ${PROJECT_IS_TOP_LEVEL})
if(SVENGINE_FORTRAN)
  if(NOT CMAKE_CROSSCOMPILING)
    include(CheckLanguage)
    check_language(Fortran)
  endif()
  if(CMAKE_Fortran_COMPILER)
    enable_language(Fortran)
    if(SVENGINE_SANITIZED)  # Fortran programs are linked by their own compiler
      set(CMAKE_Fortran_FLAGS_RELEASE ${CMAKE_CXX_FLAGS_RELEASE})
    endif()
  else()
    message(STATUS "No Fortran module: there is no Fortran compiler (tools/setup.sh test)")
  endif()
endif()
