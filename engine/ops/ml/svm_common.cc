#include "engine/ops/ml/svm_common.h"

#include <cmath>

namespace svengine::ops {

double SvmFunction::operator()(const double* x, const float* v, int64_t features) const {
  if (kernel == SvmKernel::rbf) {
    const double square = sum_of(features, [&](int64_t i) { return (x[i] - static_cast<double>(v[i])) * (x[i] - static_cast<double>(v[i])); });
    return std::exp(-gamma * square);
  }
  const double sum = sum_of(features, [&](int64_t i) { return x[i] * static_cast<double>(v[i]); });
  if (kernel == SvmKernel::poly) return std::pow(gamma * sum + coef0, degree);
  return kernel == SvmKernel::sigmoid ? std::tanh(gamma * sum + coef0) : sum;
}

Result<SvmFunction> svm_function(const Attributes& attributes) {
  const std::string name = attributes.get_string("kernel_type", "LINEAR");
  SvmFunction f;
  if (name == "POLY")
    f.kernel = SvmKernel::poly;
  else if (name == "RBF")
    f.kernel = SvmKernel::rbf;
  else if (name == "SIGMOID")
    f.kernel = SvmKernel::sigmoid;
  else if (name != "LINEAR")
    return error("kernel_type is '{}', needs LINEAR, POLY, RBF or SIGMOID", name);
  const std::vector<float> parameters = float_list(attributes, "kernel_params");
  if (parameters.empty()) return f;
  if (parameters.size() != 3) return error("kernel_params has {} numbers, needs gamma, coef0 and degree", parameters.size());
  f.gamma = parameters[0];
  f.coef0 = parameters[1];
  f.degree = parameters[2];
  return f;
}

std::vector<AttributeDef> svm_attributes() {
  return {ml_floats("coefficients"),
          ml_floats("support_vectors"),
          ml_floats("rho"),
          ml_floats("kernel_params"),
          {"kernel_type", AttributeKind::kString, false, "LINEAR"},
          ml_post_transform()};
}

}  // namespace svengine::ops
