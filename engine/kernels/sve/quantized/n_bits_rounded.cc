// Rows of integers of 16 bits times weights of 4 bits. Sums over a group of the depth are exact: products of bytes, of the high bytes of A and of
// its low ones. Only their products with the scales are floats.
//
//   a word of levels, 16 columns     & mask -> bytes of steps 0 ... 3, multiplied by four high bytes of A, and by four low ones
//                               >> bits & mask -> bytes of steps 4 ... 7, ...
#include "engine/kernels/sve/quantized/n_bits.h"

namespace svengine::kernels::SVENGINE_KERNEL_SET {

namespace {

constexpr int kLevelBits = 4;  // of a level
constexpr float kMostNumber = 127 * 256;  // so that high bytes stay in their range
constexpr float kLeastRounded = 0x1p-80f;  // its inverse is finite

/// What of a row's group becomes integers; the group's sum.
int32_t round_group(const float* a, int64_t begin, int64_t end, float inverse, int8_t* numbers) {
  const vb all = svptrue_b32();
  vi sum = svdup_s32(0);
  const int64_t stop = (end + 15) / 16 * 16;
  for (int64_t d = begin; d < stop; d += kLanes) {
    const vf x = svld1(svwhilelt_b32(d, end), a + d);
    const vi number = sve_bytes::rounded(svmul_x(all, x, svdup_f32(inverse)));
    const vi low = svasr_x(all, svlsl_x(all, number, 24u), 24u);
    int8_t* to = numbers + d / 16 * 32 + d % 16;
    svst1b(all, to, vi(svasr_x(all, svsub_x(all, number, low), 8u)));
    svst1b(all, to + 16, low);
    sum = svadd_x(all, sum, number);
  }
  return static_cast<int32_t>(svaddv(all, sum));
}

float largest_of(const float* a, int64_t begin, int64_t end) {
  const vb all = svptrue_b32();
  vf most = svdup_f32(0);
  for (int64_t d = begin; d < end; d += kLanes) most = svmax_x(all, most, svabs_x(all, svld1(svwhilelt_b32(d, end), a + d)));
  return svmaxv(all, most);
}

void round_row(const NBitsRoundArgs& args, int64_t row) {
  const int64_t group = n_bits_group(args.block), groups = n_bits_groups(args.k, args.block);
  const float* a = args.a + row * args.lda;
  bool rounded = true;
  for (int64_t g = 0; g < groups; ++g) {
    const int64_t begin = g * group, end = begin + group < args.k ? begin + group : args.k;
    const float most = largest_of(a, begin, end);
    const bool fits = most >= kLeastRounded && most <= __FLT_MAX__;
    rounded = rounded && (fits || most == 0);
    args.scales[row * groups + g] = fits ? most / kMostNumber : 0;
    args.sums[row * groups + g] = round_group(a, begin, end, fits ? kMostNumber / most : 0, args.numbers + row * n_bits_number_bytes(args.k));
  }
  args.rounded[row] = rounded;
}

/// Sums of high and low bytes, of one row in two halves that do not wait for each other.
template <int kRows>
struct ByteSums {
  static constexpr int kWays = kRows == 1 ? 4 : 1;
  vi high[kWays][kRows], low[kWays][kRows];
  SVENGINE_INLINE ByteSums() {
    SVENGINE_UNROLL
    for (int w = 0; w < kWays; ++w) SVENGINE_UNROLL
      for (int r = 0; r < kRows; ++r) high[w][r] = low[w][r] = svdup_s32(0);
  }
  /// 256 high + low, of a row.
  SVENGINE_INLINE vi total(int r) const {
    const vb all = svptrue_b32();
    vi h = high[0][r], l = low[0][r];
    SVENGINE_UNROLL
    for (int w = 1; w < kWays; ++w) h = svadd_x(all, h, high[w][r]), l = svadd_x(all, l, low[w][r]);
    return svadd_x(all, svlsl_x(all, h, 8u), l);
  }
};

SVENGINE_INLINE vsbyte four_of(const int8_t* bytes) {
  uint32_t four;
  __builtin_memcpy(&four, bytes, 4);
  return svreinterpret_s8(svdup_u32(four));
}

/// sums += sixteen steps of the depth.
template <int kRows>
SVENGINE_INLINE void add_sixteen(const uint32_t* words, const int8_t* const (&numbers)[kRows], ByteSums<kRows>& sums) {
  const vb all = svptrue_b32();
  constexpr uint32_t kMask = ((1u << kLevelBits) - 1) * 0x01010101u;
  SVENGINE_UNROLL
  for (int quad = 0; quad < 4; ++quad) {
    const vu word = svld1(all, words + quad * kLevelBits / 8 * kNBitsColumns);
    const vu levels = svand_x(all, quad * kLevelBits % 8 ? vu(svlsr_x(all, word, static_cast<uint32_t>(quad * kLevelBits % 8))) : word, kMask);
    constexpr int kWays = ByteSums<kRows>::kWays;
    SVENGINE_UNROLL
    for (int r = 0; r < kRows; ++r) {
      sums.high[quad % kWays][r] = dot_bytes(sums.high[quad % kWays][r], levels, four_of(numbers[r] + quad * 4));
      sums.low[quad % kWays][r] = dot_bytes(sums.low[quad % kWays][r], levels, four_of(numbers[r] + 16 + quad * 4));
    }
  }
}

/// The sums of a vector of columns, those of part `part` of panel `panel`, of rows of A.
template <int kRows>
__attribute__((noinline)) void sum_rounded(const NBitsRowsArgs& args, int64_t panel, int64_t part, const int64_t (&rows)[kRows],
                                           vf (&result)[kRows]) {
  const vb all = svptrue_b32();
  const NBitsMatrix& b = args.b;
  const int64_t group = n_bits_group(b.block), groups = n_bits_groups(b.k, b.block), in_block = b.block / group;
  const int8_t* numbers[kRows];
  const float* scales[kRows];
  const int32_t* terms[kRows];
  vf sum[kRows];
  SVENGINE_UNROLL
  for (int r = 0; r < kRows; ++r) {
    numbers[r] = args.rounded.numbers + rows[r] * n_bits_number_bytes(b.k);
    scales[r] = args.rounded.scales + rows[r] * groups;
    terms[r] = args.rounded.sums + rows[r] * groups;
    sum[r] = svdup_f32(0);
  }
  const uint32_t* words = b.levels + panel * n_bits_words(b.k, kLevelBits) * kNBitsColumns + part * kLanes;
  int64_t factor = panel * n_bits_blocks(b.k, b.block) * kNBitsColumns + part * kLanes;
  for (int64_t g = 0, inside = 0; g < groups; ++g, ++inside) {
    if (inside == in_block) inside = 0, factor += kNBitsColumns;
    const int64_t left = b.k - g * group, depth = left < group ? left : group;
    ByteSums<kRows> bytes;
#pragma GCC unroll 1  // GCC knows that a group is no deeper than 128, and would write it out
    for (int64_t d = 0; d < depth; d += 16, words += kLevelBits / 2 * kNBitsColumns) {
      add_sixteen(words, numbers, bytes);
      SVENGINE_UNROLL
      for (int r = 0; r < kRows; ++r) numbers[r] += 32;
    }
    const vf scale = svld1(all, b.scales + factor);
    const vi zero = b.zeros ? svreinterpret_s32(svld1ub_u32(all, b.zeros + factor)) : svdup_s32(1 << (kLevelBits - 1));
    SVENGINE_UNROLL
    for (int r = 0; r < kRows; ++r) {
      const vf total = svcvt_f32_x(all, vi(svmls_x(all, bytes.total(r), zero, svdup_s32(terms[r][g]))));
      sum[r] = svmla_x(all, sum[r], total, vf(svmul_x(all, scale, svdup_f32(scales[r][g]))));
    }
  }
  SVENGINE_UNROLL
  for (int r = 0; r < kRows; ++r) result[r] = sum[r];
}

template <int kRows>
void multiply_rows_of(const NBitsRowsArgs& args, int64_t panel, int64_t row, int64_t rows) {
  int64_t of[kRows];
  for (int r = 0; r < kRows; ++r) of[r] = row + (r < rows ? r : 0);
  for (int64_t part = 0; part < kPartsOfPanel; ++part) {
    const int64_t first = panel * kNBitsColumns + part * kLanes;
    if (first >= args.b.n) return;
    vf sums[kRows];
    sum_rounded<kRows>(args, panel, part, of, sums);
    store_rows(args, first, row, rows, sums);
  }
}

/// Where a product of bytes takes many instructions, sharing the levels among rows saves few of them.
void multiply_rounded(const NBitsRowsArgs& args, int64_t panel, int64_t row, int64_t rows) {
  if constexpr (sve_bytes::kOneInstruction) {
    if (rows > 1) return multiply_rows_of<kRowsOfBits>(args, panel, row, rows);
  }
  for (int64_t r = row; r < row + rows; ++r) multiply_rows_of<1>(args, panel, r, 1);
}

}  // namespace

int64_t n_bits_rows_tasks(const NBitsRowsArgs& args) noexcept { return args.m > 0 ? n_bits_panels(args.b.n) : 0; }

void n_bits_rows(const NBitsRowsArgs& args, int64_t task_begin, int64_t task_end, void*) noexcept {
  const auto is_rounded = [&](int64_t row) { return args.rounded.numbers && args.rounded.rounded[row] != 0; };
  for (int64_t panel = task_begin; panel < task_end; ++panel)
    for (int64_t row = 0, rows = 1; row < args.m; row += rows) {
      const bool rounded = is_rounded(row);
      for (rows = 1; rows < kRowsOfBits && row + rows < args.m && is_rounded(row + rows) == rounded;) ++rows;
      if (rounded) multiply_rounded(args, panel, row, rows);
      else SVENGINE_BASE_SET::multiply_levels(args, panel, row, rows);
    }
}

int64_t n_bits_round_tasks(const NBitsRoundArgs& args) noexcept { return args.m; }

void n_bits_round(const NBitsRoundArgs& args, int64_t task_begin, int64_t task_end, void*) noexcept {
  for (int64_t row = task_begin; row < task_end; ++row) round_row(args, row);
}

}  // namespace svengine::kernels::SVENGINE_KERNEL_SET
