#include "engine/kernels/reference/gemm.h"

#include <cmath>

#include "engine/kernels/reference/activation.h"

namespace svengine::kernels {

ReferenceGemm reference_gemm(const ReferenceGemmArgs& args) {
  ReferenceGemm result;
  result.c.resize(args.m * args.n);
  result.error.resize(args.m * args.n);
  for (int64_t row = 0; row < args.m; ++row) {
    for (int64_t column = 0; column < args.n; ++column) {
      double sum = 0;
      double magnitude = 0;
      for (int64_t d = 0; d < args.k; ++d) {
        const double product = double{args.a[row * args.a_row + d * args.a_depth]} *
                               double{args.b[d * args.b_depth + column * args.b_column]};
        sum += product;
        magnitude += std::fabs(product);
      }
      sum *= args.alpha;
      magnitude *= std::fabs(args.alpha);
      if (args.bias) {
        const double bias = double{args.bias_scale} * args.bias[row * args.bias_row + column * args.bias_column];
        sum += bias;
        magnitude += std::fabs(bias);
      }
      if (args.residual) {
        const double residual = double{args.residual_scale} * args.residual[row * args.ld_residual + column];
        sum += residual;
        magnitude += std::fabs(residual);
      }
      const int64_t at = row * args.n + column;
      result.c[at] = reference_activation(sum, args.activation);
      const double off = static_cast<double>(args.k + 6) * 0x1p-24 * magnitude;
      result.error[at] = activation_error_bound(sum, result.c[at], off, args.activation);
    }
  }
  return result;
}

}  // namespace svengine::kernels
