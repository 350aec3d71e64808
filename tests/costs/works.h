// Single kernel calls by name, on the best kernel set of this processor: what cost tests count and benchmarks estimate.
//
//   conv/IN-OUT@SIZE/KxK/sSTRIDE[/gGROUPS]   one image, padded by K / 2, with bias and ReLU, in the kernels' choice of kind
//   conv/.../sSTRIDE/exact                   the same, never by Winograd
//   conv_weights/IN-OUT@SIZE/KxK/sSTRIDE     the gradient of the weights, in ONNX order; conv_data/...: of the input, weights packed
//   gemm/MxNxK, gemm_gelu/MxNxK              packed operands, bias for each column; no activation, or GELU
//   pack_a/MxK, pack_b/KxN                   operands of products, from row-major matrices
//   exp/N tanh/N gelu/N sigmoid/N erf/N log/N relu/N add/N     N contiguous elements
//   softmax/RxN, layer_norm/RxN              R rows of N
//   n_bits_rows/MxNxK, n_bits_rounded/MxNxK  weights of 4 bits in blocks of 32, by floats, and by integers that rows are made first
//   quantized_conv/IN-OUT@SIZE/KxK           bytes of one image, channels last, padded by K / 2, scaled to bytes
//   attention/TxS                            one head of T tokens with S values each: packing, scores, mask, softmax, sums
//   max_pool/C@SIZE, global_pool/C@SIZE      3x3 with stride 2, and the average of an image, blocked
//   to_blocked/C@SIZE                        a plain image to channel blocks
#pragma once
#include <functional>
#include <string>

namespace svengine::tests {

/// Makes operands (the same ones every time) and returns a function that calls the kernel once, all tasks in this
/// thread. An empty function: there is no such work.
std::function<void()> make_work(const std::string& name);

/// Cycles of one core of A64FX that Winograd's plan counts for a convolution of this name (winograd::count_cycles); 0:
/// there is no such work, or Winograd is not for it.
double winograd_cycles(const std::string& name);

}  // namespace svengine::tests
