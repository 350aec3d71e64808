# As toolchain-a64fx.cmake, for every processor with SVE.
set(svengine_processor -march=armv8.2-a+sve)
include(${CMAKE_CURRENT_LIST_DIR}/toolchain-a64fx.cmake)
