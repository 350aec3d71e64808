// Dense layers one after the other, block of rows by block: what lies between two layers stays in cache.
//
//   y = l_n(... l_2(l_1(x)) ...),  l(v)[g] = activation(weights[g] v[g] + bias[g]) for every group g of a layer's inputs and outputs
//
// Rows of x are independent samples. Work is cut by shape alone, as said in task_kernel.h.
#pragma once
#include <cstdint>

#include "engine/kernels/activation.h"

namespace svengine::kernels {

template <class T>
struct DenseLayerOf {
  int64_t groups = 1;
  int64_t inputs = 0, outputs = 0;  // of one group, positive
  /// For every group [outputs, inputs], packed as operand A of a product (gemm.h), packed_a_bytes(outputs, inputs) after one another.
  const T* weights = nullptr;
  const T* bias = nullptr;  // [groups][outputs]; null: none
  ActivationArgs activation;
};

template <class T>
struct DenseChainArgsOf {
  int64_t rows = 0;
  const T* x = nullptr;  // [rows, inputs of layer 0], dense
  T* y = nullptr;        // [rows, outputs of the last layer], dense
  const DenseLayerOf<T>* layers = nullptr;
  int64_t count = 0;     // of layers, at least 1; what one puts out the next takes in
};

}  // namespace svengine::kernels
