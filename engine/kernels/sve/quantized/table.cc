// Functions of a byte, looked up: a task is a piece of the elements.
#include "engine/kernels/sve/quantized/element.h"
#include "engine/kernels/sve/quantized/shape.h"

#include <byte_table.h>  // engine/kernels/host or engine/kernels/native

namespace svengine::kernels::SVENGINE_KERNEL_SET {

namespace {

constexpr int64_t kPiece = 32768;  // elements of a task
constexpr int kTogether = 16 / sve_bytes::kTableParts;  // vectors, where a lookup is few instructions that wait for each other

}  // namespace

int64_t byte_table_tasks(const ByteTableArgs& args) noexcept { return quant_ceil_div(args.count, kPiece); }

void byte_table_run(const ByteTableArgs& args, int64_t task_begin, int64_t task_end, void*) noexcept {
  const int64_t end = quant_smaller(task_end * kPiece, args.count);
  const uint8_t *x = args.x, *few = args.table;
  uint8_t* y = args.y;
  vbyte table[sve_bytes::kTableParts];
  sve_bytes::load_table(few, table);
  const auto all = svptrue_b8();
  int64_t i = task_begin * kPiece;
  for (; i + kTogether * kVectorBytes <= end; i += kTogether * kVectorBytes) {
    vbyte v[kTogether];
    SVENGINE_UNROLL
    for (int u = 0; u < kTogether; ++u) v[u] = sve_bytes::from_table(table, vbyte(svld1(all, x + i + u * kVectorBytes)));
    SVENGINE_UNROLL
    for (int u = 0; u < kTogether; ++u) svst1(all, y + i + u * kVectorBytes, v[u]);
  }
  for (; i + kVectorBytes <= end; i += kVectorBytes) svst1(all, y + i, sve_bytes::from_table(table, vbyte(svld1(all, x + i))));
  for (; i < end; ++i) y[i] = few[x[i]];
}

}  // namespace svengine::kernels::SVENGINE_KERNEL_SET
