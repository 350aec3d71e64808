#include "engine/kernels/contract.h"

#include <cstdio>
#include <cstdlib>
#include <cstring>

namespace svengine::kernels {
namespace {

/// Bytes [begin, end).
struct Memory {
  const char* begin;
  const char* end;
};

Memory memory(const void* at, int64_t bytes) { return {static_cast<const char*>(at), static_cast<const char*>(at) + bytes}; }
bool overlap(const Memory& a, const Memory& b) { return a.begin < b.end && b.begin < a.end; }

int64_t bytes_of(DType type) {
  switch (type) {
    case DType::u8:
    case DType::i8:
    case DType::boolean:
      return 1;
    case DType::u16:
    case DType::i16:
    case DType::f16:
    case DType::bf16:
      return 2;
    case DType::i64:
    case DType::u64:
    case DType::f64:
      return 8;
    default:
      return 4;
  }
}

bool positive(const Extent& e) { return e.depth > 0 && e.height > 0 && e.width > 0; }
bool not_negative(const Extent& e) { return e.depth >= 0 && e.height >= 0 && e.width >= 0; }
int64_t volume(const Extent& e) { return e.depth * e.height * e.width; }

int64_t count(const Broadcast& b) {
  int64_t n = 1;
  for (int d = 0; d < b.rank; ++d) n *= b.size[d];
  return n;
}

/// What operand `i` reads.
Memory span_of(const Broadcast& b, int i, const void* at, int64_t element_bytes) {
  int64_t last = 0;
  for (int d = 0; d < b.rank; ++d) last += (b.size[d] - 1) * b.stride[i][d];
  return memory(at, (last + 1) * element_bytes);
}

/// Operand `i` is laid out as the output is.
bool is_dense(const Broadcast& b, int i) {
  int64_t step = 1;
  for (int d = b.rank - 1; d >= 0; step *= b.size[d--])
    if (b.size[d] > 1 && b.stride[i][d] != step) return false;
  return true;
}

const char* broadcast_violation(const Broadcast& b, int operands) {
  if (b.rank < 1 || b.rank > kMaxBroadcastDims) return "elementwise: broadcast.rank is not 1 to 8";
  for (int d = 0; d < b.rank; ++d)
    if (b.size[d] < 1) return "elementwise: a broadcast.size is not positive";
  for (int i = 0; i < operands; ++i) {
    const int64_t inner = b.stride[i][b.rank - 1];
    if (inner != 0 && inner != 1) return "elementwise: an innermost broadcast.stride is neither 0 nor 1";
    for (int d = 0; d < b.rank; ++d)
      if (b.stride[i][d] < 0) return "elementwise: a broadcast.stride is negative";
  }
  return nullptr;
}

bool gives_bool(BinaryOp op) { return op >= BinaryOp::kEqual && op <= BinaryOp::kXor; }

}  // namespace

const char* violation(const UnaryArgs& args) noexcept {
  if (!args.x || !args.y) return "elementwise unary: x or y is null";
  if (args.n < 0) return "elementwise unary: n is negative";
  const bool narrows = args.op == UnaryOp::kIsNaN || args.op == UnaryOp::kIsInf;
  const Memory x = memory(args.x, args.n * bytes_of(args.type)), y = memory(args.y, args.n * (narrows ? 1 : bytes_of(args.type)));
  if (overlap(x, y) && (x.begin != y.begin || x.end != y.end)) return "elementwise unary: y overlaps x and is not x";
  return nullptr;
}

const char* violation(const BinaryArgs& args) noexcept {
  if (!args.a || !args.b || !args.y) return "elementwise binary: a, b or y is null";
  if (const char* broken = broadcast_violation(args.broadcast, 2)) return broken;
  const int64_t in = bytes_of(args.type), out = gives_bool(args.op) ? 1 : in;
  const Memory y = memory(args.y, count(args.broadcast) * out);
  const void* operands[] = {args.a, args.b};
  for (int i = 0; i < 2; ++i)
    if (overlap(span_of(args.broadcast, i, operands[i], in), y) &&
        (operands[i] != args.y || in != out || !is_dense(args.broadcast, i)))
      return i == 0 ? "elementwise binary: y overlaps a and is not laid out like it"
                    : "elementwise binary: y overlaps b and is not laid out like it";
  return nullptr;
}

const char* violation(const WhereArgs& args) noexcept {
  if (!args.condition || !args.x || !args.y || !args.result) return "elementwise where: condition, x, y or result is null";
  if (const char* broken = broadcast_violation(args.broadcast, 3)) return broken;
  const Memory result = memory(args.result, count(args.broadcast) * args.element_bytes);
  if (args.element_bytes != 1 && overlap(span_of(args.broadcast, 0, args.condition, 1), result))
    return "elementwise where: result overlaps condition";
  const void* operands[] = {args.x, args.y};
  for (int i = 0; i < 2; ++i)
    if (overlap(span_of(args.broadcast, i + 1, operands[i], args.element_bytes), result) &&
        (operands[i] != args.result || !is_dense(args.broadcast, i + 1)))
      return "elementwise where: result overlaps x or y and is not laid out like it";
  return nullptr;
}

const char* violation(const CastArgs& args) noexcept {
  if (!args.x || !args.y) return "elementwise cast: x or y is null";
  const Memory x = memory(args.x, args.n * bytes_of(args.from)), y = memory(args.y, args.n * bytes_of(args.to));
  if (overlap(x, y) && (x.begin != y.begin || x.end != y.end)) return "elementwise cast: y overlaps x and is not x";
  return nullptr;
}

const char* violation(const PoolArgs& args) noexcept {
  const PoolShape& s = args.shape;
  if (!args.input || !args.output) return "pool: input or output is null";
  if (s.batch < 0 || s.channels < 0 || !not_negative(s.out)) return "pool: a size is negative";
  if (!positive(s.kernel) || !positive(s.stride) || !positive(s.dilation))
    return "pool: a kernel, stride or dilation is not positive";
  if (volume(s.in) >= int64_t{1} << 31) return "pool: an image has 2^31 positions or more";
  if (args.indices && (args.kind != PoolKind::kMax || args.blocked))
    return "pool: indices of another kind than max on a plain layout";
  if (args.kind == PoolKind::kLp && args.power < 1) return "pool: power is not positive";
  if (args.blocked && args.indices) return "pool: indices of a blocked image, which only plain ones have";
  return nullptr;
}

const char* violation(const GlobalPoolArgs& args) noexcept {
  if (!args.output || (!args.input && args.size > 0)) return "global pool: input or output is null";
  if (args.batch < 0 || args.channels < 0 || args.size < 0) return "global pool: a size is negative";
  if (args.kind == PoolKind::kLp && args.power < 1) return "global pool: power is not positive";
  return nullptr;
}

const char* violation(const ConvArgs& args) noexcept {
  const ConvShape& s = args.shape;
  if (!args.output) return "conv: output is null";
  if (!args.input || !args.weights) return "conv: input or weights is null";
  if (s.batch < 0 || s.in_channels < 0 || !not_negative(s.out)) return "conv: a size is negative";
  if (s.in_channels < 1 || s.out_channels < 1 || s.groups < 1) return "conv: in_channels, out_channels or groups is not positive";
  if (s.in_channels % s.groups != 0 || s.out_channels % s.groups != 0) return "conv: groups does not divide the channels";
  if (!positive(s.kernel) || !positive(s.stride) || !positive(s.dilation))
    return "conv: a kernel, stride or dilation is not positive";
  const bool sees_depth = args.kind != ConvKind::kDepthwise && args.kind != ConvKind::kGrouped;
  if (!sees_depth && !is_flat(s)) return "conv: a kind without depth on images with depth";
  if (args.kind == ConvKind::kDepthwise && (s.groups != s.in_channels || s.groups != s.out_channels))
    return "conv: kDepthwise without a group for each channel";
  if ((args.kind == ConvKind::kFirstLayer || args.kind == ConvKind::kWinograd) && s.groups != 1)
    return "conv: several groups of a kind for one";
  if (args.kind == ConvKind::kWinograd && (s.kernel.height != 3 || s.kernel.width != 3 || s.stride.height != 1 ||
                                           s.stride.width != 1 || s.dilation.height != 1 || s.dilation.width != 1))
    return "conv: kWinograd without 3 x 3 taps, stride 1 and dilation 1";
  return nullptr;
}

const char* violation(const RowNormArgs& args) noexcept {
  if (args.rows < 1 || args.n < 1) return "row norm: rows or n is not positive";
  if (!args.x || !args.y) return "row norm: x or y is null";
  if (args.rows > 1 && (args.x_stride < args.n || args.y_stride < args.n)) return "row norm: rows of x or y overlap";
  if (args.sum && args.sum == args.y) return "row norm: sum is y";
  return nullptr;
}

namespace {

template <class T>
const char* group_norm_violation(const GroupNormArgsOf<T>& args) {
  if (!args.x || !args.y) return "group norm: x or y is null";
  if (args.batch < 1 || args.channels < 1 || args.spatial < 1) return "group norm: a size is not positive";
  if (args.groups < 1 || args.channels % args.groups != 0) return "group norm: groups does not divide channels";
  return nullptr;
}

template <class T>
const char* line_norm_violation(const LineNormArgsOf<T>& args) {
  if (!args.x || !args.y) return "line norm: x or y is null";
  if (args.lines.count() < 1 || args.segments.count() < 1 || args.n < 1 || args.inner < 1) return "line norm: a size is not positive";
  return nullptr;
}

}  // namespace

const char* violation(const GroupNormArgs& args) noexcept { return group_norm_violation(args); }
const char* violation(const GroupNormArgsF64& args) noexcept { return group_norm_violation(args); }

const char* violation(const LineNormArgs& args) noexcept { return line_norm_violation(args); }
const char* violation(const LineNormArgsF64& args) noexcept { return line_norm_violation(args); }

const char* violation(const ChannelAffineArgs& args) noexcept {
  if (!args.x || !args.y || !args.scale || !args.shift) return "channel affine: x, y, scale or shift is null";
  if (args.batch < 1 || args.channels < 1 || args.spatial < 1) return "channel affine: a size is not positive";
  return nullptr;
}

const char* violation(const LocalResponseArgs& args) noexcept {
  if (!args.x || !args.y || args.x == args.y) return "local response norm: x or y is null, or both are one";
  if (args.batch < 1 || args.channels < 1 || args.spatial < 1 || args.size < 1)
    return "local response norm: a size is not positive";
  return nullptr;
}

const char* violation(const ReduceArgs& args) noexcept {
  if (args.rank < 0 || args.rank > kReduceDims) return "reduce: rank is not 0 to 8";
  int64_t elements = 1;
  for (int d = 0; d < args.rank; ++d) {
    if (args.extent[d] < 0) return "reduce: an extent is negative";
    elements *= args.extent[d];
  }
  return !args.y || (elements > 0 && !args.x) ? "reduce: x or y is null" : nullptr;
}

const char* violation(const ArgReduceArgs& args) noexcept {
  if (args.outer < 1 || args.inner < 1) return "arg reduce: outer or inner is not positive";
  if (args.n < 1 || args.n >= int64_t{1} << 31) return "arg reduce: n is not 1 to 2^31 - 1";
  return !args.x || !args.y ? "arg reduce: x or y is null" : nullptr;
}

const char* violation(const TopKArgs& args) noexcept {
  if (args.outer < 1 || args.inner < 1) return "top k: outer or inner is not positive";
  if (args.n < 1 || args.n >= int64_t{1} << 31) return "top k: n is not 1 to 2^31 - 1";
  if (args.k < 0 || args.k > args.n) return "top k: k is not 0 to n";
  return !args.x ? "top k: x is null" : nullptr;
}

namespace {

template <class T>
const char* softmax_violation(const SoftmaxArgsOf<T>& args) {
  if (args.outer < 1 || args.n < 1 || args.inner < 1) return "softmax: a size is not positive";
  if (!args.x || !args.y) return "softmax: x or y is null";
  if (args.outer > 1 && (args.x_outer_stride < args.n * args.inner || args.y_outer_stride < args.n * args.inner))
    return "softmax: outer lines of x or y overlap";
  return args.x == args.y && args.outer > 1 && args.x_outer_stride != args.y_outer_stride ? "softmax: y is x with another stride"
                                                                                          : nullptr;
}

}  // namespace

const char* violation(const SoftmaxArgs& args) noexcept { return softmax_violation(args); }
const char* violation(const SoftmaxArgsF64& args) noexcept { return softmax_violation(args); }

const bool contract_checks = [] {
  const char* value = std::getenv("SVENGINE_CHECK_CONTRACTS");
  return value && std::strcmp(value, "1") == 0;
}();

void enforce(const char* violation) noexcept {
  if (!violation) return;
  std::fprintf(stderr, "a kernel's contract is broken (engine/kernels/contract.h): %s\n", violation);
  std::abort();
}

}  // namespace svengine::kernels
