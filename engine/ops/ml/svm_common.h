// Support vector machines: kernels of rows with vectors.
#pragma once
#include "engine/ops/ml/ml_common.h"

namespace svengine::ops {

enum class SvmKernel { linear, poly, rbf, sigmoid };

/// K(x, v) by kernel type and gamma, coef0, degree. Sums are in double.
struct SvmFunction {
  SvmKernel kernel = SvmKernel::linear;
  double gamma = 0, coef0 = 0, degree = 0;
  double operator()(const double* x, const float* v, int64_t features) const;
};

Result<SvmFunction> svm_function(const Attributes& attributes);
std::vector<AttributeDef> svm_attributes();

}  // namespace svengine::ops
