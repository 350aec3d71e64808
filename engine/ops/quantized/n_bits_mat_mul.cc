// The engine's MatMulNBits: A times weights that stay 2, 4 or 8 bits, with a scale and perhaps a zero point for every block of a column.
#include <algorithm>

#include "engine/graph/gradient.h"
#include "engine/kernels/gemm.h"
#include "engine/kernels/quantized.h"
#include "engine/ops/infer_util.h"
#include "engine/ops/nn/product_common.h"
#include "engine/ops/quantized/n_bits_common.h"
#include "engine/ops/quantized/quantized_samples.h"

namespace svengine::ops {
namespace {

constexpr size_t kProductBias = 4;

/// Rows that are multiplied by weights in registers: 16 of 4096 x 4096 take as long as 17 that have B unpacked, 64 of integers in blocks of 32
/// five sixths of it, in blocks of 128 two thirds (a Sapphire Rapids, `bench/node_models.py`'s bits_*).
constexpr int64_t kFewRows = 16, kFewRoundedRows = 64;
/// Of a piece of B that is unpacked for many rows: it is read again from the second-level cache.
constexpr int64_t kPieceDepth = 1024, kPieceColumns = 64;

Status require_elements(const InferContext& c, size_t input, int64_t wanted, const char* what) {
  const std::optional<Dims> dims = c.shape(input).concrete();
  if (!dims || element_count(*dims) == wanted) return {};
  return error("{} has {} elements, needs {}", what, element_count(*dims), wanted);
}

Status infer_n_bits_mat_mul(InferContext& c) {
  SV_ASSIGN(const BitLayout l, bit_layout(c.attributes()));
  SV_TRY(require_dtype(c, kBits, "B", {DType::u8}));
  SV_TRY(require_elements(c, kBits, l.n * l.row_bytes(), "B"));
  SV_TRY(require_elements(c, kBitScales, l.n * l.blocks, "scales"));
  if (c.has_input(kBitZeros)) {
    const bool packed = c.dtype(kBitZeros) == DType::u8;
    SV_TRY(require_elements(c, kBitZeros, l.n * (packed ? l.zero_row_bytes() : l.blocks), "zero_points"));
  }
  for (const size_t i : {kBitScales, kBitZeros, kProductBias})
    if (c.has_input(i) && c.dtype(i) != c.dtype(0) && (i != kBitZeros || c.dtype(i) != DType::u8))
      return error("input {} is of type {}, needs {} as A", i, name_of(c.dtype(i)), name_of(c.dtype(0)));
  if (c.has_input(kProductBias)) SV_TRY(require_elements(c, kProductBias, l.n, "bias"));
  const Shape& a = c.shape(0);
  if (!a.has_rank()) return c.set(0, c.dtype(0), Shape()), Status{};
  SV_TRY(require_rank_at_least(c, 0, "A", 1));
  std::vector<Dim> out = a.dims();
  if (out.back().is_static() && out.back().value() != l.k) return error("A {} has rows of {}, K is {}", to_string(a), out.back().value(), l.k);
  out.back() = Dim(l.n);
  c.set(0, c.dtype(0), Shape(std::move(out)));
  return {};
}

/// A's rows as integers, where they are wanted.
struct RoundedRows {
  Buffer numbers, scales, sums, rounded;
  kernels::NBitsRounded at(const Run& run) const {
    return {run.get<const int8_t>(numbers), run.get<const float>(scales), run.get<const int32_t>(sums), run.get<const int32_t>(rounded)};
  }
};

RoundedRows round_rows(LowerContext& c, const PackedBits& b, int64_t m) {
  kernels::NBitsRoundArgs args;
  args.m = m, args.k = args.lda = b.shape.k, args.block = b.shape.block;
  const int64_t groups = kernels::n_bits_groups(args.k, args.block);
  const RoundedRows rows{c.temporary(m * kernels::n_bits_number_bytes(args.k)), c.temporary(m * groups * 4), c.temporary(m * groups * 4),
                         c.temporary(m * 4)};
  const kernels::TaskKernel<kernels::NBitsRoundArgs>& kernel = c.kernels().quantized->n_bits.round;
  c.emit("n_bits_round", kernel.tasks(args), [=, run_kernel = kernel.run, a = c.in(0)](const Run& run, int64_t begin, int64_t end) -> const char* {
    kernels::NBitsRoundArgs one = args;
    one.a = run.get<const float>(a), one.numbers = run.get<int8_t>(rows.numbers), one.scales = run.get<float>(rows.scales);
    one.sums = run.get<int32_t>(rows.sums), one.rounded = run.get<int32_t>(rows.rounded);
    run_kernel(one, begin, end, nullptr);
    return nullptr;
  });
  return rows;
}

/// Few rows: levels become weights in registers.
void emit_rows(LowerContext& c, const PackedBits& b, int64_t m, Buffer bias, bool rounds) {
  kernels::NBitsRowsArgs args;
  args.m = m, args.b = b.shape, args.lda = b.shape.k, args.ldc = b.shape.n;
  const RoundedRows rounded = rounds ? round_rows(c, b, m) : RoundedRows{};
  const kernels::TaskKernel<kernels::NBitsRowsArgs>& kernel = c.kernels().quantized->n_bits.rows;
  c.emit("n_bits_rows", kernel.tasks(args),
         [=, run_kernel = kernel.run, a = c.in(0), out = c.out()](const Run& run, int64_t begin, int64_t end) -> const char* {
           kernels::NBitsRowsArgs one = args;
           one.b = b.at(run), one.a = run.get<const float>(a), one.c = run.get<float>(out), one.bias = run.get<const float>(bias);
           one.rounded = rounded.at(run);
           run_kernel(one, begin, end, run.scratch<void>());
           return nullptr;
         },
         kernel.scratch_bytes(args));
}

/// A in pieces of the depth, each packed for the product of floats.
struct PiecesOfA {
  Buffer buffer;
  int64_t bytes;  // from piece to piece
};

PiecesOfA pack_pieces(LowerContext& c, int64_t m, int64_t k) {
  const kernels::GemmKernels* gemm = c.kernels().gemm;
  kernels::GemmPackArgs args;
  args.ld = k, args.extent = m, args.depth = std::min(k, kPieceDepth);
  kernels::GemmPackArgs last = args;
  const int64_t pieces = ceil_div(k, kPieceDepth), each = gemm->pack_a_tasks(args), bytes = gemm->packed_a_bytes(m, args.depth);
  last.depth = k - (pieces - 1) * kPieceDepth;
  const Buffer packed = c.temporary(pieces * bytes);
  c.emit("pack_a", (pieces - 1) * each + gemm->pack_a_tasks(last),
         [=, a = c.in(0)](const Run& run, int64_t begin, int64_t end) -> const char* {
           for (int64_t t = begin; t < end;) {
             const int64_t piece = t / each, first = t % each, until = std::min(each, first + end - t);
             kernels::GemmPackArgs one = piece + 1 < pieces ? args : last;
             one.source = run.get<const float>(a) + piece * kPieceDepth;
             one.packed = reinterpret_cast<float*>(run.get<std::byte>(packed) + piece * bytes);
             gemm->pack_a(one, first, until);
             t += until - first;
           }
           return nullptr;
         });
  return {packed, bytes};
}

/// Where a thread has a piece of B: as the product of floats reads it, and by rows where panels are no whole vectors of weights.
struct PieceScratch {
  int64_t panels, rows, product;  // bytes
};

PieceScratch piece_scratch(const kernels::GemmKernels& gemm, const kernels::GemmArgs& piece) {
  const bool direct = gemm.panel_columns % kernels::kNBitsColumns == 0;
  return {gemm.packed_b_bytes(piece.k, piece.n), direct ? 0 : piece.k * kPieceColumns * 4, gemm.gemm_scratch_bytes(piece)};
}

/// A piece of B becomes panels.
void unpack_piece(const kernels::NBitsKernels& bits, const kernels::GemmKernels& gemm, kernels::NBitsUnpackArgs piece, const PieceScratch& sizes,
                  std::byte* scratch) {
  float* const panels = reinterpret_cast<float*>(scratch);
  const int64_t depth = piece.depth_end - piece.depth_begin, columns = piece.columns;
  if (sizes.rows == 0) {
    piece.ld = piece.columns = gemm.panel_columns;
    for (int64_t column = 0; column < columns; column += gemm.panel_columns, piece.column_begin += gemm.panel_columns) {
      piece.target = panels + column * depth;
      bits.unpack(piece);
    }
    return;
  }
  float* const rows = reinterpret_cast<float*>(scratch + sizes.panels);
  piece.target = rows, piece.ld = kPieceColumns;
  piece.columns = ceil_div(columns, kernels::kNBitsColumns) * kernels::kNBitsColumns;
  bits.unpack(piece);
  kernels::GemmPackArgs pack;
  pack.source = rows, pack.ld = kPieceColumns, pack.depth_major = true, pack.extent = columns, pack.depth = depth, pack.packed = panels;
  gemm.pack_b(pack, 0, gemm.pack_b_tasks(pack));
}

/// Many rows: a task is a strip of columns, of which piece after piece of the depth is unpacked and multiplied by all rows.
void emit_strips(LowerContext& c, const PackedBits& b, int64_t m, Buffer bias) {
  const kernels::GemmKernels* gemm = c.kernels().gemm;
  const kernels::NBitsKernels* bits = &c.kernels().quantized->n_bits;
  const int64_t k = b.shape.k, n = b.shape.n;
  const PiecesOfA a = pack_pieces(c, m, k);
  kernels::GemmArgs most;
  most.m = m, most.n = std::min(n, kPieceColumns), most.k = std::min(k, kPieceDepth), most.ldc = most.ld_residual = n;
  const PieceScratch sizes = piece_scratch(*gemm, most);
  c.emit("n_bits_gemm", ceil_div(n, kPieceColumns),
         [=, out = c.out()](const Run& run, int64_t begin, int64_t end) -> const char* {
           for (int64_t strip = begin; strip < end; ++strip)
             for (int64_t d = 0; d < k; d += kPieceDepth) {
               const int64_t column = strip * kPieceColumns, depth = std::min(kPieceDepth, k - d);
               kernels::GemmArgs piece = most;
               piece.n = std::min(kPieceColumns, n - column), piece.k = depth;
               unpack_piece(*bits, *gemm, {b.at(run), d, d + depth, column, piece.n}, sizes, run.scratch<std::byte>());
               piece.a = reinterpret_cast<const float*>(run.get<const std::byte>(a.buffer) + d / kPieceDepth * a.bytes);
               piece.b = run.scratch<float>();
               piece.c = run.get<float>(out) + column;
               if (d > 0) piece.residual = piece.c;
               if (d == 0 && bias) piece.bias_kind = kernels::GemmBias::kColumn, piece.bias = run.get<const float>(bias) + column;
               gemm->gemm(piece, 0, gemm->gemm_tasks(piece), run.scratch<std::byte>() + sizes.panels + sizes.rows);
             }
           return nullptr;
         },
         sizes.panels + sizes.rows + sizes.product);
}

/// The file is content with an A of float16 (2), bfloat16 (3) or 8-bit integers with a scale for each block (4): one of 16-bit integers with
/// such scales is more exact than any of these.
bool rounds_a(LowerContext& c, const BitLayout& l) {
  const bool whole_zeros = !c.has_input(kBitZeros) || c.in_type(kBitZeros).dtype == DType::u8;
  return c.attributes().get_int("accuracy_level") >= 2 && l.bits == 4 && whole_zeros;
}

Status lower_n_bits_mat_mul(LowerContext& c) {
  SV_ASSIGN(const BitLayout l, bit_layout(c.attributes()));
  for (const size_t i : {kBits, kBitScales, kBitZeros})
    if (c.has_input(i) && !c.constant(i)) return error("input {} of MatMulNBits needs to be a constant", i);
  const int64_t m = element_count(c.in_dims(0)) / l.k;
  if (m == 0) return {};
  const PackedBits b = pack_bits(c, l);
  const Buffer bias = c.has_input(kProductBias) ? c.in(kProductBias) : Buffer{};
  if (m <= (rounds_a(c, l) ? kFewRoundedRows : kFewRows)) emit_rows(c, b, m, bias, rounds_a(c, l));
  else emit_strips(c, b, m, bias);
  return {};
}

/// dA = dY W', dbias = the rows of dY summed.
Status n_bits_gradient(GradientContext& c) {
  const Node& node = c.node();
  SV_ASSIGN(const BitLayout l, bit_layout(node.attributes));
  if (c.wants(0)) {
    for (const size_t i : {kBits, kBitScales, kBitZeros})
      if (node.input(i) && !node.input(i)->is_constant()) return error("input {} of MatMulNBits needs to be a constant", i);
    SV_ASSIGN(Tensor weights, dequantized_weights(node, l, {}));
    Value* w = c.builder().constant(std::move(weights), "weights");
    c.set(0, c.op("MatMul", {c.dy(), c.op("Transpose", {w}, make_attributes({{"perm", std::vector<int64_t>{1, 0}}}))}));
  }
  if (c.wants(kProductBias)) c.set(kProductBias, c.sum_to(c.dy(), c.input(kProductBias)));
  return {};
}

/// Scales or zero points of a sample, of eleven sizes from `low` on.
Tensor bit_factors(Dims dims, float low) {
  MutableTensor tensor = *Tensor::allocate(DType::f32, std::move(dims));
  for (int64_t i = 0; i < tensor.count(); ++i) tensor.data<float>()[static_cast<size_t>(i)] = low * (1 + static_cast<float>(i * 7 % 11));
  return tensor;
}

std::vector<std::pair<std::string, Attribute>> bit_attributes(int64_t k, int64_t n, int64_t bits, int64_t block, int64_t level = 0) {
  return {{"K", integer(k)}, {"N", integer(n)}, {"bits", integer(bits)}, {"block_size", integer(block)}, {"accuracy_level", integer(level)}};
}

}  // namespace

OpDef define_n_bits_mat_mul() {
  return {
      .name = "NBitsMatMul",
      .domain = kInternalDomain,
      .inputs = {3, 5},
      .attributes = {{"K", AttributeKind::kInt, true},
                     {"N", AttributeKind::kInt, true},
                     {"bits", AttributeKind::kInt, false, int64_t{4}},
                     {"block_size", AttributeKind::kInt, true},
                     {"accuracy_level", AttributeKind::kInt, false, int64_t{0}}},
      .infer = infer_n_bits_mat_mul,
      .lower = lower_n_bits_mat_mul,
      .types = {{"T1", {DType::f32, DType::f16, DType::bf16}, {0}}, {"T2", {DType::u8}, {1}}},
      .kernel_types = {DType::f32, DType::u8},
      .cost = matmul_cost,
      .gradient = n_bits_gradient,
      .tolerance = {.rtol = 1e-5, .atol = 1e-5},
      .samples = {{.inputs = {f32({3, 40}), fixed(bytes<uint8_t>({5, 2, 16})), fixed(bit_factors({10}, 0.02f))},
                   .attributes = bit_attributes(40, 5, 4, 32)},
                  {.inputs = {f32({2, 2, 37}), fixed(bytes<uint8_t>({19, 3, 8})), fixed(bit_factors({19, 3}, 0.02f)),
                              fixed(bytes<uint8_t>({19, 2})), f32({19})},
                   .attributes = bit_attributes(37, 19, 4, 16)},
                  {.inputs = {f32({21}), fixed(bytes<uint8_t>({33, 2, 4})), fixed(bit_factors({33, 2}, 0.02f)),
                              fixed(bit_factors({33, 2}, 0.3f))},
                   .attributes = bit_attributes(21, 33, 2, 16)},
                  {.inputs = {f32({17, 35}), fixed(bytes<uint8_t>({7, 3, 16})), fixed(bit_factors({7, 3}, 0.001f)),
                              fixed(bytes<uint8_t>({7, 3})), f32({7})},
                   .attributes = bit_attributes(35, 7, 8, 16)},
                  {.inputs = {f32({18, 1050}), fixed(bytes<uint8_t>({67, 5, 128})), fixed(bit_factors({67, 5}, 0.001f)),
                              fixed(bytes<uint8_t>({67, 3})), f32({67})},
                   .attributes = bit_attributes(1050, 67, 4, 256)},
                  {.inputs = {f32({5, 300}), fixed(bytes<uint8_t>({19, 2, 128})), fixed(bit_factors({19, 2}, 0.0001f)),
                              fixed(bytes<uint8_t>({19, 1})), f32({19})},
                   .attributes = bit_attributes(300, 19, 4, 256, 4)},
                  {.inputs = {f32({1, 75}), fixed(bytes<uint8_t>({19, 3, 16})), fixed(bit_factors({19, 3}, 0.0001f))},
                   .attributes = bit_attributes(75, 19, 4, 32, 4)}},
  };
}

}  // namespace svengine::ops
