# FindOpenBLAS: Debian's static archive of OpenBLAS (libopenblas-serial-dev) as target svengine_openblas. Sets OpenBLAS_FOUND.
#
# The serial variant, because whoever calls it cuts the work himself: a second team of threads inside each of ours would only take
# their cores. Its matrix products need neither libgfortran nor any file at run time.
#
# It chooses its kernels by the processor when it runs. Debian 12's (0.3.21) does not know A64FX and takes those for any ARMv8;
# OPENBLAS_CORETYPE=NEOVERSEV1 in the environment makes it take the ones for SVE (OPENBLAS_VERBOSE=2 tells which it took).
find_library(OpenBLAS_LIBRARY NAMES libopenblas.a PATH_SUFFIXES openblas-serial)
find_path(OpenBLAS_INCLUDE_DIR cblas.h PATH_SUFFIXES openblas-serial)
include(FindPackageHandleStandardArgs)
find_package_handle_standard_args(OpenBLAS REQUIRED_VARS OpenBLAS_LIBRARY OpenBLAS_INCLUDE_DIR)
if(OpenBLAS_FOUND AND NOT TARGET svengine_openblas)
  add_library(svengine_openblas INTERFACE)
  target_include_directories(svengine_openblas SYSTEM INTERFACE ${OpenBLAS_INCLUDE_DIR})
  target_link_libraries(svengine_openblas INTERFACE ${OpenBLAS_LIBRARY})
endif()
