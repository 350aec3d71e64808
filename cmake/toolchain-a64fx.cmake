# Cross compiles for Fujitsu A64FX with Debian's GCC. What Debian's cross packages lack is in build/sysroot-aarch64, which
# tools/sysroot.sh makes; programs are tested on QEMU's A64FX.
set(CMAKE_SYSTEM_NAME Linux)
set(CMAKE_SYSTEM_PROCESSOR aarch64)

cmake_path(GET CMAKE_CURRENT_LIST_DIR PARENT_PATH svengine_source_dir)
set(svengine_sysroot ${svengine_source_dir}/build/sysroot-aarch64)
if(NOT EXISTS ${svengine_sysroot}/made-from)
  message(FATAL_ERROR "${svengine_sysroot} is missing. Make it with: tools/setup.sh build a64fx && tools/sysroot.sh")
endif()

set(CMAKE_C_COMPILER aarch64-linux-gnu-gcc)
set(CMAKE_CXX_COMPILER aarch64-linux-gnu-g++)
find_program(svengine_fortran_compiler aarch64-linux-gnu-gfortran)
if(svengine_fortran_compiler)
  set(CMAKE_Fortran_COMPILER ${svengine_fortran_compiler})
endif()
if(NOT DEFINED svengine_processor)
  set(svengine_processor -mcpu=a64fx)
endif()
set(CMAKE_C_FLAGS_INIT ${svengine_processor})
set(CMAKE_CXX_FLAGS_INIT ${svengine_processor})
set(CMAKE_Fortran_FLAGS_INIT ${svengine_processor})
set(CMAKE_LIBRARY_ARCHITECTURE aarch64-linux-gnu)

# Only a place to look for libraries and headers, not the compiler's --sysroot: glibc and libgomp are the cross compiler's.
set(CMAKE_FIND_ROOT_PATH ${svengine_sysroot})
set(CMAKE_FIND_ROOT_PATH_MODE_PROGRAM NEVER)
set(CMAKE_FIND_ROOT_PATH_MODE_LIBRARY ONLY)
set(CMAKE_FIND_ROOT_PATH_MODE_INCLUDE ONLY)
set(CMAKE_FIND_ROOT_PATH_MODE_PACKAGE ONLY)

set(CMAKE_CROSSCOMPILING_EMULATOR ${svengine_source_dir}/tools/qemu-a64fx.sh)
