# svengine_kernel_set(NAME FLAGS flag...): engine/kernels/sve/*.cc compiled once for one instruction set and vector length,
# in its own namespace. On x86-64 engine/kernels/host comes first on the include path and supplies <arm_sve.h>.
include_guard()

function(svengine_kernel_set name)
  cmake_parse_arguments(arg "" "" "FLAGS" ${ARGN})
  file(GLOB_RECURSE sources CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/engine/kernels/sve/*.cc)
  add_library(svengine_kernels_${name} OBJECT ${sources})
  target_link_libraries(svengine_kernels_${name} PRIVATE svengine_flags)
  # -O3 with explicit vector code; errno and traps are never looked at, but NaN, infinity and signed zero count: no -ffast-math;
  # and no contraction: where a multiply-add is wanted, the kernel says so.
  target_compile_options(svengine_kernels_${name} PRIVATE -O3 -g0 -fno-math-errno -fno-trapping-math -ffp-contract=off -fno-exceptions -fno-rtti
    -fno-stack-protector -Wno-attributes ${arg_FLAGS})
  target_compile_definitions(svengine_kernels_${name} PRIVATE SVENGINE_KERNEL_SET=${name})
  list(JOIN arg_FLAGS " " flags)
  set_property(GLOBAL APPEND PROPERTY SVENGINE_KERNEL_SET_FLAGS "${name}=${flags}")
  if(CMAKE_SYSTEM_PROCESSOR MATCHES "x86_64|AMD64")
    target_include_directories(svengine_kernels_${name} BEFORE PRIVATE ${PROJECT_SOURCE_DIR}/engine/kernels/host)
    # Compilers' headers of intrinsics are most of what a small kernel costs: 0.3 of 0.5 to 2 s (g++ 12). The code is the same. A
    # precompiled header forgets where those headers say that a vector is left undefined on purpose; preset dev, without, keeps the warning.
    # Not for SVE, whose header is a pragma that declares everything inside the compiler.
    if(NOT CMAKE_DISABLE_PRECOMPILE_HEADERS)
      target_precompile_headers(svengine_kernels_${name} PRIVATE ${PROJECT_SOURCE_DIR}/engine/kernels/sve/vec.h)
      target_compile_options(svengine_kernels_${name} PRIVATE -Wno-uninitialized)
    endif()
  endif()
endfunction()
