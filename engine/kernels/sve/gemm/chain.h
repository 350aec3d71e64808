// Chains of dense layers (gemm_chain.h): samples are the lanes.
//
// A layer's weights are operand A of a product, whose tile broadcasts them, and a panel of samples is operand B:
//
//     panel, [feature][sample]        weights' rows x a panel            the next layer's panel, [feature][sample]
//        k x kPanelColumns      ->    run_tile, rows of it at a time ->      as the tiles store it
//
// So results of one layer are packed operands of the next as they are, no tile has missing columns but for the last samples, and only
// x and y are turned. A task is a few panels, which share the reading of the weights.
#pragma once
#include "engine/kernels/gemm_chain.h"
#include "engine/kernels/sve/gemm/rows.h"

namespace svengine::kernels::SVENGINE_KERNEL_SET {

/// The widest that lies between two layers, or before or behind one.
template <class T>
int64_t widest(const DenseChainArgsOf<T>& args) {
  int64_t width = args.layers[0].groups * args.layers[0].inputs;
  for (int64_t l = 0; l < args.count; ++l) width = larger(width, args.layers[l].groups * args.layers[l].outputs);
  return width;
}

/// Panels of samples that pass through all layers together: what they read and write fills a quarter of L2, the weights have the rest.
template <class T>
int64_t block_panels(const DenseChainArgsOf<T>& args) {
  return smaller(larger(kMachine.l2_bytes / 8 / (widest(args) * kPanelStepBytes), 1), 4);
}

template <class T>
int64_t chain_tasks(const DenseChainArgsOf<T>& args) noexcept {
  return ceil_div(args.rows, block_panels(args) * kPanelColumns<T>);
}

template <class T>
int64_t chain_scratch_bytes(const DenseChainArgsOf<T>& args) noexcept {
  return 2 * block_panels(args) * widest(args) * kPanelStepBytes;
}

/// A range of memory, prefetched into L2 a part at a time between other work.
class PrefetchRange {
 public:
  template <class T>
  PrefetchRange(const T* begin, int64_t count, int64_t parts)
      : at_(reinterpret_cast<const char*>(begin)), end_(reinterpret_cast<const char*>(begin + count)), part_(ceil_div(count * kBytes<T>, parts)) {}

  template <bool kWrites>
  void next() {
    for (const char* stop = at_ + smaller(part_, end_ - at_); at_ < stop; at_ += kMachine.line_bytes) __builtin_prefetch(at_, kWrites, 2);
  }

 private:
  const char *at_, *end_;
  int64_t part_;
};

/// Rows [first, first + rows) of x as panels one after the other; lanes without a row hold anything. The rows behind them are fetched meanwhile, and
/// where these rows' results go: give_samples writes pieces of as many rows as a panel has columns, which no processor foresees.
template <class T>
void take_samples(const DenseChainArgsOf<T>& args, int64_t first, int64_t rows, T* panels) {
  constexpr int kLanes = kLanesOf<T>;
  const DenseLayerOf<T>& last = args.layers[args.count - 1];
  const int64_t inputs = args.layers[0].groups * args.layers[0].inputs, outputs = last.groups * last.outputs;
  const int64_t squares = ceil_div(inputs, kLanes);
  for (int64_t i = 0; i < rows; i += kLanes) {
    const T* x = args.x + (first + i) * inputs;
    T* panel = panels + i / kPanelColumns<T> * inputs * kPanelColumns<T> + i % kPanelColumns<T>;
    const int64_t count = smaller(rows - i, kLanes);
    PrefetchRange next_x(x + count * inputs, smaller(args.rows - first - i - count, kLanes) * inputs, squares);
    PrefetchRange y(args.y + (first + i) * outputs, count * outputs, squares);
    for (int64_t d = 0; d < inputs; d += kLanes) {
      next_x.next<false>();
      y.next<true>();
      copy_turned(x + d, inputs, count, smaller(inputs - d, kLanes), panel + d * kPanelColumns<T>, kPanelColumns<T>);
    }
  }
  const int64_t end = ceil_div(rows, kPanelColumns<T>) * kPanelColumns<T>;
  for (int64_t i = ceil_div(rows, kLanes) * kLanes; i < end; i += kLanes)
    fill_zero(kLanes, inputs, panels + i / kPanelColumns<T> * inputs * kPanelColumns<T> + i % kPanelColumns<T>, kPanelColumns<T>);
}

/// The last layer's panels to rows of y.
template <class T>
void give_samples(const DenseChainArgsOf<T>& args, int64_t first, int64_t rows, const T* panels) {
  constexpr int kLanes = kLanesOf<T>;
  const DenseLayerOf<T>& last = args.layers[args.count - 1];
  const int64_t outputs = last.groups * last.outputs;
  for (int64_t i = 0; i < rows; i += kPanelColumns<T>) {
    const T* panel = panels + i * outputs;
    T* y = args.y + (first + i) * outputs;
    for (int64_t f = (outputs - 1) / kLanes * kLanes; f >= 0; f -= kLanes)  // the last first: see copy_turned_square
      copy_turned(panel + f * kPanelColumns<T>, kPanelColumns<T>, smaller(outputs - f, kLanes), smaller(rows - i, kPanelColumns<T>), y + f,
                  outputs);
  }
}

/// One group of a layer, of `panels` panels of its inputs and outputs.
template <class T>
void run_group(const DenseLayerOf<T>& layer, const GemmArgsOf<T>& args, int64_t group, int64_t panels, const T* in, T* out) {
  const int64_t in_step = layer.groups * layer.inputs * kPanelColumns<T>, out_step = layer.groups * layer.outputs * kPanelColumns<T>;
  const EvenPartition rows = rows_of_panels(layer.outputs);
  const T* weights = layer.weights + group * (packed_a_bytes<T>(layer.outputs, layer.inputs) / kBytes<T>);
  Tile<T> tile{};
  tile.depth = layer.inputs;
  tile.columns = kPanelColumns<T>;
  for (int64_t i = 0; i < row_panels(layer.outputs); ++i) {
    const int64_t row = rows.begin(i), height = rows.size(i), output = group * layer.outputs + row;
    tile.a = weights + row * layer.inputs;
    tile.bias = layer.bias ? layer.bias + output : nullptr;
    for (int64_t j = 0; j < panels; ++j) {
      tile.b = in + j * in_step + group * layer.inputs * kPanelColumns<T>;
      tile.c = out + j * out_step + output * kPanelColumns<T>;
      tile.prefetch.a = j == 0 ? height * layer.inputs * kBytes<T> : 0;
      tile.prefetch.b = reinterpret_cast<const char*>(tile.a);  // what lies between layers is in L2 as it is
      run_tile(height, args, tile);
      finish_tile(args, tile, height);
    }
  }
}

template <class T>
void run_chain(const DenseChainArgsOf<T>& args, int64_t begin, int64_t end, void* scratch) noexcept {
  const int64_t most = block_panels(args), block = most * kPanelColumns<T>, size = widest(args) * block;
  for (int64_t task = begin; task < end; ++task) {
    const int64_t first = task * block, rows = smaller(args.rows - first, block);
    T *in = static_cast<T*>(scratch), *out = in + size;
    take_samples(args, first, rows, in);
    for (int64_t l = 0; l < args.count; ++l) {
      const DenseLayerOf<T>& layer = args.layers[l];
      GemmArgsOf<T> epilogue;
      epilogue.ldc = kPanelColumns<T>;
      epilogue.bias_kind = GemmBias::kRow;
      epilogue.activation = layer.activation;
      for (int64_t g = 0; g < layer.groups; ++g) run_group(layer, epilogue, g, ceil_div(rows, kPanelColumns<T>), in, out);
      T* const next = in;
      in = out;
      out = next;
    }
    give_samples(args, first, rows, in);
  }
}

/// The table of a type.
template <class T>
constexpr GemmKernelsOf<T> gemm_kernels_of() {
  return {kPanelRows,      kPanelColumns<T>, packed_a_bytes<T>, packed_b_bytes<T>,     pack_a_tasks<T>, pack_a<T>,
          pack_b_tasks<T>, pack_b<T>,        gemm_tasks<T>,     gemm_scratch_bytes<T>, checked<GemmArgsOf<T>, gemm<T>>(),
          {rows_tasks<T>, rows_scratch_bytes<T>, checked<GemmRowsArgsOf<T>, rows<T>>()},
          {chain_tasks<T>, chain_scratch_bytes<T>, checked<DenseChainArgsOf<T>, run_chain<T>>()}};
}

}  // namespace svengine::kernels::SVENGINE_KERNEL_SET
