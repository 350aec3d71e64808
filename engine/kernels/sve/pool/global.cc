// Global pooling: several partial results, joined in a fixed order.
#include "engine/kernels/sve/pool/op.h"

namespace svengine::kernels::SVENGINE_KERNEL_SET::pool {

namespace {

constexpr int kPartials = 8;

template <PoolKind kKind>
SVENGINE_INLINE vf join_partials(vf (&partials)[kPartials]) {
  SVENGINE_UNROLL
  for (int half = kPartials / 2; half > 0; half /= 2)
    SVENGINE_UNROLL
    for (int i = 0; i < half; ++i) partials[i] = Op<kKind>::join(partials[i], partials[i + half]);
  return partials[0];
}

/// Whole vectors x[i], i < count, vector i into partial result i % kPartials.
template <PoolKind kKind>
SVENGINE_INLINE void add_vectors(const float* x, int64_t count, int32_t power, vf (&partials)[kPartials]) {
  const vb all = svptrue_b32();
  SVENGINE_UNROLL
  for (int i = 0; i < kPartials; ++i) partials[i] = svdup_f32(Op<kKind>::kStart);
  int64_t left = count;
  for (; left >= kPartials; left -= kPartials, x += kPartials * kLanes) {
    SVENGINE_UNROLL
    for (int i = 0; i < kPartials; ++i) partials[i] = Op<kKind>::add(partials[i], svld1(all, x + i * kLanes), power);
  }
  SVENGINE_UNROLL
  for (int i = 0; i < kPartials - 1; ++i)
    if (i < left) partials[i] = Op<kKind>::add(partials[i], svld1(all, x + i * kLanes), power);
}

template <PoolKind kKind>
void run_blocked_kind(const GlobalPoolArgs& args, int64_t begin, int64_t end) {
  const vf scale = svdup_f32(1.0f / static_cast<float>(args.size));
  for (int64_t task = begin; task < end; ++task) {
    vf partials[kPartials];
    add_vectors<kKind>(args.input + task * args.size * kLanes, args.size, args.power, partials);
    svst1(svptrue_b32(), args.output + task * kLanes, Op<kKind>::end(join_partials<kKind>(partials), scale, args.power));
  }
}

/// The lanes of a vector in one.
template <PoolKind kKind>
SVENGINE_INLINE float across(vf result) {
  const vb all = svptrue_b32();
  return kKind == PoolKind::kMax ? svmaxv(all, result) : svaddv(all, result);
}

template <PoolKind kKind>
void run_plain_kind(const GlobalPoolArgs& args, int64_t begin, int64_t end) {
  const vf scale = svdup_f32(1.0f / static_cast<float>(args.size));
  const int64_t whole = args.size / kLanes;
  const vb rest = svwhilelt_b32(whole * kLanes, args.size);
  const vb one = svwhilelt_b32(int64_t{0}, int64_t{1});
  for (int64_t task = begin; task < end; ++task) {
    const float* x = args.input + task * args.size;
    vf partials[kPartials];
    add_vectors<kKind>(x, whole, args.power, partials);
    const vf last = Op<kKind>::add(partials[kPartials - 1], svld1(rest, x + whole * kLanes), args.power);
    partials[kPartials - 1] = svsel(rest, last, partials[kPartials - 1]);
    const float result = across<kKind>(join_partials<kKind>(partials));
    svst1(one, args.output + task, Op<kKind>::end(svdup_f32(result), scale, args.power));
  }
}

}  // namespace

void run_global_blocked(const GlobalPoolArgs& args, int64_t begin, int64_t end) {
  switch (args.kind) {
    case PoolKind::kMax: return run_blocked_kind<PoolKind::kMax>(args, begin, end);
    case PoolKind::kAverage: return run_blocked_kind<PoolKind::kAverage>(args, begin, end);
    case PoolKind::kLp: return run_blocked_kind<PoolKind::kLp>(args, begin, end);
  }
}

void run_global_plain(const GlobalPoolArgs& args, int64_t begin, int64_t end) {
  switch (args.kind) {
    case PoolKind::kMax: return run_plain_kind<PoolKind::kMax>(args, begin, end);
    case PoolKind::kAverage: return run_plain_kind<PoolKind::kAverage>(args, begin, end);
    case PoolKind::kLp: return run_plain_kind<PoolKind::kLp>(args, begin, end);
  }
}

}  // namespace svengine::kernels::SVENGINE_KERNEL_SET::pool
