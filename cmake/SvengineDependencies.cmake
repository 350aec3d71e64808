# Everything comes from Debian's packages (tools/setup.sh installs them), versions 12 and 13. Libraries are wanted as static archives,
# so that the program is one file. CLI11, nlohmann_json and Catch2 are found where they are used.
include_guard()

find_package(Threads REQUIRED)
find_package(Eigen3 REQUIRED NO_MODULE)
# CMake's own modules look for shared libraries first.
set(ZLIB_USE_STATIC_LIBS ON)
find_package(ZLIB REQUIRED)
set(Protobuf_USE_STATIC_LIBS ON)
find_package(Protobuf REQUIRED MODULE)
find_file(ONNX_PROTO onnx/onnx.proto REQUIRED)

# Headers without a package file.
find_path(STB_INCLUDE_DIR stb/stb_image.h REQUIRED)
add_library(svengine_stb INTERFACE)
target_include_directories(svengine_stb SYSTEM INTERFACE ${STB_INCLUDE_DIR})
find_path(XXHASH_INCLUDE_DIR xxhash.h REQUIRED)

# {fmt}: its headers; engine/base/fmt_library.cc compiles the rest. Its package file wants the shared library, too, which the sysroot
# of a cross build has not.
find_path(FMT_INCLUDE_DIR fmt/format.h REQUIRED)
add_library(svengine_fmt INTERFACE)
target_include_directories(svengine_fmt SYSTEM INTERFACE ${FMT_INCLUDE_DIR})

find_library(RE2_LIBRARY NAMES libre2.a REQUIRED)
find_path(RE2_INCLUDE_DIR re2/re2.h REQUIRED)
# Since Debian 13 it stands on Abseil, of whose archives, which refer to each other, the linker takes what is needed.
get_filename_component(RE2_FOLDER ${RE2_LIBRARY} DIRECTORY)
file(GLOB RE2_ARCHIVES ${RE2_FOLDER}/libabsl_*.a)
list(PREPEND RE2_ARCHIVES ${RE2_LIBRARY})
list(JOIN RE2_ARCHIVES "," RE2_GROUP)
add_library(svengine_re2 INTERFACE)
target_include_directories(svengine_re2 SYSTEM INTERFACE ${RE2_INCLUDE_DIR})
target_link_libraries(svengine_re2 INTERFACE $<LINK_GROUP:RESCAN,${RE2_GROUP}> Threads::Threads)

find_library(NUMA_LIBRARY NAMES libnuma.a REQUIRED)
find_path(NUMA_INCLUDE_DIR numa.h REQUIRED)
add_library(svengine_numa INTERFACE)
target_include_directories(svengine_numa SYSTEM INTERFACE ${NUMA_INCLUDE_DIR})
target_link_libraries(svengine_numa INTERFACE ${NUMA_LIBRARY})

# OpenBLAS, which programs hold that link this: `--gemm openblas`. Nothing in them calls it by name but weak references
# (engine/kernels/openblas/library.cc), which take no member out of an archive; the options do. Without it, and in the libraries, it is looked for
# when it is asked for.
add_library(svengine_with_openblas INTERFACE)
if(SVENGINE_OPENBLAS)
  find_package(OpenBLAS QUIET)
  if(OpenBLAS_FOUND)
    target_link_libraries(svengine_with_openblas INTERFACE svengine_openblas)
    target_compile_definitions(svengine_with_openblas INTERFACE SVENGINE_HAVE_OPENBLAS=1)
    foreach(name cblas_sgemm cblas_dgemm openblas_get_config openblas_get_corename openblas_set_num_threads gotoblas_dynamic_init gotoblas_dynamic_quit)
      target_link_options(svengine_with_openblas INTERFACE LINKER:--undefined=${name})
    endforeach()
  else()
    message(STATUS "OpenBLAS is not there (libopenblas-serial-dev): programs will have no --gemm openblas of their own")
  endif()
endif()
