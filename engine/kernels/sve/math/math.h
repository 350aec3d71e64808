// Vector mathematics on vf: pure, whole vectors, NaN in NaN out. Accuracies are stated with each function in ULP of the
// correctly rounded result and tested in engine/kernels/math_test.cc.
//   math/base.h    short names for the ACLE forms used
//   math/divide.h  vrecip vdiv_normal vdiv vrsqrt vsqrt
//   math/exp.h     vexp vexp_clamped vexpm1 vtanh vsigmoid vsinh vcosh
//   math/log.h     vlog vlog1p vsoftplus vasinh vacosh vatanh
//   math/erf.h     verf vgelu vmish
//   math/many.h    several vectors in lockstep: vexp_by_table, vexp_of_difference, vtanh, vsigmoid, vgelu, vrecip take them
//   math/trig.h    vsin vcos vtan vasin vacos vatan
//   math/pow.h     vpow
//   math/f64.h     the same for doubles: vexp_f64 vexpm1_f64 vtanh_f64 vsigmoid_f64 vdiv_f64
//   math/log_f64.h vlog_f64 vlog1p_f64 vsoftplus_f64
//   math/erf_f64.h verf_f64 vgelu_f64
//   math/trig_f64.h vcircular_f64
#pragma once
#include "engine/kernels/sve/math/divide.h"
#include "engine/kernels/sve/math/erf.h"
#include "engine/kernels/sve/math/exp.h"
#include "engine/kernels/sve/math/log.h"
#include "engine/kernels/sve/math/pow.h"
#include "engine/kernels/sve/math/trig.h"
