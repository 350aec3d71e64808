#include "engine/ops/quantized/integer_product_common.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <limits>

#include "engine/ops/broadcast.h"
#include "engine/ops/element.h"
#include "engine/ops/infer_util.h"
#include "engine/ops/nn/product_common.h"

namespace svengine::ops {
namespace {

using kernels::QuantizedEpilogue;
using kernels::QuantizedGemmArgs;
using kernels::QuantizedOutput;
using kernels::QuantizedPackArgs;

float scale_at(const Numbers& numbers, const void* data, int64_t i) {
  return numbers.count == 0 ? 1.0f : static_cast<float>(number_at(numbers.type, data, numbers.count == 1 ? 0 : i));
}

/// scale[i] for i < count, and row_scale[i] for i < row_count, from the three inputs' numbers.
void combine_scales(const Numbers (&in)[3], const void* const (&data)[3], OutputScales sizes, float* scale, float* row_scale) {
  for (int64_t i = 0; i < sizes.row_count; ++i) row_scale[i] = scale_at(in[0], data[0], i);
  for (int64_t i = 0; i < sizes.count; ++i) {
    const float a = sizes.row_count ? 1.0f : scale_at(in[0], data[0], 0);
    scale[i] = a * scale_at(in[1], data[1], i);
    if (in[2].input != kNoInput) scale[i] /= scale_at(in[2], data[2], 0);
  }
}

int64_t at_matrix(const Dims& batch, const std::vector<int64_t>& steps, int64_t index) {
  int64_t matrix = 0;
  for (size_t i = batch.size(); i-- > 0; index /= batch[i]) matrix += index % batch[i] * steps[i];
  return matrix;
}

/// Where the numbers of a matrix begin: all share one, or the same row of them, or have their own.
int64_t start_of(int64_t count, int64_t each, int64_t matrix) { return count > each ? matrix * each : 0; }

const std::byte* zeros_at(const Run& run, const Numbers& zero, int64_t each, int64_t matrix) {
  const std::byte* all = run.get<const std::byte>(zero.buffer);
  return all ? all + start_of(zero.count, each, matrix) : nullptr;
}

int64_t matrices_of(const Dims& batch, const std::vector<int64_t>& steps) {
  int64_t last = 0;
  for (size_t i = 0; i < batch.size(); ++i) last += std::max<int64_t>(batch[i] - 1, 0) * steps[i];
  return last + 1;
}

/// One B for all of a dense batch of A: the batch is more rows.
void batch_to_rows(IntegerProduct& p) {
  const int64_t count = element_count(p.batch);
  if (p.batch.empty() || matrices_of(p.batch, p.b_matrix) != 1 || matrices_of(p.batch, p.a_matrix) != count) return;
  const auto per_row = [&](int64_t n) { return n <= 1 || n == p.m * count; };
  if (!per_row(p.a_zero.count) || !per_row(p.epilogue.scales.row_count)) return;
  p.m *= count;
  p.batch.clear(), p.a_matrix.clear(), p.b_matrix.clear();
}

struct PackedMatrices {
  Buffer buffer;
  int64_t bytes;  // of one
};

PackedMatrices pack_matrices(LowerContext& c, const IntegerProduct& p) {
  const kernels::QuantizedKernels* kernels = c.kernels().quantized;
  QuantizedPackArgs args;
  args.ld = p.column_major ? p.k : p.n, args.column_major = p.column_major, args.k = p.k, args.n = p.n;
  args.is_signed = c.in_type(p.b_input).dtype == DType::i8, args.zero_step = p.b_zero.count > 1;
  const int64_t count = matrices_of(p.batch, p.b_matrix), bytes = kernels->packed_bytes(p.k, p.n), each = kernels->pack_tasks(args);
  const auto pack = [=, n = p.n, zeros = p.b_zero.count](const std::byte* source, const std::byte* zero, std::byte* packed, int64_t begin,
                                                         int64_t end) {
    for (int64_t t = begin; t < end;) {
      const int64_t matrix = t / each, first = t % each, last = std::min(each, first + end - t);
      QuantizedPackArgs one = args;
      one.source = source + matrix * args.k * args.n;
      one.zero = zero ? zero + start_of(zeros, n, matrix) : nullptr;
      one.packed = packed + matrix * bytes;
      kernels->pack(one, first, last);
      t += last - first;
    }
  };
  const Tensor* zero = p.b_zero.input == kNoInput ? nullptr : c.constant(static_cast<size_t>(p.b_zero.input));
  if (c.constant(p.b_input) && (p.b_zero.input == kNoInput || zero)) {
    Packing packing{
        .layout = fmt::format("quantized {}x{}x{} c{} s{} {}", count, p.k, p.n, p.column_major, args.is_signed, name_zeros(zero)),
        .bytes = bytes * count,
        .tasks = each * count};
    packing.fill = [=, kept = zero ? *zero : Tensor()](const std::byte* from, std::byte* to, int64_t begin, int64_t end) {
      pack(from, kept.defined() ? kept.raw() : nullptr, to, begin, end);
    };
    return {c.packed(p.b_input, std::move(packing)), bytes};
  }
  const Buffer packed = c.temporary(bytes * count), source = c.in(p.b_input), zeros = p.b_zero.buffer;
  c.emit("pack_quantized", each * count, [=](const Run& run, int64_t begin, int64_t end) -> const char* {
    pack(run.get<const std::byte>(source), run.get<const std::byte>(zeros), run.get<std::byte>(packed), begin, end);
    return nullptr;
  });
  return {packed, bytes};
}

}  // namespace

Numbers numbers_of(LowerContext& c, int input) {
  const auto i = static_cast<size_t>(input);
  if (input == kNoInput || !c.has_input(i)) return {};
  return {input, c.in(i), c.in_type(i).dtype, element_count(c.in_dims(i))};
}

OutputScales output_scales(LowerContext& c, int a, int b, int y) {
  const Numbers in[3] = {numbers_of(c, a), numbers_of(c, b), numbers_of(c, y)};
  OutputScales out;
  out.count = std::max<int64_t>(in[1].count, 1);
  out.row_count = in[0].count > 1 ? in[0].count : 0;
  const Tensor* known[3];
  bool all_known = true;
  for (size_t i = 0; i < 3; ++i) {
    known[i] = in[i].input == kNoInput ? nullptr : c.constant(static_cast<size_t>(in[i].input));
    all_known = all_known && (known[i] ? known[i]->is_aligned() : in[i].input == kNoInput);
  }
  if (all_known) {
    std::vector<float> scale(static_cast<size_t>(out.count)), row_scale(static_cast<size_t>(out.row_count));
    const void* const data[3] = {known[0] ? known[0]->raw() : nullptr, known[1] ? known[1]->raw() : nullptr,
                                 known[2] ? known[2]->raw() : nullptr};
    combine_scales(in, data, out, scale.data(), row_scale.data());
    out.scale = c.table(std::as_bytes(std::span<const float>(scale)));
    if (out.row_count) out.row_scale = c.table(std::as_bytes(std::span<const float>(row_scale)));
    return out;
  }
  out.scale = c.temporary(out.count * 4);
  if (out.row_count) out.row_scale = c.temporary(out.row_count * 4);
  c.emit("quantized_scales", 1, [=, first = in[0], second = in[1], third = in[2]](const Run& run, int64_t, int64_t) -> const char* {
    const Numbers all[3] = {first, second, third};
    const void* const data[3] = {run.get<const void>(first.buffer), run.get<const void>(second.buffer), run.get<const void>(third.buffer)};
    combine_scales(all, data, out, run.get<float>(out.scale), run.get<float>(out.row_scale));
    return nullptr;
  });
  return out;
}

QuantizedEpilogue kernel_epilogue(const IntegerEpilogue& e) {
  QuantizedEpilogue k;
  k.output = e.type == DType::i32   ? QuantizedOutput::kInt32
             : e.type == DType::f32 ? QuantizedOutput::kFloat32
             : e.type == DType::u8  ? QuantizedOutput::kUint8
                                    : QuantizedOutput::kInt8;
  k.scale_step = e.scales.count > 1;
  k.bias_ld = e.bias_ld;
  const float infinite = std::numeric_limits<float>::infinity();
  k.low = e.low.value_or(e.type == DType::u8 ? 0.0f : e.type == DType::i8 ? -128.0f : -infinite);
  k.high = e.high.value_or(e.type == DType::u8 ? 255.0f : e.type == DType::i8 ? 127.0f : infinite);
  return k;
}

void bind_epilogue(const Run& run, const IntegerEpilogue& e, int64_t m, int64_t row_matrix, int64_t n, int64_t column_matrix,
                   QuantizedEpilogue& bound) {
  bound.bias = run.get<const int32_t>(e.bias);
  bound.scale = run.get<const float>(e.scales.scale);
  if (bound.scale) bound.scale += start_of(e.scales.count, n, column_matrix);
  bound.row_scale = run.get<const float>(e.scales.row_scale);
  if (bound.row_scale) bound.row_scale += start_of(e.scales.row_count, m, row_matrix);
  bound.shift = run.get<const float>(e.shift);
  if (e.zero.input != kNoInput) bound.zero = static_cast<int32_t>(number_at(e.zero.type, run.get<const void>(e.zero.buffer), 0));
}

IntegerProduct integer_matmul_of(LowerContext& c, size_t a_input, size_t b_input) {
  Dims a = c.in_dims(a_input), b = c.in_dims(b_input);
  if (a.size() == 1) a.insert(a.begin(), 1);
  if (b.size() == 1) b.push_back(1);
  IntegerProduct p;
  p.m = a[a.size() - 2], p.k = a.back(), p.n = b.back();
  const Dims batch_a(a.begin(), a.end() - 2), batch_b(b.begin(), b.end() - 2);
  p.batch = *broadcast(Shape::of(batch_a), Shape::of(batch_b))->concrete();
  p.a_matrix = broadcast_strides(batch_a, p.batch);
  p.b_matrix = broadcast_strides(batch_b, p.batch);
  p.a = c.in(a_input), p.a_type = c.in_type(a_input).dtype;
  p.b_input = b_input;
  p.c = c.out();
  return p;
}

void emit_integer_product(LowerContext& c, IntegerProduct p) {
  if (p.m == 0 || p.n == 0 || element_count(p.batch) == 0) return;
  batch_to_rows(p);
  const PackedMatrices b = pack_matrices(c, p);
  const kernels::QuantizedKernels* kernels = c.kernels().quantized;
  QuantizedGemmArgs args;
  args.m = p.m, args.n = p.n, args.k = p.k, args.lda = p.k, args.ldc = p.n;
  args.a_signed = p.a_type == DType::i8, args.a_zero_step = p.a_zero.count > 1;
  args.epilogue = kernel_epilogue(p.epilogue);
  const int64_t each = kernels->gemm.tasks(args), bytes = static_cast<int64_t>(size_of(p.epilogue.type));
  c.emit(
      fmt::format("gemm_{}", name_of(p.a_type)), each * element_count(p.batch),
      [=, run_kernel = kernels->gemm.run](const Run& run, int64_t begin, int64_t end) -> const char* {
        for (int64_t t = begin; t < end;) {
          const int64_t index = t / each, first = t % each, last = std::min(each, first + end - t);
          const int64_t a_matrix = at_matrix(p.batch, p.a_matrix, index), b_matrix = at_matrix(p.batch, p.b_matrix, index);
          QuantizedGemmArgs one = args;
          one.a = run.get<const std::byte>(p.a) + a_matrix * p.m * p.k;
          one.a_zero = zeros_at(run, p.a_zero, p.m, a_matrix);
          one.b = run.get<const std::byte>(b.buffer) + b_matrix * b.bytes;
          one.c = run.get<std::byte>(p.c) + index * p.m * p.n * bytes;
          bind_epilogue(run, p.epilogue, p.m, a_matrix, p.n, b_matrix, one.epilogue);
          run_kernel(one, first, last, run.scratch<void>());
          t += last - first;
        }
        return nullptr;
      },
      kernels->gemm.scratch_bytes(args));
}

std::string name_zeros(const Tensor* zero) {
  if (!zero) return "zero 0";
  const auto* bytes = reinterpret_cast<const uint8_t*>(zero->raw());
  const std::span<const uint8_t> all(bytes, static_cast<size_t>(zero->count()));
  if (std::all_of(all.begin(), all.end(), [&](uint8_t z) { return z == all[0]; })) return fmt::format("zero {}", all.empty() ? 0 : all[0]);
  return fmt::format("zeros {}", fmt::join(all, " "));
}

Status require_bytes(const InferContext& c, size_t input) {
  return require_dtype(c, input, {DType::u8, DType::i8});
}

std::vector<TypeParameter> quantized_types(InputSet values, InputSet scales) {
  return {{"T", kBytes, values}, {"scale", {DType::f32}, scales}};
}

Status require_zero_of(const InferContext& c, size_t zero, size_t of) {
  if (!c.has_input(zero)) return {};
  if (c.dtype(zero) != c.dtype(of))
    return error("{} is of type {}, needs {}, the type of {}", c.described(zero), name_of(c.dtype(zero)), name_of(c.dtype(of)), c.described(of));
  return {};
}

Status require_scale(const InferContext& c, size_t scale) {
  return require_dtype(c, scale, {DType::f32, DType::f16, DType::bf16});
}

}  // namespace svengine::ops
