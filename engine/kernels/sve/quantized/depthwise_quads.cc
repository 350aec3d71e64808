// Depthwise convolution of bytes by the instruction that multiplies four bytes at once: the four are neighbouring pixels of one channel,
// which have to be interleaved first.
//
//   pixels x .. x + 3 of a block of channels, a vector each ─> four vectors of quads ─> times [w0 w1 w2 0]: output pixel x
//                                                                                  └─> times [0 w0 w1 w2]: output pixel x + 1
//
// Where neighbouring windows are one pixel apart, two of them so share what is interleaved. Where the pixels of a line lie is found once
// for a tile of outputs; pixels outside the image are a line of zero points.
//
//   packed weights: 64 bytes, the first of which says whether all weights fit bytes; for each block of kVectorBytes channels, line of the
//   window, quad of its columns and window: four vectors in quad order (byte_products.h)
#include "engine/kernels/sve/quantized/depthwise.h"

namespace svengine::kernels::SVENGINE_KERNEL_SET {

namespace {

constexpr int64_t kHeader = 64;
constexpr int64_t kUnits = 16;  // of a tile: windows, or pairs of them
constexpr int64_t kQuadBytes = 4 * kVectorBytes;

/// How a window is cut into quads.
struct QuadPlan {
  int64_t windows;  // that share quads: 2, or 1
  int64_t rows;     // lines of a window
  int64_t wide;     // quads of a line
  int64_t blocks;   // of channels
};

constexpr QuadPlan quad_plan(const QuantizedWindow& w) {
  const int64_t windows = w.strides[2] == 1 && w.dilations[2] == 1 ? 2 : 1;
  return {windows, w.kernel[0] * w.kernel[1], (w.kernel[2] + windows - 1 + 3) / 4, (w.channels + kVectorBytes - 1) / kVectorBytes};
}
constexpr int64_t block_bytes(const QuadPlan& p) { return p.rows * p.wide * p.windows * kQuadBytes; }

/// Neighbouring columns of an image's line that a tile sees.
constexpr int64_t tile_columns(const QuantizedWindow& w, const QuadPlan& p) {
  return ((kUnits - 1) * p.windows) * w.strides[2] + (4 * p.wide - 1) * w.dilations[2] + 1;
}

/// Of a piece of the channels, in quad order: what sums start from, and scales.
struct PieceTerms {
  int32_t start[kPieceChannels];
  float scale[kPieceChannels];
};

constexpr int64_t found_bytes(const QuantizedWindow& w) {
  const QuadPlan p = quad_plan(w);
  return (p.rows * tile_columns(w, p) * int64_t{sizeof(void*)} + 63) / 64 * 64;
}

void find_piece_terms(const QuantizedDepthwiseArgs& args, int64_t begin, int64_t end, PieceTerms& terms) {
  const vb all = svptrue_b32();
  const int32_t* sums = args.w + taps_of(args.window) * args.window.channels;
  const vi zero = svdup_s32(x_zero_of(args) + shift_of(args.x_signed));
  for (int64_t c = begin; c < end; c += kVectorBytes) {
    vi start[4];
    vf scale[4];
    SVENGINE_UNROLL
    for (int64_t j = 0; j < 4; ++j) {
      const int64_t at = c + j * kLanes;
      const vb exists = svwhilelt_b32(at, end);
      start[j] = svmls_x(all, bias_at(exists, args.epilogue, at), vi(svld1(exists, sums + at)), zero);
      scale[j] = scale_at(exists, args.epilogue, at);
    }
    sve_bytes::quad_order(start), sve_bytes::quad_order(scale);
    SVENGINE_UNROLL
    for (int64_t j = 0; j < 4; ++j) {
      svst1(all, terms.start + (c - begin) + j * kLanes, start[j]);
      svst1(all, terms.scale + (c - begin) + j * kLanes, scale[j]);
    }
  }
}

/// found[row][column] for the columns that the tile of outputs from `first` on sees.
void find_columns(const QuantizedDepthwiseArgs& args, const DepthwiseTask& task, int64_t first, int64_t columns, int64_t ld,
                  const uint8_t* outside, const uint8_t** found) {
  const QuantizedWindow& w = args.window;
  const int64_t left = first * w.strides[2] - w.pads[2];
  for (int64_t kd = 0; kd < w.kernel[0]; ++kd)
    for (int64_t kh = 0; kh < w.kernel[1]; ++kh, found += ld) {
      const int64_t z = task.z * w.strides[0] - w.pads[0] + kd * w.dilations[0];
      const int64_t y = task.y * w.strides[1] - w.pads[1] + kh * w.dilations[1];
      const bool inside = z >= 0 && z < w.in[0] && y >= 0 && y < w.in[1];
      const uint8_t* line = static_cast<const uint8_t*>(args.x);
      if (inside) line += ((task.image * w.in[0] + z) * w.in[1] + y) * w.in[2] * w.pixel_bytes;
      for (int64_t c = 0; c < columns; ++c) {
        const int64_t x = left + c;
        found[c] = inside && x >= 0 && x < w.in[2] ? line + x * w.pixel_bytes : outside;
      }
    }
}

/// What is the same for all windows of a call.
struct QuadWalk {
  int64_t rows, wide, ld, dilation;
};

template <int kWindows, bool kFlip>
inline __attribute__((always_inline)) void sum_quads(const QuadWalk& walk, const uint8_t* const* at, int64_t c, svbool_t exists,
                                                     const int8_t* w, const int32_t* start, vi (&sums)[kWindows][4]) {
  const svbool_t bytes = svptrue_b8();
  SVENGINE_UNROLL
  for (int r = 0; r < kWindows; ++r) SVENGINE_UNROLL
  for (int j = 0; j < 4; ++j) sums[r][j] = svld1(svptrue_b32(), start + j * kLanes);
  for (int64_t row = 0; row < walk.rows; ++row, at += walk.ld) {
    const uint8_t* const* from = at;
    for (int64_t q = 0; q < walk.wide; ++q, from += 4 * walk.dilation, w += kWindows * kQuadBytes) {
      vsbyte x[4];
      vu quad[4];
      SVENGINE_UNROLL
      for (int i = 0; i < 4; ++i) x[i] = svld1(exists, reinterpret_cast<const int8_t*>(from[i * walk.dilation]) + c);
      sve_bytes::quads(x[0], x[1], x[2], x[3], quad);
      SVENGINE_UNROLL
      for (int j = 0; j < 4; ++j) {
        if constexpr (kFlip) quad[j] = sveor_x(svptrue_b32(), quad[j], 0x80808080u);
        SVENGINE_UNROLL
        for (int r = 0; r < kWindows; ++r) sums[r][j] = dot_bytes(sums[r][j], quad[j], svld1(bytes, w + (r * 4 + j) * kVectorBytes));
      }
    }
  }
}

template <bool kSigned>
inline __attribute__((always_inline)) vsbyte finish_quads(const vi (&sums)[4], const float* scale, const Finish& finish) {
  const vb all = svptrue_b32();
  vi y[4];
  SVENGINE_UNROLL
  for (int j = 0; j < 4; ++j) {
    const vf x = svmul_x(all, svcvt_f32_x(all, sums[j]), svld1(all, scale + j * kLanes));
    y[j] = svadd_x(all, sve_bytes::rounded(svminnm_x(all, svmaxnm_x(all, x, finish.low), finish.high)), finish.zero);
  }
  return sve_bytes::narrowed<kSigned>(y);
}

/// Outputs of a tile: `count` pixels from y on, a block of channels.
template <int kWindows, bool kFlip, bool kSigned>
void sum_block(const QuadWalk& walk, const uint8_t* const* found, int64_t step, int64_t c, svbool_t exists, const int8_t* w,
               const int32_t* start, const float* scale, const Finish& finish, int8_t* y, int64_t pixel_bytes, int64_t count) {
  const Finish local = finish;  // which stores cannot change
  for (int64_t p = 0; p < count; p += kWindows, found += step, y += kWindows * pixel_bytes) {
    vi sums[kWindows][4];
    sum_quads<kWindows, kFlip>(walk, found, c, exists, w, start, sums);
    svst1(exists, y, finish_quads<kSigned>(sums[0], scale, local));
    if constexpr (kWindows == 2) {
      if (p + 1 < count) svst1(exists, y + pixel_bytes, finish_quads<kSigned>(sums[1], scale, local));
    }
  }
}

template <int kWindows, bool kFlip, bool kSigned>
void run_tasks(const QuantizedDepthwiseArgs& args, int64_t task_begin, int64_t task_end, void* scratch) {
  const QuantizedWindow& w = args.window;
  const QuadPlan plan = quad_plan(w);
  const int64_t ld = tile_columns(w, plan), step = kWindows * w.strides[2];
  const QuadWalk walk{plan.rows, plan.wide, ld, w.dilations[2]};
  PieceTerms& terms = *static_cast<PieceTerms*>(scratch);
  const uint8_t** found = reinterpret_cast<const uint8_t**>(&terms + 1);
  uint8_t* outside = reinterpret_cast<uint8_t*>(found) + found_bytes(w);
  fill_outside(args, outside);
  const Finish finish = finish_of(args.epilogue);
  int64_t known = -1;
  for (int64_t index = task_begin; index < task_end; ++index) {
    const DepthwiseTask task = depthwise_task(args, index);
    if (task.begin != known) find_piece_terms(args, task.begin, task.end, terms);
    known = task.begin;
    for (int64_t first = 0; first < w.out[2]; first += kUnits * kWindows) {
      const int64_t left = w.out[2] - first, count = left < kUnits * kWindows ? left : kUnits * kWindows;
      find_columns(args, task, first, ((count + kWindows - 1) / kWindows - 1) * step + (4 * plan.wide - 1) * w.dilations[2] + 1, ld,
                   outside, found);
      int8_t* y = static_cast<int8_t*>(args.y) + (task.line * w.out[2] + first) * w.channels;
      for (int64_t c = task.begin; c < task.end; c += kVectorBytes) {
        const int8_t* weights = args.quads + kHeader + c / kVectorBytes * block_bytes(plan);
        const int32_t* start = terms.start + (c - task.begin);
        const float* scale = terms.scale + (c - task.begin);
        const auto sum = [&](svbool_t exists) __attribute__((always_inline)) {
          sum_block<kWindows, kFlip, kSigned>(walk, found, step, c, exists, weights, start, scale, finish, y + c, w.channels, count);
        };
        if (c + kVectorBytes <= task.end)
          sum(svptrue_b8());
        else
          sum(svwhilelt_b8(c, task.end));
      }
    }
  }
}

template <int kWindows>
void run_windows(const QuantizedDepthwiseArgs& args, int64_t begin, int64_t end, void* scratch) {
  const bool flip = flip_of(args.x_signed) != 0, is_signed = args.epilogue.output == QuantizedOutput::kInt8;
  if (flip)
    is_signed ? run_tasks<kWindows, true, true>(args, begin, end, scratch) : run_tasks<kWindows, true, false>(args, begin, end, scratch);
  else
    is_signed ? run_tasks<kWindows, false, true>(args, begin, end, scratch) : run_tasks<kWindows, false, false>(args, begin, end, scratch);
}

}  // namespace

bool has_quads(const QuantizedDepthwiseArgs& args) {
  const bool to_bytes = args.epilogue.output == QuantizedOutput::kInt8 || args.epilogue.output == QuantizedOutput::kUint8;
  return sve_bytes::kOneInstruction && to_bytes && args.quads && *args.quads;
}

int64_t quads_scratch_bytes(const QuantizedWindow& w) { return int64_t{sizeof(PieceTerms)} + found_bytes(w); }

void depthwise_by_quads(const QuantizedDepthwiseArgs& args, int64_t task_begin, int64_t task_end, void* scratch) {
  if (quad_plan(args.window).windows == 2)
    run_windows<2>(args, task_begin, task_end, scratch);
  else
    run_windows<1>(args, task_begin, task_end, scratch);
}

int64_t depthwise_packed_bytes(const QuantizedWindow& window) noexcept {
  if (!sve_bytes::kOneInstruction) return 0;
  const QuadPlan plan = quad_plan(window);
  return kHeader + plan.blocks * block_bytes(plan);
}

void pack_depthwise(const QuantizedWindow& window, const int32_t* w, void* quads) noexcept {
  const QuadPlan plan = quad_plan(window);
  int8_t* to = static_cast<int8_t*>(quads);
  for (int64_t i = 0; i < kHeader; ++i) to[i] = 0;
  bool fits = true;
  for (int64_t i = 0; i < taps_of(window) * window.channels; ++i) fits &= w[i] >= -128 && w[i] <= 127;
  to[0] = fits;
  to += kHeader;
  const int64_t width = window.kernel[2];
  for (int64_t block = 0; block < plan.blocks; ++block)
    for (int64_t row = 0; row < plan.rows; ++row)
      for (int64_t q = 0; q < plan.wide; ++q)
        for (int64_t r = 0; r < plan.windows; ++r)
          for (int64_t at = 0; at < kQuadBytes; ++at) {
            const int vector = static_cast<int>(at / kVectorBytes), lane = static_cast<int>(at % kVectorBytes / 4);
            const int64_t c = block * kVectorBytes + sve_bytes::quad_element(kLanes, vector, lane), tap = q * 4 + at % 4 - r;
            const bool exists = c < window.channels && tap >= 0 && tap < width;
            *to++ = static_cast<int8_t>(exists ? w[(row * width + tap) * window.channels + c] : 0);
          }
}

}  // namespace svengine::kernels::SVENGINE_KERNEL_SET
