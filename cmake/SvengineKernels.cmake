# The kernel sets: an instruction set and a vector length, compiled for the tiles of one machine (engine/kernels/machine/MACHINE.h).
include_guard()
# Clang does not take the kernels of x86-64, whose header of intrinsics is in GCC's vector types.
option(SVENGINE_VECTOR_KERNELS "Compile the kernel sets for this processor beside the set reference" ON)

# SET MACHINE WHERE-IT-RUNS FLAG..., a row each, the best set first. WHERE-IT-RUNS is C++ (engine/kernels/processor.h).
if(NOT SVENGINE_VECTOR_KERNELS)
  set(SVENGINE_KERNEL_SET_ROWS)
elseif(CMAKE_SYSTEM_PROCESSOR MATCHES "x86_64|AMD64")
  set(SVENGINE_KERNEL_SET_ROWS
    "avx512 sapphire_rapids processor_has_avx512() -mavx512f -mavx512dq -mavx512bw -mavx512vl -mfma -mprefer-vector-width=512"
    "avx2 haswell processor_has_avx2() -mavx2 -mfma -mf16c")
  # SET VARIANT MACHINE WHERE-IT-RUNS FLAG...: kernels/sve/quantized alone once more, with the instruction that multiplies bytes.
  set(SVENGINE_QUANTIZED_ROWS
    "avx512 avx512_vnni sapphire_rapids processor_has_avx512_vnni() -mavx512f -mavx512dq -mavx512bw -mavx512vl -mfma -mavx512vnni \
-mprefer-vector-width=512")
elseif(SVENGINE_ALL_SVE_LENGTHS)
  # One program for A64FX, Graviton 3 and Grace: only the kernels of a length are tuned for its machine.
  set(SVENGINE_KERNEL_SET_ROWS
    "sve512 a64fx processor_sve_bits()==512 -march=armv8.2-a+sve -mtune=a64fx -msve-vector-bits=512"
    "sve256 neoverse_v1 processor_sve_bits()==256 -march=armv8.2-a+sve -mtune=neoverse-v1 -msve-vector-bits=256"
    "sve128 neoverse_v2 processor_sve_bits()==128 -march=armv8.2-a+sve -mtune=neoverse-512tvb -msve-vector-bits=128")
else()
  set(SVENGINE_KERNEL_SET_ROWS
    "sve512 a64fx processor_sve_bits()==512 -mcpu=a64fx -msve-vector-bits=512")
endif()

# svengine_kernel_sets(NAMES FILE): every row compiled, the sets' names in variable NAMES, those of variants in NAMES_variants, and in FILE
# a line for each, for C++:
# SVENGINE_KERNEL_SET_ROW(set, where it runs), and for every variant SVENGINE_QUANTIZED_ROW(set, variant, where it runs).
function(svengine_kernel_sets names file)
  set(found)
  set(variants)
  set(text "// Made by cmake/SvengineKernels.cmake.\n")
  foreach(row IN LISTS SVENGINE_KERNEL_SET_ROWS)
    separate_arguments(words UNIX_COMMAND "${row}")
    list(POP_FRONT words set machine runs)
    svengine_kernel_set(${set} MACHINE ${machine} FLAGS ${words})
    list(APPEND found ${set})
    string(APPEND text "SVENGINE_KERNEL_SET_ROW(${set}, ${runs})\n")
  endforeach()
  foreach(row IN LISTS SVENGINE_QUANTIZED_ROWS)
    separate_arguments(words UNIX_COMMAND "${row}")
    list(POP_FRONT words set variant machine runs)
    svengine_kernel_set(${variant} MACHINE ${machine} DIRECTORY quantized BASE ${set} FLAGS ${words})
    list(APPEND variants ${variant})
    string(APPEND text "SVENGINE_QUANTIZED_ROW(${set}, ${variant}, ${runs})\n")
  endforeach()
  file(CONFIGURE OUTPUT ${file} CONTENT "${text}" @ONLY)
  set(${names} ${found} PARENT_SCOPE)
  set(${names}_variants ${variants} PARENT_SCOPE)
endfunction()

# svengine_kernel_set(NAME MACHINE machine [DIRECTORY family] [BASE set] FLAGS flag...): engine/kernels/sve/*.cc compiled once, in its own
# namespace. A variant of the set BASE has not what multiplies no bytes, quantized/n_bits.cc: it calls that set's. On x86-64
# engine/kernels/host comes first on the include path and supplies <arm_sve.h>; elsewhere engine/kernels/native does for what differs.
function(svengine_kernel_set name)
  cmake_parse_arguments(arg "" "MACHINE;DIRECTORY;BASE" "FLAGS" ${ARGN})
  file(GLOB_RECURSE sources CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/engine/kernels/sve/${arg_DIRECTORY}/*.cc)
  if(arg_BASE)
    list(FILTER sources EXCLUDE REGEX "/n_bits\\.cc$")
  else()
    set(arg_BASE ${name})
  endif()
  add_library(svengine_kernels_${name} OBJECT ${sources})
  target_link_libraries(svengine_kernels_${name} PRIVATE svengine_flags)
  # -O3 with explicit vector code; errno and traps are never looked at, but NaN, infinity and signed zero count: no -ffast-math;
  # and no contraction: where a multiply-add is wanted, the kernel says so. With sanitizers -O3 takes four times as long to compile as -O1
  # (conv/direct/tile_first.cc 40 and 9 s, g++ 12, EPYC Zen 4).
  # Nothing is thrown through a kernel, and of 12 MiB that a shared library may have, what would unwind them is 0.2.
  set(optimisation -O3 -fno-asynchronous-unwind-tables)
  if(SVENGINE_SANITIZED)
    set(optimisation -O1)
  endif()
  target_compile_options(svengine_kernels_${name} PRIVATE ${optimisation} -g0 -fno-math-errno -fno-trapping-math -ffp-contract=off -fno-exceptions -fno-rtti
    -fno-stack-protector -Wno-attributes ${arg_FLAGS})
  target_compile_definitions(svengine_kernels_${name} PRIVATE SVENGINE_KERNEL_SET=${name} SVENGINE_BASE_SET=${arg_BASE} SVENGINE_MACHINE=${arg_MACHINE}
    "SVENGINE_MACHINE_HEADER=\"engine/kernels/machine/${arg_MACHINE}.h\"")
  list(JOIN arg_FLAGS " " flags)
  set_property(GLOBAL APPEND PROPERTY SVENGINE_KERNEL_SET_FLAGS "${name}=${flags}")
  if(CMAKE_SYSTEM_PROCESSOR MATCHES "x86_64|AMD64")
    target_include_directories(svengine_kernels_${name} BEFORE PRIVATE ${PROJECT_SOURCE_DIR}/engine/kernels/host)
    # Compilers' headers of intrinsics are most of what a small kernel costs: 0.3 of 0.5 to 2 s (g++ 12). The code is the same. A
    # precompiled header forgets where those headers say that a vector is left undefined on purpose; preset dev, without, keeps the warning.
    # Not for SVE, whose header is a pragma that declares everything inside the compiler.
    if(NOT CMAKE_DISABLE_PRECOMPILE_HEADERS)
      target_precompile_headers(svengine_kernels_${name} PRIVATE ${PROJECT_SOURCE_DIR}/engine/kernels/sve/vec.h)
      target_compile_options(svengine_kernels_${name} PRIVATE -Wno-uninitialized -Wno-maybe-uninitialized)
    endif()
  else()
    target_include_directories(svengine_kernels_${name} BEFORE PRIVATE ${PROJECT_SOURCE_DIR}/engine/kernels/native)
  endif()
endfunction()
