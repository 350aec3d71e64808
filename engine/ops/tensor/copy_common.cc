#include "engine/ops/tensor/copy_common.h"

#include <algorithm>
#include <cstring>

#include "engine/base/round.h"
#include "engine/kernels/data.h"
#include "engine/kernels/data_prepare.h"

namespace svengine::ops {
namespace {

constexpr int64_t kBytesPerTask = int64_t{1} << 16;

/// One call of the copy kernel for every index of the leading dimensions, which are those beyond the kernel's.
struct Piece {
  Buffer in, out;
  kernels::CopyArgs args;
  Dims leading;
  std::vector<int64_t> in_strides, out_strides;  // of the leading dimensions, in bytes
  int64_t tasks_each = 0, tasks = 0;
};

/// Dimensions of 1 go, and neighbours that both sides walk evenly become one.
CopyView merged(const CopyView& view) {
  CopyView out{.dims = {}, .in_strides = {}, .out_strides = {}, .in_offset = view.in_offset, .out_offset = view.out_offset};
  for (size_t i = 0; i < view.dims.size(); ++i) {
    if (view.dims[i] == 1) continue;
    const int64_t in = view.in_strides[i], o = view.out_strides[i], n = view.dims[i];
    if (!out.dims.empty() && out.in_strides.back() == in * n && out.out_strides.back() == o * n) {
      out.dims.back() *= n;
      out.in_strides.back() = in;
      out.out_strides.back() = o;
      continue;
    }
    out.dims.push_back(n);
    out.in_strides.push_back(in);
    out.out_strides.push_back(o);
  }
  return out;
}

Piece piece_of(const Copy& copy, size_t element, const kernels::DataKernels& data) {
  const CopyView view = merged(copy.view);
  const auto bytes = static_cast<int64_t>(element);
  Piece piece;
  piece.in = copy.in;
  piece.out = copy.out;
  piece.in.offset += view.in_offset * bytes;
  piece.out.offset += view.out_offset * bytes;
  const size_t extra = view.dims.size() > kernels::kMaxDims ? view.dims.size() - kernels::kMaxDims : 0;
  for (size_t i = 0; i < extra; ++i) {
    piece.leading.push_back(view.dims[i]);
    piece.in_strides.push_back(view.in_strides[i] * bytes);
    piece.out_strides.push_back(view.out_strides[i] * bytes);
  }
  kernels::CopyArgs args;
  args.element_bytes = static_cast<int32_t>(element);
  args.rank = static_cast<int32_t>(view.dims.size() - extra);
  for (size_t i = extra; i < view.dims.size(); ++i) {
    args.extent[i - extra] = view.dims[i];
    args.src_stride[i - extra] = view.in_strides[i];
    args.dst_stride[i - extra] = view.out_strides[i];
  }
  piece.args = kernels::collapse_copy(args);
  piece.tasks_each = data.copy.tasks(piece.args);
  piece.tasks = piece.tasks_each * element_count(piece.leading);
  return piece;
}

/// Tasks [begin, end) of one piece.
void run_piece(const Piece& piece, const kernels::TaskKernel<kernels::CopyArgs>& kernel, const Run& run, int64_t begin, int64_t end) {
  kernels::CopyArgs args = piece.args;
  for (int64_t task = begin; task < end;) {
    int64_t index = task / piece.tasks_each;
    const int64_t first = task % piece.tasks_each, last = std::min(piece.tasks_each, first + end - task);
    int64_t in = 0, out = 0;
    for (size_t d = piece.leading.size(); d-- > 0; index /= piece.leading[d]) {
      in += index % piece.leading[d] * piece.in_strides[d];
      out += index % piece.leading[d] * piece.out_strides[d];
    }
    args.src = run.get<std::byte>(piece.in) + in;
    args.dst = run.get<std::byte>(piece.out) + out;
    kernel.run(args, first, last, run.scratch<void>());
    task += last - first;
  }
}

}  // namespace

CopyView flat_view(int64_t count) { return {.dims = {count}, .in_strides = {1}, .out_strides = {1}}; }

std::vector<int64_t> strides_of(const Dims& dims) {
  std::vector<int64_t> strides(dims.size());
  int64_t stride = 1;
  for (size_t i = dims.size(); i-- > 0; stride *= dims[i]) strides[i] = stride;
  return strides;
}

Dims stored_dims(const Type& type) {
  Dims dims = *type.shape.concrete();
  if (!type.block) return dims;
  dims[1] = ceil_div(dims[1], type.block);
  dims.push_back(type.block);
  return dims;
}

void emit_copies(LowerContext& c, const char* kernel, size_t element, std::vector<Copy> copies) {
  const auto& copy = c.kernels().data->copy;
  std::vector<Piece> pieces;
  int64_t tasks = 0, scratch = 0;
  for (const Copy& one : copies) {
    if (element_count(one.view.dims) == 0) continue;
    Piece piece = piece_of(one, element, *c.kernels().data);
    tasks += piece.tasks;
    scratch = std::max(scratch, copy.scratch_bytes(piece.args));
    pieces.push_back(std::move(piece));
  }
  c.emit(
      kernel, tasks,
      [pieces = std::move(pieces), &copy](const Run& run, int64_t begin, int64_t end) -> const char* {
        for (const Piece& piece : pieces) {
          if (end <= 0) break;
          if (begin < piece.tasks) run_piece(piece, copy, run, begin, std::min(end, piece.tasks));
          begin = std::max<int64_t>(0, begin - piece.tasks);
          end -= piece.tasks;
        }
        return nullptr;
      },
      scratch);
}

void emit_copy(LowerContext& c, const char* kernel, CopyView view) {
  std::vector<Copy> copies;
  copies.push_back({c.in(0), c.out(), std::move(view)});
  emit_copies(c, kernel, size_of(c.out_type().dtype), std::move(copies));
}

void emit_known(LowerContext& c, std::span<const std::byte> bytes, size_t output) {
  const auto total = static_cast<int64_t>(bytes.size());
  if (total == 0) return;
  c.emit("constant", ceil_div(total, kBytesPerTask),
         [total, from = c.table(bytes), to = c.out(output)](const Run& run, int64_t begin, int64_t end) -> const char* {
           const int64_t first = begin * kBytesPerTask, last = std::min(total, end * kBytesPerTask);
           std::memcpy(run.get<std::byte>(to) + first, run.get<std::byte>(from) + first, static_cast<size_t>(last - first));
           return nullptr;
         });
}

Cost movement_cost(const Node& node) {
  Cost cost;
  for (const Value* v : node.outputs())
    if (v) cost.bytes += 2 * stored_bytes(v->type);
  return cost;
}

}  // namespace svengine::ops
