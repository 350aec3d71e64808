// The kernel sets this program holds: one table of function pointers per instruction set and vector length, chosen once.
#pragma once
#include <span>
#include <string_view>

#include "engine/base/status.h"

namespace svengine::kernels {

template <class T>
struct GemmKernelsOf;       // gemm.h: packed matrix product with epilogue, of float and double
struct ConvKernels;         // conv.h: direct convolution in NCHWc
struct PoolKernels;         // pool.h
struct ElementwiseKernels;  // elementwise.h: unary, binary, ternary with broadcasting
struct SoftmaxKernels;      // softmax.h
struct AttentionKernels;    // attention.h: softmax(q k') v by blocks of queries
struct NormKernels;         // norm.h: layer, batch and local response norm
struct ReduceKernels;       // reduce.h
struct GradientKernels;     // gradient.h: backward passes of activations, windows, norms, softmax
struct QuantizedKernels;    // quantized.h: products and convolutions of 8-bit integers
struct DataKernels;         // data.h: reorder, transpose, gather, concat, slice, pad as strided copies
template <class T>
struct RecurrentKernelsOf;  // recurrent.h: steps of RNN, GRU, LSTM, of float and double

struct KernelTable {
  const char* name;  // "avx512", "avx2", "sve512", "reference"; "avx2+openblas"
  int lanes;         // float lanes of a vector = channel block of NCHWc
  const GemmKernelsOf<float>* gemm;
  const GemmKernelsOf<double>* gemm_f64;
  const ConvKernels* conv;
  const PoolKernels* pool;
  const ElementwiseKernels* elementwise;
  const SoftmaxKernels* softmax;
  const AttentionKernels* attention;
  const NormKernels* norm;
  const ReduceKernels* reduce;
  const DataKernels* data;
  const GradientKernels* gradient;
  const QuantizedKernels* quantized;
  const RecurrentKernelsOf<float>* recurrent;
  const RecurrentKernelsOf<double>* recurrent_f64;
};

/// The compiled-in sets that this processor can run, best first. Thread-safe; never empty on a supported machine.
std::span<const KernelTable* const> available_kernel_sets();

/// Those, and last the set `reference`: the contracts in double precision by the plainest code (kernels/reference/set), which every
/// processor runs. It is slow, and there to ask whether an answer is right; nothing chooses it by itself. Thread-safe.
std::span<const KernelTable* const> all_kernel_sets();

/// A family that exists several times for a set, because some of its processors have instructions more. The set's table has the best.
struct QuantizedVariant {
  const char* name;  // "avx512", "avx512_vnni"
  const QuantizedKernels* kernels;
};
/// Those of all sets that this processor can run, for tests. Thread-safe.
std::span<const QuantizedVariant> quantized_variants();

/// The one of all_kernel_sets() called `name`; an error with their names when it is not compiled in or this processor lacks its instructions.
/// "avx2+openblas" is that set with OpenBLAS's matrix products (openblas/openblas.h), "openblas" the best set with them.
Result<const KernelTable*> select_kernel_set(std::string_view name);

/// Likewise, or null.
const KernelTable* find_kernel_set(std::string_view name);

}  // namespace svengine::kernels
