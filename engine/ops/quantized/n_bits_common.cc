#include "engine/ops/quantized/n_bits_common.h"

#include <algorithm>
#include <array>
#include <cstring>

#include "engine/kernels/gemm.h"
#include "engine/kernels/quantized.h"
#include "engine/ops/element.h"

namespace svengine::ops {
namespace {

/// Rows that are multiplied by weights in registers: 16 of 4096 x 4096 take as long as 17 that have B unpacked, 64 of integers in blocks of 32
/// five sixths of it, in blocks of 128 two thirds (a Sapphire Rapids, `bench/node_models.py`'s bits_*).
constexpr int64_t kFewRows = 16, kFewRoundedRows = 64;
/// Of a piece of B that is unpacked for many rows: it is read again from the second-level cache.
constexpr int64_t kPieceDepth = 1024, kPieceColumns = 64;

/// Zero point of block `block` of column n.
double zero_of(const Value* zeros, const BitLayout& l, int64_t n, int64_t block) {
  if (!zeros) return static_cast<double>(int64_t{1} << (l.bits - 1));
  const std::byte* raw = zeros->constant().raw();
  if (zeros->type.dtype != DType::u8) return number_at(zeros->type.dtype, raw, n * l.blocks + block);
  return static_cast<double>(bits_at(raw + n * l.zero_row_bytes(), block, l.bits));
}

/// factors[panel][block][lane] of panels [begin, end) from number(column, block).
template <class T, class Number>
void fill_factors(const BitLayout& l, std::byte* packed, int64_t begin, int64_t end, const Number& number) {
  T* to = reinterpret_cast<T*>(packed) + begin * l.blocks * kernels::kNBitsColumns;
  for (int64_t panel = begin; panel < end; ++panel)
    for (int64_t block = 0; block < l.blocks; ++block)
      for (int64_t lane = 0; lane < kernels::kNBitsColumns; ++lane) {
        const int64_t column = panel * kernels::kNBitsColumns + lane;
        *to++ = column < l.n ? number(column, block) : T{};
      }
}

Buffer pack_floats(LowerContext& c, const BitLayout& l, size_t input) {
  Packing packing{.layout = fmt::format("n_bits factors {} {} {}", l.k, l.n, l.block),
                  .bytes = kernels::n_bits_factors(l.k, l.n, l.block) * 4,
                  .tasks = kernels::n_bits_panels(l.n)};
  packing.fill = [l](const std::byte* from, std::byte* to, int64_t begin, int64_t end) {
    const float* source = reinterpret_cast<const float*>(from);
    fill_factors<float>(l, to, begin, end, [&](int64_t column, int64_t block) { return source[column * l.blocks + block]; });
  };
  return c.packed(input, std::move(packing));
}

Buffer pack_zeros(LowerContext& c, const BitLayout& l) {
  Packing packing{.layout = fmt::format("n_bits zeros {} {} {} {}", l.bits, l.k, l.n, l.block),
                  .bytes = kernels::n_bits_factors(l.k, l.n, l.block),
                  .tasks = kernels::n_bits_panels(l.n)};
  packing.fill = [l](const std::byte* from, std::byte* to, int64_t begin, int64_t end) {
    fill_factors<uint8_t>(l, to, begin, end, [&](int64_t column, int64_t block) {
      return static_cast<uint8_t>(bits_at(from + column * l.zero_row_bytes(), block, l.bits));
    });
  };
  return c.packed(kBitZeros, std::move(packing));
}

/// A node's weights as the kernels read them.
struct PackedBits {
  kernels::NBitsMatrix shape;
  Buffer levels, scales, zeros, float_zeros;
  kernels::NBitsMatrix at(const Run& run) const;
};

PackedBits pack_bits(LowerContext& c, const BitLayout& l) {
  PackedBits packed;
  packed.shape.k = l.k, packed.shape.n = l.n, packed.shape.bits = l.bits, packed.shape.block = l.block;
  Packing packing{.layout = fmt::format("n_bits levels {} {} {} {}", l.bits, l.k, l.n, l.block),
                  .bytes = kernels::n_bits_level_bytes(l.k, l.n, l.bits),
                  .tasks = kernels::n_bits_panels(l.n)};
  packing.fill = [shape = packed.shape](const std::byte* from, std::byte* to, int64_t begin, int64_t end) {
    kernels::pack_n_bits(shape, reinterpret_cast<const uint8_t*>(from), reinterpret_cast<uint32_t*>(to), begin, end);
  };
  packed.levels = c.packed(kBits, std::move(packing));
  packed.scales = pack_floats(c, l, kBitScales);
  if (!c.has_input(kBitZeros)) return packed;
  if (c.in_type(kBitZeros).dtype == DType::u8) packed.zeros = pack_zeros(c, l);
  else packed.float_zeros = pack_floats(c, l, kBitZeros);
  return packed;
}

kernels::NBitsMatrix PackedBits::at(const Run& run) const {
  kernels::NBitsMatrix b = shape;
  b.levels = run.get<const uint32_t>(levels);
  b.scales = run.get<const float>(scales);
  b.zeros = run.get<const uint8_t>(zeros);
  b.float_zeros = run.get<const float>(float_zeros);
  return b;
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

}  // namespace

Result<BitLayout> bit_layout(const Attributes& a) {
  BitLayout l{a.get_int("K"), a.get_int("N"), a.get_int("bits", 4), a.get_int("block_size"), 0};
  constexpr int64_t kMost = int64_t{1} << 31;
  if (l.k < 1 || l.n < 1 || l.k > kMost || l.n > kMost) return error("K is {} and N {}, both need 1 or more", l.k, l.n);
  if (l.bits != 2 && l.bits != 4 && l.bits != 8) return error("bits is {}, needs 2, 4 or 8", l.bits);
  if (l.block < 16 || l.block > kMost || (l.block & (l.block - 1)) != 0)
    return error("block_size is {}, needs a power of two from 16 on", l.block);
  l.blocks = (l.k + l.block - 1) / l.block;
  return l;
}

Result<Tensor> dequantized_weights(const Node& node, const BitLayout& l, const std::vector<int64_t>& groups) {
  const DType type = node.input(kBitScales)->type.dtype;
  SV_ASSIGN(MutableTensor out, Tensor::allocate(type, {l.k, l.n}));
  SV_ASSIGN(const Tensor scales, node.input(kBitScales)->constant().aligned_copy());
  for (int64_t n = 0; n < l.n; ++n)
    for (int64_t k = 0; k < l.k; ++k) {
      const int64_t block = groups.empty() ? k / l.block : groups[static_cast<size_t>(k)];
      if (block < 0 || block >= l.blocks) return error("g_idx holds {}, there are {} blocks", block, l.blocks);
      const double level = static_cast<double>(bits_at(node.input(kBits)->constant().raw() + n * l.row_bytes(), k, l.bits));
      const float scale = static_cast<float>(number_at(type, scales.raw(), n * l.blocks + block));
      const float value = static_cast<float>(level - zero_of(node.input(kBitZeros), l, n, block)) * scale;
      if (type == DType::f32)
        out.data<float>()[static_cast<size_t>(k * l.n + n)] = value;
      else
        std::memcpy(out.raw() + (k * l.n + n) * 2, std::array{type == DType::f16 ? float_to_half(value) : float_to_bfloat(value)}.data(), 2);
    }
  return Tensor(out);
}

void emit_bits_product(LowerContext& c, const BitLayout& l, int64_t m, Buffer bias, bool rounds) {
  const PackedBits b = pack_bits(c, l);
  if (m <= (rounds ? kFewRoundedRows : kFewRows)) emit_rows(c, b, m, bias, rounds);
  else emit_strips(c, b, m, bias);
}

}  // namespace svengine::ops
