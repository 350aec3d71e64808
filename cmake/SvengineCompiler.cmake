# Flags every translation unit gets, as one interface target.
include_guard()

if(NOT CMAKE_BUILD_TYPE AND NOT CMAKE_CONFIGURATION_TYPES)
  set(CMAKE_BUILD_TYPE Release CACHE STRING "" FORCE)
endif()

# Presets asan and fuzz give such flags. Some code is optimised less then, and tests try less.
set(SVENGINE_SANITIZED OFF)
if(CMAKE_CXX_FLAGS_RELEASE MATCHES "-fsanitize")
  set(SVENGINE_SANITIZED ON)
endif()

add_library(svengine_flags INTERFACE)
target_compile_options(svengine_flags INTERFACE -Wall -Wextra -Wno-psabi)
if(SVENGINE_WERROR)
  target_compile_options(svengine_flags INTERFACE -Werror)
endif()
if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU" AND NOT CMAKE_CXX_FLAGS_RELEASE MATCHES "-O1")
  # At -O2 GCC 12 warns wrongly of std::optional and std::string (its bugs 80635 and 105651); presets dev and asan keep both at -O1.
  target_compile_options(svengine_flags INTERFACE -Wno-maybe-uninitialized -Wno-restrict)
endif()
target_include_directories(svengine_flags INTERFACE ${PROJECT_SOURCE_DIR} ${PROJECT_SOURCE_DIR}/engine/include)
# The driver's own flag, not FindOpenMP's target: that one names libgomp.so by its path, which a static program cannot have.
target_compile_options(svengine_flags INTERFACE -fopenmp)
target_link_options(svengine_flags INTERFACE -fopenmp)
if(SVENGINE_STATIC)
  # For our own programs only, so not on the interface target that consumers of the library see. The linker warns of dlopen in libgomp
  # (offloading) and for plug-ins, and of getaddrinfo in libnuma (affinity by host name): neither is reached. The warnings stay: --no-warnings of
  # binutils 2.40 lets undefined functions pass, too, which are then calls of address 0.
  # A program for the dynamic loader says so by the property SVENGINE_DYNAMIC.
  # GCC's start files register a static program's unwind tables, which the first exception then sorts: 8 ms, 0.4 s in QEMU. Without the
  # registration (the reference to it is weak, and nothing has the name that --wrap gives it) the unwinder takes the sorted table that
  # --eh-frame-hdr writes, as in dynamic programs.
  set(is_program $<STREQUAL:$<TARGET_PROPERTY:TYPE>,EXECUTABLE>)
  set(static -static LINKER:--eh-frame-hdr,--wrap=__register_frame_info,--wrap=__deregister_frame_info)
  add_link_options("$<$<AND:${is_program},$<NOT:$<BOOL:$<TARGET_PROPERTY:SVENGINE_DYNAMIC>>>>:${static}>")
endif()

# Only kernels are worth -O3. What decides, once for a network, is compiled for the compiler's own time: -Og and a heap that GCC does not
# collect before it has some memory. What walks the steps of a run stays at -O2, and so do operators' files that hold loops of steps
# that no kernel is made for: g++ 12, EPYC Zen 4, 84 s of CPU for engine/ops at -Og and 146 at -O2, where integer MatMul, poolings and norms of
# doubles, LinearRegressor take a quarter to two thirds of the time (`svengine bench` of networks of one node). With -O2 for the 136 files that
# have such loops and -Og for the other 222 it is 165 s beside 159: twice as many units. (For size, at
# -Os, operators' files without loops and the importers would be a quarter smaller, 360 KB of the shared library, and cost a third more to compile.)
# Operators' files with loops do without some passes of -O2, a seventh of their compile time: of 1,028 networks of one node (bench/operator_models.py,
# bench/node_models.py; AVX-512) half take less than before and half more, and NonZero, Compress, Binarizer a tenth to a quarter more. (Without pass
# tree-vrp sums of Einsum take a third longer; at -O1 pooling of doubles, MaxRoiPool, tree ensembles, SVMs, Compress two to four times as long.)
set(SVENGINE_CALM_FLAGS "")
set(SVENGINE_STEP_FLAGS "")
set(rare_collections --param=ggc-min-expand=400 --param=ggc-min-heapsize=1000000)
if(CMAKE_CXX_FLAGS_RELEASE MATCHES "-O3")
  set(SVENGINE_CALM_FLAGS $<$<CONFIG:Release>:-Og>)
  set(SVENGINE_STEP_FLAGS $<$<CONFIG:Release>:-O2>)
  if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
    foreach(flags CALM STEP)
      # Functions that nothing calls stand in files that something else is needed of: the shared library's linker leaves them out.
      list(APPEND SVENGINE_${flags}_FLAGS -ffunction-sections ${rare_collections})
    endforeach()
    set(cheaper_passes -fno-gcse -fno-rerun-cse-after-loop -fno-cse-follow-jumps -fno-schedule-insns2 -fno-ipa-cp -fno-ipa-sra -fno-ipa-icf)
  endif()
elseif(SVENGINE_SANITIZED AND CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
  # g++ 12 needs two and a half times as long to optimise what sanitizers add as to compile it: importers_tests' unit 88 s at -O1, 35 s at -O0.
  set(SVENGINE_CALM_FLAGS -O0 ${rare_collections})
  set(SVENGINE_STEP_FLAGS -O1 ${rare_collections})
endif()
set(SVENGINE_OPERATOR_FLAGS ${SVENGINE_STEP_FLAGS} ${cheaper_passes})
