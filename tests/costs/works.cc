#include "tests/costs/works.h"

#include <map>
#include <optional>

#include "engine/kernels/attention.h"
#include "engine/kernels/conv.h"
#include "engine/kernels/data.h"
#include "engine/kernels/elementwise.h"
#include "engine/kernels/gemm.h"
#include "engine/kernels/machine/a64fx.h"
#include "engine/kernels/machine/winograd.h"
#include "engine/kernels/norm.h"
#include "engine/kernels/pool.h"
#include "engine/kernels/quantized.h"
#include "engine/kernels/softmax.h"
#include "tests/costs/gradient_works.h"
#include "tests/costs/work_memory.h"

namespace svengine::tests {
namespace {

using namespace svengine::kernels;
struct Convolution {
  ConvShape shape;
  bool exact = false;
};

Call convolution(const Convolution& work) {
  const ConvKernels& conv = *best().conv;
  ConvArgs args;
  const ConvShape& s = args.shape = work.shape;
  args.kind = conv.choose(s, work.exact);
  Memory memory;
  const ConvPacking packing = conv.packing(s, args.kind);
  float* packed = memory.random(conv.packed_bytes(packing) / 4);
  const int64_t taps = s.kernel.height * s.kernel.width;
  const float* weights = memory.random(s.out_channels * s.in_channels / s.groups * taps);
  conv.pack(packing, weights, packed, 0, conv.pack_tasks(packing));
  args.input = memory.random(blocked(s.in_channels) * s.in.height * s.in.width);
  args.weights = packed, args.bias = memory.random(blocked(s.out_channels));
  args.output = memory.random(blocked(s.out_channels) * s.out.height * s.out.width);
  args.activation.kind = Activation::kRelu;
  args.workspace = memory.scratch(conv.workspace_bytes(args));
  float* scratch = memory.scratch(conv.scratch_bytes(args));
  const int64_t prepare_tasks = conv.prepare_tasks(args), tasks = conv.tasks(args);
  return [=, &conv] {
    (void)memory;
    conv.prepare(args, 0, prepare_tasks);
    conv.run(args, 0, tasks, scratch);
  };
}

GemmPackArgs packing(Memory& memory, int64_t extent, int64_t depth, bool depth_major, int64_t packed_bytes) {
  GemmPackArgs args;
  args.source = memory.random(extent * depth), args.ld = depth_major ? extent : depth, args.depth_major = depth_major;
  args.extent = extent, args.depth = depth, args.packed = memory.random(packed_bytes / 4);
  return args;
}

Call pack_a(int64_t m, int64_t k) {
  const GemmKernels& gemm = *best().gemm;
  Memory memory;
  const GemmPackArgs args = packing(memory, m, k, false, gemm.packed_a_bytes(m, k));
  return [=, &gemm] { (void)memory, gemm.pack_a(args, 0, gemm.pack_a_tasks(args)); };
}

Call pack_b(int64_t k, int64_t n) {
  const GemmKernels& gemm = *best().gemm;
  Memory memory;
  const GemmPackArgs args = packing(memory, n, k, true, gemm.packed_b_bytes(k, n));
  return [=, &gemm] { (void)memory, gemm.pack_b(args, 0, gemm.pack_b_tasks(args)); };
}

Call product(int64_t m, int64_t n, int64_t k, Activation activation) {
  const GemmKernels& gemm = *best().gemm;
  Memory memory;
  const GemmPackArgs a = packing(memory, m, k, false, gemm.packed_a_bytes(m, k));
  const GemmPackArgs b = packing(memory, n, k, true, gemm.packed_b_bytes(k, n));
  gemm.pack_a(a, 0, gemm.pack_a_tasks(a));
  gemm.pack_b(b, 0, gemm.pack_b_tasks(b));
  GemmArgs args;
  args.m = m, args.n = n, args.k = k, args.a = a.packed, args.b = b.packed, args.c = memory.random(m * n), args.ldc = n;
  args.bias = memory.random(n), args.bias_kind = GemmBias::kColumn, args.activation.kind = activation;
  float* scratch = memory.scratch(gemm.gemm_scratch_bytes(args));
  const int64_t tasks = gemm.gemm_tasks(args);
  return [=, &gemm] { (void)memory, gemm.gemm(args, 0, tasks, scratch); };
}

Call unary(UnaryOp op, int64_t n) {
  Memory memory;
  UnaryArgs args;
  args.op = op, args.n = n, args.x = memory.random(n), args.y = memory.random(n);
  return call_of(best().elementwise->unary, args, memory);
}

Call addition(int64_t n) {
  Memory memory;
  BinaryArgs args;
  args.a = memory.random(n), args.b = memory.random(n), args.y = memory.random(n);
  args.broadcast.size[0] = n, args.broadcast.stride[0][0] = args.broadcast.stride[1][0] = 1;
  return call_of(best().elementwise->binary, args, memory);
}

Call softmax(int64_t rows, int64_t n) {
  Memory memory;
  SoftmaxArgs args;
  args.x = memory.random(rows * n), args.y = memory.random(rows * n);
  args.outer = rows, args.n = args.x_outer_stride = args.y_outer_stride = n;
  return call_of(best().softmax->softmax, args, memory);
}

/// One head, packing included; `size` values a query, key and value.
Call attention(int64_t tokens, int64_t size) {
  const AttentionKernels& kernels = *best().attention;
  Memory memory;
  AttentionArgs args;
  args.queries = args.keys = tokens, args.size = args.value_size = size, args.scale = 0.125f;
  args.q = memory.random(tokens * size), args.k = memory.random(tokens * size), args.v = memory.random(tokens * size);
  args.y = memory.random(tokens * size), args.mask = memory.random(tokens);
  args.q_stride.row = args.k_stride.row = args.v_stride.row = args.y_stride.row = size;
  args.packed_k = memory.random(kernels.packed_k_bytes(args) / 4);
  args.packed_v = memory.random(kernels.packed_v_bytes(args) / 4);
  return [pack = call_of(kernels.pack, args, memory), run = call_of(kernels.attention, args, memory)] { pack(), run(); };
}

/// Rows times weights of 4 bits in blocks of 32, without zero points.
NBitsRowsArgs few_bits(Memory& memory, int64_t m, int64_t n, int64_t k) {
  NBitsRowsArgs args;
  args.m = m, args.a = memory.random(m * k), args.lda = k, args.c = memory.random(m * n), args.ldc = n;
  args.b.k = k, args.b.n = n;
  args.b.levels = reinterpret_cast<const uint32_t*>(memory.random(n_bits_level_bytes(k, n, args.b.bits) / 4));
  args.b.scales = memory.random(n_bits_factors(k, n, args.b.block));
  return args;
}

Call n_bits_rows(int64_t m, int64_t n, int64_t k) {
  Memory memory;
  const NBitsRowsArgs args = few_bits(memory, m, n, k);
  return call_of(best().quantized->n_bits.rows, args, memory);
}

/// The same of rows that are made integers first.
Call n_bits_rounded(int64_t m, int64_t n, int64_t k) {
  Memory memory;
  NBitsRowsArgs args = few_bits(memory, m, n, k);
  const int64_t groups = n_bits_groups(k, args.b.block);
  NBitsRoundArgs round;
  round.m = m, round.k = round.lda = k, round.block = args.b.block, round.a = args.a;
  round.numbers = reinterpret_cast<int8_t*>(memory.random(m * n_bits_number_bytes(k) / 4));
  round.scales = memory.random(m * groups), round.sums = reinterpret_cast<int32_t*>(memory.random(m * groups));
  round.rounded = reinterpret_cast<int32_t*>(memory.random(m));
  args.rounded = {round.numbers, round.scales, round.sums, round.rounded};
  const NBitsKernels& kernels = best().quantized->n_bits;
  return [round = call_of(kernels.round, round, memory), rows = call_of(kernels.rows, args, memory)] { round(), rows(); };
}

/// Windows of bytes with channels last, weights without zero points.
Call quantized_conv(int64_t in, int64_t out, int64_t size, int64_t k) {
  Memory memory;
  const QuantizedKernels& kernels = *best().quantized;
  QuantizedGemmArgs args;
  QuantizedWindow& w = args.window;
  args.m = size * size, args.n = args.ldc = out, args.k = k * k * in, args.windows = true;
  w.pixel_bytes = w.channels = in;
  for (int i = 1; i < 3; ++i) w.in[i] = w.out[i] = size, w.kernel[i] = k, w.pads[i] = k / 2;
  QuantizedPackArgs pack;
  pack.column_major = true, pack.is_signed = true, pack.k = pack.ld = args.k, pack.n = out;
  pack.source = memory.random(out * args.k / 4 + 1);
  args.b = pack.packed = memory.random(kernels.packed_bytes(pack.k, pack.n) / 4);
  kernels.pack(pack, 0, kernels.pack_tasks(pack));
  args.a = memory.random(size * size * in / 4 + 1), args.c = memory.random(size * size * out / 4 + 1);
  args.epilogue.output = QuantizedOutput::kUint8, args.epilogue.scale = memory.random(1), args.epilogue.low = 0, args.epilogue.high = 255;
  return call_of(kernels.gemm, args, memory);
}

Call layer_norm(int64_t rows, int64_t n) {
  Memory memory;
  RowNormArgs args;
  args.x = memory.random(rows * n), args.y = memory.random(rows * n), args.scale = memory.random(n),
  args.bias = memory.random(n);
  args.rows = rows, args.n = args.x_stride = args.y_stride = n;
  return call_of(best().norm->layer_norm, args, memory);
}

Call max_pool(int64_t channels, int64_t size) {
  Memory memory;
  PoolArgs args;
  const int64_t out = (size - 1) / 2 + 1;
  args.blocked = true, args.shape.channels = channels;
  args.shape.in = {1, size, size}, args.shape.out = {1, out, out}, args.shape.kernel = {1, 3, 3},
  args.shape.stride = {1, 2, 2};
  args.shape.pad = args.shape.pad_end = {0, 1, 1};
  args.input = memory.random(blocked(channels) * size * size),
  args.output = memory.random(blocked(channels) * out * out);
  return call_of(best().pool->window, args, memory);
}

Call global_pool(int64_t channels, int64_t size) {
  Memory memory;
  GlobalPoolArgs args;
  args.blocked = true, args.channels = channels, args.size = size * size;
  args.input = memory.random(blocked(channels) * size * size), args.output = memory.random(blocked(channels));
  return call_of(best().pool->global, args, memory);
}

Call to_blocked(int64_t channels, int64_t size) {
  Memory memory;
  ReorderArgs args;
  args.batch = 1, args.channels = channels, args.spatial = size * size,
  args.plain_batch_stride = channels * size * size;
  args.src = memory.random(channels * size * size), args.dst = memory.random(blocked(channels) * size * size);
  return call_of(best().data->to_blocked, args, memory);
}

const std::map<std::string, UnaryOp> kUnary = {
    {"exp", UnaryOp::kExp}, {"tanh", UnaryOp::kTanh}, {"gelu", UnaryOp::kGelu}, {"sigmoid", UnaryOp::kSigmoid},
    {"erf", UnaryOp::kErf}, {"log", UnaryOp::kLog},   {"relu", UnaryOp::kRelu}};

std::optional<Convolution> named_convolution(const std::string& name) {
  constexpr const char* kFormat = "conv/%lld-%lld@%lld/%lldx%lld/s%lld";
  long long in = 0, out = 0, size = 0, k = 0, k2 = 0, stride = 0, groups = 1;  // what scanf can read
  Convolution work;
  work.exact = scan(name, kFormat + std::string("/exact"), in, out, size, k, k2, stride);
  const bool known = work.exact || scan(name, kFormat, in, out, size, k, k2, stride) ||
                     scan(name, kFormat + std::string("/g%lld"), in, out, size, k, k2, stride, groups);
  if (!known || k != k2) return {};
  ConvShape& s = work.shape;
  const int64_t pad = k / 2, out_size = (size + 2 * pad - k) / stride + 1;
  s.in_channels = in, s.out_channels = out, s.groups = groups;
  s.in = {1, size, size}, s.out = {1, out_size, out_size}, s.kernel = {1, k, k};
  s.stride = {1, stride, stride}, s.pad = {0, pad, pad};
  return work;
}

}  // namespace

double winograd_cycles(const std::string& name) {
  const std::optional<Convolution> work = named_convolution(name);
  if (!work || !winograd::possible(work->shape)) return 0;
  const winograd::Tiling tiling = winograd::make_tiling(machines::a64fx, work->shape);
  const winograd::Cycles cycles = winograd::count_cycles(machines::a64fx, tiling, work->shape);
  return cycles.products + cycles.transforms;
}

Call make_work(const std::string& name) {
  if (const std::optional<Convolution> work = named_convolution(name)) return convolution(*work);
  if (const Call work = make_gradient_work(name)) return work;
  long long a = 0, b = 0, c = 0, d = 0, e = 0;  // what scanf can read
  if (scan(name, "gemm/%lldx%lldx%lld", a, b, c)) return product(a, b, c, Activation::kNone);
  if (scan(name, "gemm_gelu/%lldx%lldx%lld", a, b, c)) return product(a, b, c, Activation::kGelu);
  if (scan(name, "pack_a/%lldx%lld", a, b)) return pack_a(a, b);
  if (scan(name, "pack_b/%lldx%lld", a, b)) return pack_b(a, b);
  if (scan(name, "add/%lld", a)) return addition(a);
  if (scan(name, "softmax/%lldx%lld", a, b)) return softmax(a, b);
  if (scan(name, "attention/%lldx%lld", a, b)) return attention(a, b);
  if (scan(name, "n_bits_rows/%lldx%lldx%lld", a, b, c)) return n_bits_rows(a, b, c);
  if (scan(name, "n_bits_rounded/%lldx%lldx%lld", a, b, c)) return n_bits_rounded(a, b, c);
  if (scan(name, "quantized_conv/%lld-%lld@%lld/%lldx%lld", a, b, c, d, e)) return quantized_conv(a, b, c, d);
  if (scan(name, "layer_norm/%lldx%lld", a, b)) return layer_norm(a, b);
  if (scan(name, "max_pool/%lld@%lld", a, b)) return max_pool(a, b);
  if (scan(name, "global_pool/%lld@%lld", a, b)) return global_pool(a, b);
  if (scan(name, "to_blocked/%lld@%lld", a, b)) return to_blocked(a, b);
  for (const auto& [prefix, op] : kUnary)
    if (scan(name, prefix + "/%lld", a)) return unary(op, a);
  return {};
}

}  // namespace svengine::tests
