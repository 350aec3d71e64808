#include "engine/kernels/reference/gemm.h"

#include <Eigen/Core>
#include <cmath>

#include "engine/kernels/reference/activation.h"

namespace svengine::kernels {

namespace {

/// An operand as a matrix: rows `down` floats apart, columns `across`.
template <class T>
Eigen::MatrixXd matrix(const T* x, int64_t rows, int64_t columns, int64_t down, int64_t across) {
  using Strides = Eigen::Stride<Eigen::Dynamic, Eigen::Dynamic>;
  using Matrix = Eigen::Matrix<T, Eigen::Dynamic, Eigen::Dynamic>;
  return Eigen::Map<const Matrix, 0, Strides>(x, rows, columns, Strides(across, down)).template cast<double>();
}

template <class T>
ReferenceGemm reference(const ReferenceGemmArgs<T>& args) {
  constexpr double kUnit = sizeof(T) == sizeof(float) ? 0x1p-24 : 0x1p-52;
  const Eigen::MatrixXd a = matrix(args.a, args.m, args.k, args.a_row, args.a_depth);
  const Eigen::MatrixXd b = matrix(args.b, args.k, args.n, args.b_depth, args.b_column);
  Eigen::MatrixXd sum = double{args.alpha} * (a * b), magnitude = std::fabs(args.alpha) * (a.cwiseAbs() * b.cwiseAbs());
  const auto add = [&](const Eigen::MatrixXd& more) {
    sum += more;
    magnitude += more.cwiseAbs();
  };
  if (args.bias) add(double{args.bias_scale} * matrix(args.bias, args.m, args.n, args.bias_row, args.bias_column));
  if (args.residual) add(double{args.residual_scale} * matrix(args.residual, args.m, args.n, args.ld_residual, 1));
  ReferenceGemm result;
  for (int64_t row = 0; row < args.m; ++row)
    for (int64_t column = 0; column < args.n; ++column) {
      const double off = static_cast<double>(args.k + 6) * kUnit * magnitude(row, column);
      result.c.push_back(reference_activation(sum(row, column), args.activation));
      result.error.push_back(activation_error_bound(sum(row, column), result.c.back(), off, args.activation, kUnit));
    }
  return result;
}

}  // namespace

ReferenceGemm reference_gemm(const ReferenceGemmArgs<float>& args) { return reference(args); }
ReferenceGemm reference_gemm(const ReferenceGemmArgs<double>& args) { return reference(args); }

}  // namespace svengine::kernels
