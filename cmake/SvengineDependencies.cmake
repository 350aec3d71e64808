# Everything comes from Debian's packages (tools/setup.sh installs them). Libraries are wanted as static archives, so that
# the program is one file.
include_guard()

find_package(Threads REQUIRED)
find_path(EIGEN_INCLUDE_DIR Eigen/Core PATH_SUFFIXES eigen3 REQUIRED)
find_path(CLI11_INCLUDE_DIR CLI/CLI.hpp REQUIRED)
find_path(JSON_INCLUDE_DIR nlohmann/json.hpp REQUIRED)
find_path(FMT_INCLUDE_DIR fmt/format.h REQUIRED)
find_path(STB_INCLUDE_DIR stb/stb_image.h REQUIRED)
find_path(XXHASH_INCLUDE_DIR xxhash.h REQUIRED)
find_path(PROTOBUF_INCLUDE_DIR google/protobuf/message_lite.h REQUIRED)
find_library(PROTOBUF_LIBRARY NAMES libprotobuf-lite.a REQUIRED)
find_library(ZLIB_LIBRARY NAMES libz.a REQUIRED)
find_path(ZLIB_INCLUDE_DIR zlib.h REQUIRED)
find_library(NUMA_LIBRARY NAMES libnuma.a REQUIRED)
find_path(NUMA_INCLUDE_DIR numa.h REQUIRED)
find_program(PROTOC protoc REQUIRED)
find_file(ONNX_PROTO onnx/onnx.proto REQUIRED)

# {fmt}: its headers; engine/base/fmt_library.cc compiles the rest.
add_library(svengine_fmt INTERFACE)
target_include_directories(svengine_fmt SYSTEM INTERFACE ${FMT_INCLUDE_DIR})

add_library(svengine_numa INTERFACE)
target_include_directories(svengine_numa SYSTEM INTERFACE ${NUMA_INCLUDE_DIR})
target_link_libraries(svengine_numa INTERFACE ${NUMA_LIBRARY})
