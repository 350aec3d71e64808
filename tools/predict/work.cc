#include "tools/predict/work.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <map>
#include <string_view>

#include "engine/graph/op_def.h"
#include "engine/kernels/machine/winograd.h"
#include "engine/ops/nn/conv_common.h"

namespace svengine::tool {
namespace {

double dim(const Value* v, size_t i) {
  const Shape& s = v->type.shape;
  return i < static_cast<size_t>(s.rank()) && s[i].is_static() ? static_cast<double>(s[i].value()) : 1;
}

double elements(const Value* v) {
  double n = 1;
  for (size_t i = 0; i < static_cast<size_t>(std::max<int64_t>(v->type.shape.rank(), 0)); ++i) n *= dim(v, i);
  return n;
}

double last_dim(const Value* v) {
  return v->type.shape.rank() > 0 ? dim(v, static_cast<size_t>(v->type.shape.rank() - 1)) : 1;
}

double tiles(double extent, double tile) { return std::ceil(extent / tile); }

/// Cycles an element of functions that take more than moving their operands; 0 for others.
double cycles_of(std::string_view function, const MachineModel& m) {
  const auto& c = m.cycles;
  const std::map<std::string_view, double> cycles = {
      {"Exp", c.exp},        {"Log", c.log},      {"Tanh", c.tanh},    {"Sigmoid", c.sigmoid},   {"Erf", c.erf},
      {"Gelu", c.gelu},      {"Silu", c.sigmoid}, {"Softplus", c.log}, {"Mish", c.tanh + c.log}, {"Elu", c.exp},
      {"Selu", c.exp},       {"Celu", c.exp},     {"tanh", c.tanh},    {"sigmoid", c.sigmoid},   {"gelu", c.gelu},
      {"gelu_tanh", c.gelu}, {"silu", c.sigmoid}};
  const auto it = cycles.find(function);
  return it == cycles.end() ? 0 : it->second;
}

double epilogue_cycles(const Node& node, const MachineModel& m) {
  return cycles_of(node.attributes.get_string("activation", ""), m) * elements(node.output());
}

/// Winograd's kernel: the cycles and bytes that its own plan counts. The share is of the direct sum's operations, so it may
/// be above 1.
void winograd_convolution(const kernels::ConvShape& shape, const MachineModel& m, Work& work) {
  const kernels::winograd::Tiling tiling = kernels::winograd::make_tiling(m.tiles, shape);
  const kernels::winograd::Cycles cycles = count_cycles(m.tiles, tiling, shape);
  const kernels::winograd::Bytes bytes = count_bytes(m.tiles, tiling, shape);
  work.winograd = true;
  work.share = work.flops / (m.node.flops_per_cycle * (cycles.products + cycles.transforms) / m.winograd);
  work.pieces = static_cast<double>(tiling.stored ? tiling.tiles : tiling.groups * tiling.out_blocks);
  work.packed = bytes.packed;
  work.workspace = bytes.workspace;
  work.moved = bytes.moved;
  work.steps = tiling.stored ? 1 : 2;
}

void direct_convolution(const kernels::ConvShape& shape, const MachineModel& m, Work& work) {
  const bool pointwise = shape.kernel.height * shape.kernel.width == 1;
  const bool strided = shape.stride.height * shape.stride.width > 1;
  const bool first = shape.groups == 1 && shape.in_channels <= 4;
  const bool depthwise = shape.groups == shape.in_channels && shape.groups == shape.out_channels;
  if (shape.groups > 1)
    work.share = depthwise ? m.share.depthwise : m.share.grouped;
  else if (first)
    work.share = m.share.first_layer;
  else
    work.share = pointwise ? m.share.pointwise : strided ? m.share.strided : m.share.convolution;
  const double pixels = static_cast<double>(shape.out.depth * shape.out.height * shape.out.width);
  const double tile_pixels = pointwise ? m.tiles.pointwise_pixels : m.tiles.conv_pixels;
  const double tile_channels = (pointwise ? m.tiles.pointwise_vectors : m.tiles.conv_vectors) * m.tiles.lanes;
  work.pieces = static_cast<double>(shape.batch) * tiles(pixels, tile_pixels) *
                tiles(static_cast<double>(shape.out_channels), tile_channels);
  work.steps = 1;
  if (!strided || shape.groups > 1 || first) return;
  // A copy is read instead: of the pixels that are used, or of all with their borders.
  const double copied = pointwise ? pixels : static_cast<double>(shape.in.depth * shape.in.height * shape.in.width);
  work.workspace = static_cast<double>(shape.batch * shape.in_channels) * copied * sizeof(float);
  work.steps = 2;
}

Dims dims_of(const Value* v) {
  Dims dims;
  for (size_t i = 0; i < static_cast<size_t>(v->type.shape.rank()); ++i)
    dims.push_back(static_cast<int64_t>(dim(v, i)));
  return dims;
}

void convolution(const Node& node, const MachineModel& m, bool exact, Work& work) {
  const Result<kernels::ConvShape> shape =
      ops::conv_shape(node.attributes, dims_of(node.input(0)), dims_of(node.input(1)));
  if (!shape.ok() || work.flops == 0) return;  // nothing to do; the graph is verified
  const bool blocked = node.input(0)->type.block && node.output()->type.block;
  if (!exact && blocked && kernels::winograd::pays(m.tiles, *shape))
    winograd_convolution(*shape, m, work);
  else
    direct_convolution(*shape, m, work);
  work.function_cycles = epilogue_cycles(node, m);
}

void product(const Node& node, const MachineModel& m, Work& work) {
  const Value *b = node.input(1), *out = node.output();
  const double columns = last_dim(out), rows = elements(out) / columns;
  work.share = m.share.product;
  work.pieces = tiles(rows, m.tiles.gemm_rows) * tiles(columns, m.tiles.gemm_vectors * m.tiles.lanes);
  work.function_cycles = epilogue_cycles(node, m);
  work.steps = 1 + (rows > 1) + !b->is_constant();  // packing the rows, packing the columns
}

/// Weights of a few bits: for few rows, four at a time, a shift, a mask, a lookup and a multiplication make a vector of weights between its
/// products.
void n_bits_product(const Node& node, const MachineModel& m, Work& work) {
  product(node, m, work);
  const double columns = last_dim(node.output()), rows = elements(node.output()) / columns;
  if (rows > 16) return;
  const double together = std::min(rows, 4.0);
  work.share *= together / (together + 4);
  work.pieces = tiles(columns, m.tiles.lanes);
  work.steps = 1;
}

void attention(const Node& node, const MachineModel& m, Work& work) {
  const double size = last_dim(node.input(0)), scores = size > 0 ? work.flops / (4 * size) : 0;
  work.share = m.share.attention;
  work.function_cycles = m.cycles.softmax * scores;
  work.pieces = std::max(1.0, tiles(elements(node.output()) / size, m.tiles.gemm_rows));
  work.steps = 1;
}

/// Rows of the last dimension, each done by one core.
void rows_of(const Node& node, double cycles, Work& work) {
  const Value* x = node.input(0);
  work.function_cycles = cycles * elements(x), work.flops = 0;
  work.pieces = std::max(1.0, elements(x) / last_dim(x));
}

}  // namespace

double bytes_read(const Node& node, size_t i) {
  const double bytes = stored_bytes(node.input(i)->type);
  const std::string_view op = node.op().name;
  return i == 0 && (op.starts_with("Gather") || op == "Slice") && node.output()
             ? std::min(bytes, stored_bytes(node.output()->type))
             : bytes;
}

Work work_of(const Node& node, const MachineModel& machine, bool exact) {
  Work work;
  if (node.op().traits.is_view) return work;
  const std::string_view op = node.op().name;
  double read = 0, written = 0;
  for (size_t i = 0; i < node.inputs().size(); ++i) {
    if (!node.input(i)) continue;
    const double bytes = bytes_read(node, i);
    (node.input(i)->is_constant() ? work.weights : work.activations) += bytes;
    read += bytes;
  }
  for (const Value* v : node.outputs())
    if (v) written += stored_bytes(v->type);
  work.activations += written;
  work.flops = cost_of(node).flops;
  work.steps = 1;
  if (op == "Conv" || op == "FusedConv") {
    convolution(node, machine, exact, work);
  } else if (op == "MatMul" || op == "Gemm" || op == "FusedMatMul") {
    product(node, machine, work);
  } else if (op == "NBitsMatMul") {
    n_bits_product(node, machine, work);
  } else if (op == "Attention") {
    attention(node, machine, work);
  } else {
    work.loaded = read, work.stored = written;
    work.pieces = std::max(1.0, tiles(elements(node.output()), static_cast<double>(machine.elementwise_task)));
    work.function_cycles = cycles_of(op, machine) * elements(node.output());
    if (op == "Softmax" || op == "LogSoftmax") rows_of(node, machine.cycles.softmax, work);
    if (op == "LayerNormalization" || op == "InstanceNormalization") rows_of(node, machine.cycles.norm, work);
  }
  return work;
}

}  // namespace svengine::tool
