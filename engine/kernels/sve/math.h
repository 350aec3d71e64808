// Vector mathematics on vf: pure, whole vectors, NaN in NaN out. Accuracies are stated with each function in ULP of the
// correctly rounded result and tested in engine/kernels/math_test.cc.
//   math_base.h    short names for the ACLE forms used
//   math_divide.h  vrecip vdiv_normal vdiv vrsqrt vsqrt
//   math_exp.h     vexp vexp_clamped vexpm1 vtanh vsigmoid vsinh vcosh
//   math_log.h     vlog vlog1p vsoftplus vasinh vacosh vatanh
//   math_erf.h     verf vgelu vmish
//   math_many.h    several vectors in lockstep: vexp_by_table, vexp_of_difference, vtanh, vsigmoid, vgelu, vrecip take them
//   math_trig.h    vsin vcos vtan vasin vacos vatan
//   math_pow.h     vpow
#pragma once
#include "engine/kernels/sve/math_divide.h"
#include "engine/kernels/sve/math_erf.h"
#include "engine/kernels/sve/math_exp.h"
#include "engine/kernels/sve/math_log.h"
#include "engine/kernels/sve/math_pow.h"
#include "engine/kernels/sve/math_trig.h"
