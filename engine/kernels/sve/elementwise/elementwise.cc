// The elementwise family: unary and binary by type, and the table.
#include "engine/kernels/elementwise.h"

#include "engine/kernels/sve/checked.h"
#include "engine/kernels/sve/elementwise/parts.h"
#include "engine/kernels/sve/elementwise/tile.h"
#include "engine/kernels/sve/elementwise/unary.h"
#include "engine/kernels/sve/elementwise/walk.h"

namespace svengine::kernels::SVENGINE_KERNEL_SET::elementwise {

namespace {

UnaryFunction find_unary(UnaryOp op, DType type) {
  if (type == DType::f32)
    if (const UnaryFunction f = find_unary_f32(op)) return f;
  return find_unary_plain(op, type);
}

TileFunction find_binary(BinaryOp op, DType type) {
  if (type == DType::f32)
    if (const TileFunction f = find_binary_f32(op, false)) return f;
  if (const TileFunction f = find_binary_integer(op, type)) return f;
  return find_binary_plain(op, type);
}

template <class Args>
int64_t no_scratch(const Args&) noexcept {
  return 0;
}

bool has_unary(UnaryOp op, DType type) noexcept { return find_unary(op, type) != nullptr; }
bool has_binary(BinaryOp op, DType type) noexcept { return find_binary(op, type) != nullptr; }

int64_t unary_tasks(const UnaryArgs& args) noexcept { return divide_up(args.n, kElementwiseTask); }
void unary_run(const UnaryArgs& args, int64_t begin, int64_t end, void*) noexcept {
  const int64_t first = begin * kElementwiseTask, last = smaller(end * kElementwiseTask, args.n);
  if (first < last) find_unary(args.op, args.type)(args, first, last);
}

bool gives_bool(BinaryOp op) { return op >= BinaryOp::kEqual && op <= BinaryOp::kXor; }

int64_t binary_tasks(const BinaryArgs& args) noexcept { return BroadcastPartition(args.broadcast).tasks(); }

/// The tile in pieces that stay in the first-level cache between the operation and the activation.
void run_activated(TileFunction operation, Tile t, const ActivationArgs& activation) {
  constexpr int64_t kPiece = 2048;
  const float *a = static_cast<const float*>(t.a), *b = static_cast<const float*>(t.b);
  float* y = static_cast<float*>(t.y);
  const int64_t rows = t.rows, columns = t.columns;
  for (int64_t r = 0; r < rows; ++r) {
    for (int64_t i = 0; i < columns; i += kPiece) {
      t.rows = 1, t.columns = smaller(kPiece, columns - i);
      t.a = a + r * t.a_row + (t.a_column ? i : 0);
      t.b = b + r * t.b_row + (t.b_column ? i : 0);
      float* out = y + r * t.y_row + i;
      t.y = out;
      operation(t);
      activate(activation, out, t.columns);
    }
  }
}

template <class T>
void repeat_first(void* y, int64_t rows, int64_t columns, int64_t stride) {
  T* row = static_cast<T*>(y);
  for (int64_t r = 0; r < rows; ++r, row += stride) {
    const T value = *row;
    for (int64_t i = 1; i < columns; ++i) row[i] = value;
  }
}

/// Every row becomes copies of its first element.
void repeat_first(void* y, int64_t bytes, int64_t rows, int64_t columns, int64_t stride) {
  switch (bytes) {
    case 1: return repeat_first<uint8_t>(y, rows, columns, stride);
    case 2: return repeat_first<uint16_t>(y, rows, columns, stride);
    case 4: return repeat_first<uint32_t>(y, rows, columns, stride);
    default: return repeat_first<uint64_t>(y, rows, columns, stride);
  }
}

void binary_run(const BinaryArgs& args, int64_t begin, int64_t end, void*) noexcept {
  const Broadcast& b = args.broadcast;
  const BroadcastPartition partition(b);
  const bool relu = args.activation.kind == Activation::kRelu && args.op == BinaryOp::kAdd;
  const bool apart = args.activation.kind != Activation::kNone && !relu;
  const TileFunction operation = relu ? find_binary_f32(args.op, true) : find_binary(args.op, args.type);
  const int64_t in_bytes = element_bytes(args.type), out_bytes = gives_bool(args.op) ? 1 : in_bytes;
  for_each_tile(b, partition, begin, end, [&](const int64_t* offset, int64_t out, int64_t rows, int64_t columns) {
    Tile t{static_cast<const char*>(args.a) + offset[0] * in_bytes,
           static_cast<const char*>(args.b) + offset[1] * in_bytes,
           static_cast<char*>(args.y) + out * out_bytes,
           rows,
           columns,
           row_stride(b, 0),
           row_stride(b, 1),
           partition.columns,
           b.stride[0][b.rank - 1] != 0,
           b.stride[1][b.rank - 1] != 0};
    // Where neither operand has columns of its own, a row is one result: the tile's contract.
    const bool one_a_row = !t.a_column && !t.b_column;
    if (one_a_row) t.columns = 1;
    if (apart) {
      run_activated(operation, t, args.activation);
    } else {
      operation(t);
    }
    if (one_a_row) repeat_first(t.y, out_bytes, rows, columns, partition.columns);
  });
}

}  // namespace
}  // namespace svengine::kernels::SVENGINE_KERNEL_SET::elementwise

namespace svengine::kernels::SVENGINE_KERNEL_SET {

using namespace elementwise;
extern const ElementwiseKernels elementwise_kernels;
const ElementwiseKernels elementwise_kernels{has_unary,
                                             {unary_tasks, no_scratch, checked<UnaryArgs, unary_run>()},
                                             has_binary,
                                             {binary_tasks, no_scratch, checked<BinaryArgs, binary_run>()},
                                             {where_tasks, no_scratch, checked<WhereArgs, where_run>()},
                                             {cast_tasks, no_scratch, checked<CastArgs, cast_run>()},
                                             {range_tasks, no_scratch, range_run},
                                             {uniform_tasks, no_scratch, uniform_run}};

}  // namespace svengine::kernels::SVENGINE_KERNEL_SET
