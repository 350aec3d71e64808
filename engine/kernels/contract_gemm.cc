// The contract of packed products, as functions.
#include "engine/kernels/contract.h"

namespace svengine::kernels {

namespace {

template <class T>
const char* gemm_violation(const GemmArgsOf<T>& args) {
  if (args.m < 1 || args.n < 1 || args.k < 0) return "gemm: m or n is not positive, or k is negative";
  if (!args.c || (args.k > 0 && (!args.a || !args.b))) return "gemm: a, b or c is null";
  if (args.batch.outer < 1 || args.batch.inner < 1) return "gemm: a batch is not positive";
  if (args.m > 1 && args.ldc < args.n) return "gemm: ldc is less than n";
  if ((args.batch.outer > 1 && args.c_stride.outer == 0) || (args.batch.inner > 1 && args.c_stride.inner == 0))
    return "gemm: c_stride is 0 where the batch is more than 1";
  if (args.bias_kind != GemmBias::kNone && !args.bias) return "gemm: bias is null";
  if (args.residual == args.c && args.residual && (args.m > 1 && args.ld_residual != args.ldc))
    return "gemm: residual is c with another leading dimension";
  return nullptr;
}

template <class T>
const char* gemm_rows_violation(const GemmRowsArgsOf<T>& args) {
  const GemmArgsOf<T>& p = args.product;
  if (p.k > 1 && !args.b_transposed && args.ldb < p.n) return "gemm rows: ldb is less than n";
  if (p.n > 1 && args.b_transposed && args.ldb < p.k) return "gemm rows: ldb is less than k";
  if (p.m > 1 && args.b_transposed && args.lda < p.k) return "gemm rows: lda is less than k";
  return gemm_violation(p);
}

template <class T>
const char* chain_violation(const DenseChainArgsOf<T>& args) {
  if (args.rows < 0 || args.count < 1) return "dense chain: rows is negative, or there is no layer";
  if (!args.x || !args.y || !args.layers) return "dense chain: x, y or layers is null";
  for (int64_t l = 0; l < args.count; ++l) {
    const DenseLayerOf<T>& layer = args.layers[l];
    if (layer.groups < 1 || layer.inputs < 1 || layer.outputs < 1) return "dense chain: a size of a layer is not positive";
    if (!layer.weights) return "dense chain: weights is null";
    if (l > 0 && layer.groups * layer.inputs != args.layers[l - 1].groups * args.layers[l - 1].outputs)
      return "dense chain: a layer takes in another number of values than the one before puts out";
  }
  return nullptr;
}

}  // namespace

const char* violation(const DenseChainArgsOf<float>& args) noexcept { return chain_violation(args); }
const char* violation(const DenseChainArgsOf<double>& args) noexcept { return chain_violation(args); }
const char* violation(const GemmArgs& args) noexcept { return gemm_violation(args); }
const char* violation(const GemmArgsOf<double>& args) noexcept { return gemm_violation(args); }
const char* violation(const GemmRowsArgsOf<float>& args) noexcept { return gemm_rows_violation(args); }
const char* violation(const GemmRowsArgsOf<double>& args) noexcept { return gemm_rows_violation(args); }

}  // namespace svengine::kernels
