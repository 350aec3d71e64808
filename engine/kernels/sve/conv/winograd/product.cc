// The matrix products at one frequency of Winograd's convolution: tiles of kRows x kVectors sums in registers.
//
// The rows' inputs lie side by side, one vector each, so that a few addresses serve all rows (Machine::broadcast_reach).
#include "engine/kernels/sve/conv/winograd/winograd.h"
#include "engine/kernels/sve/tile_row.h"

namespace svengine::kernels::SVENGINE_KERNEL_SET::conv {

namespace {

constexpr int kReach = kMachine.broadcast_reach / kLanes;  // rows that one address serves

inline __attribute__((always_inline)) void advance(const float*& address, int64_t floats) {
  address += floats;
  __asm__("" : "+r"(address));
}

template <int kRows, int kVectors>
SVENGINE_HOT void product(int64_t channels, const float* x, const float* weights, float* sums, bool first, const float* prefetch_at) {
  constexpr int kAddresses = (kRows + kReach - 1) / kReach;
  const vb all = svptrue_b32();
  vf sum[kRows][kVectors];
  SVENGINE_UNROLL
  for (int r = 0; r < kRows; ++r)
    SVENGINE_UNROLL
    for (int v = 0; v < kVectors; ++v) sum[r][v] = svdup_f32(0.0f);
  if (!first)
    SVENGINE_UNROLL
    for (int r = 0; r < kRows; ++r)
      SVENGINE_UNROLL
      for (int v = 0; v < kVectors; ++v) sum[r][v] = svld1(all, sums + (r * kVectors + v) * kLanes);
  const float* at[kAddresses];
  SVENGINE_UNROLL
  for (int a = 0; a < kAddresses; ++a) at[a] = x + a * kReach * kLanes;
  for (; channels > 0; channels -= kLanes) {
    int64_t run = smaller(channels, kLanes);
    do {
      vf panel[kVectors];
      SVENGINE_UNROLL
      for (int v = 0; v < kVectors; ++v) panel[v] = svld1(all, weights + v * kLanes);
      SVENGINE_UNROLL
      for (int r = 0; r < kRows; ++r) add_row(r, at[r / kReach] + r % kReach * kLanes, panel, sum[r]);
      SVENGINE_UNROLL
      for (int a = 0; a < kAddresses; ++a) advance(at[a], 1);
      advance(weights, kVectors * kLanes);
      if constexpr (kMachine.deep_window) {
        svprfw(all, prefetch_at, SV_PLDL2KEEP);
        advance(prefetch_at, kLanes);
      }
    } while (--run != 0);
    SVENGINE_UNROLL
    for (int a = 0; a < kAddresses; ++a) at[a] += (kRows - 1) * kLanes;
  }
  SVENGINE_UNROLL
  for (int r = 0; r < kRows; ++r)
    SVENGINE_UNROLL
    for (int v = 0; v < kVectors; ++v) svst1(all, sums + (r * kVectors + v) * kLanes, sum[r][v]);
}

/// Row kRow of G, in place, times three vectors.
template <int kRow>
inline __attribute__((always_inline)) vf combine(vf g0, vf g1, vf g2) {
  const vb all = svptrue_b32();
  if constexpr (kRow == 0)
    return g0;
  else if constexpr (kRow == 1)
    return g2;
  else if constexpr (kRow < 4)
    return kRow == 2 ? svadd_x(all, svadd_x(all, g0, g2), g1) : svsub_x(all, svadd_x(all, g0, g2), g1);
  else
    return svmla_x(all, svmla_x(all, g0, g2, svdup_f32(4.0f)), g1, svdup_f32(kRow == 4 ? 2.0f : -2.0f));
}

template <int kRow, int kTiles>
SVENGINE_HOT void small_batch_product(int64_t channels, const float* x, const float* weights, float* sums, int64_t sum_step, bool first) {
  constexpr int kRows = kTileIn * kTiles;
  constexpr int kAddresses = (kRows + kReach - 1) / kReach;
  const vb all = svptrue_b32();
  vf sum[kTileIn][kTiles];
  SVENGINE_UNROLL
  for (int f = 0; f < kTileIn; ++f)
    SVENGINE_UNROLL
    for (int t = 0; t < kTiles; ++t) sum[f][t] = first ? svdup_f32(0.0f) : svld1(all, sums + f * sum_step + t * kLanes);
  const float* at[kAddresses];
  SVENGINE_UNROLL
  for (int a = 0; a < kAddresses; ++a) at[a] = x + a * kReach * kLanes;
  constexpr int kPrefetchFirst = 2 * kRow, kPrefetchLines = kRow < 4 ? 2 : kRow == 4 ? 1 : 0;  // of nine
  const float* prefetch_at = weights + (channels * kTaps + kPrefetchFirst) * kLanes;
  for (; channels > 0; channels -= kLanes) {
    int64_t run = smaller(channels, kLanes);
    do {
      SVENGINE_UNROLL
      for (int line = 0; line < kPrefetchLines; ++line) svprfw(all, prefetch_at + line * kLanes, SV_PLDL2KEEP);
      advance(prefetch_at, kTaps * kLanes);
      vf row[3];
      SVENGINE_UNROLL
      for (int j = 0; j < 3; ++j) {
        const auto tap = [&](int i) __attribute__((always_inline)) { return svld1(all, weights + (i * 3 + j) * kLanes); };
        row[j] = combine<kRow>(tap(0), tap(1), tap(2));
      }
      const auto add = [&]<int kColumn>() __attribute__((always_inline)) {
        const vf weight = combine<kColumn>(row[0], row[1], row[2]);
        SVENGINE_UNROLL
        for (int t = 0; t < kTiles; ++t) {
          constexpr int kFirst = kColumn * kTiles;
          const vf value = svdup_f32(at[(kFirst + t) / kReach][(kFirst + t) % kReach * kLanes]);
          sum[kColumn][t] = svmla_x(all, sum[kColumn][t], weight, value);
        }
      };
      add.template operator()<0>(), add.template operator()<1>(), add.template operator()<2>();
      add.template operator()<3>(), add.template operator()<4>(), add.template operator()<5>();
      SVENGINE_UNROLL
      for (int a = 0; a < kAddresses; ++a) advance(at[a], 1);
      advance(weights, 9 * kLanes);
    } while (--run != 0);
    SVENGINE_UNROLL
    for (int a = 0; a < kAddresses; ++a) at[a] += (kRows - 1) * kLanes;
  }
  SVENGINE_UNROLL
  for (int f = 0; f < kTileIn; ++f)
    SVENGINE_UNROLL
    for (int t = 0; t < kTiles; ++t) svst1(all, sums + f * sum_step + t * kLanes, sum[f][t]);
}

template <int kTiles>
SmallBatchFunction find_small_batch(int row, int tiles) {
  if constexpr (kTiles == 0) {
    return nullptr;
  } else {
    constexpr SmallBatchFunction kFunctions[kTileIn] = {&small_batch_product<0, kTiles>, &small_batch_product<1, kTiles>,
                                                        &small_batch_product<2, kTiles>, &small_batch_product<3, kTiles>,
                                                        &small_batch_product<4, kTiles>, &small_batch_product<5, kTiles>};
    return tiles == kTiles ? kFunctions[row] : find_small_batch<kTiles - 1>(row, tiles);
  }
}

template <int kRows, int kVectors>
ProductFunction find(int rows) {
  if constexpr (kRows == 0)
    return nullptr;
  else
    return rows == kRows ? &product<kRows, kVectors> : find<kRows - 1, kVectors>(rows);
}

template <int kVectors>
ProductFunction find_vectors(int rows, int vectors) {
  if constexpr (kVectors == 0)
    return nullptr;
  else
    return vectors == kVectors ? find<most_rows(kMachine, kVectors), kVectors>(rows)
                               : find_vectors<kVectors - 1>(rows, vectors);
}

}  // namespace

ProductFunction product_function(int rows, int vectors) { return find_vectors<kMostBlockGroup>(rows, vectors); }

SmallBatchFunction small_batch_function(int row, int tiles) { return find_small_batch<kMostSmallBatch>(row, tiles); }

}  // namespace svengine::kernels::SVENGINE_KERNEL_SET::conv
