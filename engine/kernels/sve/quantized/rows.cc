#include "engine/kernels/sve/quantized/rows.h"

#include "engine/kernels/sve/square.h"

namespace svengine::kernels::SVENGINE_KERNEL_SET {

namespace {

// Both store whole vectors, so up to kVectorBytes - 1 bytes too many: what is put together is written from its beginning to its end, and
// has room behind it.
void copy_bytes(uint8_t* to, const uint8_t* from, int64_t count) {
  for (int64_t i = 0; i < count; i += kVectorBytes) svst1(svptrue_b8(), to + i, svld1(svwhilelt_b8(i, count), from + i));
}

void fill_bytes(uint8_t* to, uint8_t value, int64_t count) {
  for (int64_t i = 0; i < count; i += kVectorBytes) svst1(svptrue_b8(), to + i, svdup_u8(value));
}

uint8_t padding_of(const QuantizedGemmArgs& args) { return args.a_zero ? *static_cast<const uint8_t*>(args.a_zero) : 0; }

struct Pixel {
  int64_t image, at[3];
};

Pixel pixel_of(const QuantizedWindow& w, int64_t row) {
  Pixel p;
  p.at[2] = row % w.out[2], row /= w.out[2];
  p.at[1] = row % w.out[1], row /= w.out[1];
  p.at[0] = row % w.out[0];
  p.image = row / w.out[0];
  return p;
}

void step_pixel(const QuantizedWindow& w, Pixel& p) {
  if (++p.at[2] < w.out[2]) return;
  p.at[2] = 0;
  if (++p.at[1] < w.out[1]) return;
  p.at[1] = 0;
  if (++p.at[0] < w.out[0]) return;
  p.at[0] = 0, ++p.image;
}

/// The taps of one line of a window, of which line `line` of the image lies at `source`.
uint8_t* gather_line(const QuantizedWindow& w, const uint8_t* source, int64_t column, uint8_t padding, uint8_t* to) {
  const int64_t begin = column * w.strides[2] - w.pads[2], bytes = w.channels;
  if (w.dilations[2] == 1 && begin >= 0 && begin + w.kernel[2] <= w.in[2] && w.channels == w.pixel_bytes) {
    copy_bytes(to, source + begin * bytes, w.kernel[2] * bytes);
    return to + w.kernel[2] * bytes;
  }
  for (int64_t tap = 0; tap < w.kernel[2]; ++tap, to += bytes) {
    const int64_t x = begin + tap * w.dilations[2];
    if (x >= 0 && x < w.in[2])
      copy_bytes(to, source + x * w.pixel_bytes, bytes);
    else
      fill_bytes(to, padding, bytes);
  }
  return to;
}

void gather_window(const QuantizedGemmArgs& args, const Pixel& p, uint8_t* to) {
  const QuantizedWindow& w = args.window;
  const uint8_t* images = static_cast<const uint8_t*>(args.a);
  const uint8_t padding = padding_of(args);
  const int64_t line = w.kernel[2] * w.channels;
  for (int64_t kd = 0; kd < w.kernel[0]; ++kd)
    for (int64_t kh = 0; kh < w.kernel[1]; ++kh) {
      const int64_t z = p.at[0] * w.strides[0] - w.pads[0] + kd * w.dilations[0];
      const int64_t y = p.at[1] * w.strides[1] - w.pads[1] + kh * w.dilations[1];
      if (z < 0 || z >= w.in[0] || y < 0 || y >= w.in[1]) {
        fill_bytes(to, padding, line);
        to += line;
      } else {
        to = gather_line(w, images + ((p.image * w.in[0] + z) * w.in[1] + y) * w.in[2] * w.pixel_bytes, p.at[2], padding, to);
      }
    }
}

/// A window of one tap without padding: every row is part of a pixel.
bool is_pointwise(const QuantizedWindow& w) {
  for (int i = 0; i < 3; ++i)
    if (w.kernel[i] != 1 || w.pads[i] != 0 || (w.out[i] - 1) * w.strides[i] >= w.in[i]) return false;
  return true;
}

const uint8_t* pointwise_row(const QuantizedGemmArgs& args, const Pixel& p) {
  const QuantizedWindow& w = args.window;
  int64_t pixel = p.image;
  for (int i = 0; i < 3; ++i) pixel = pixel * w.in[i] + p.at[i] * w.strides[i];
  return static_cast<const uint8_t*>(args.a) + pixel * w.pixel_bytes;
}

/// Where the rows lie, each readable as whole groups of four bytes.
void find_rows(const QuantizedGemmArgs& args, int64_t first, int64_t rows, uint8_t* gathered, const uint8_t** found) {
  const int64_t bytes = depth_groups(args.k) * 4;
  const bool windows = args.windows && !is_pointwise(args.window);
  Pixel p = args.windows ? pixel_of(args.window, first) : Pixel();
  for (int64_t r = 0; r < rows; ++r) {
    uint8_t* own = gathered + r * bytes;
    const uint8_t* source = own;
    if (windows)
      gather_window(args, p, own);
    else
      source = args.windows ? pointwise_row(args, p) : static_cast<const uint8_t*>(args.a) + (first + r) * args.lda;
    if (args.k % 4 != 0) {
      if (!windows) copy_bytes(own, source, args.k);
      for (int64_t d = args.k; d < bytes; ++d) own[d] = static_cast<uint8_t>(flip_of(args.a_signed));
      source = own;
    }
    found[r] = source;
    if (args.windows) step_pixel(args.window, p);
  }
}

/// kLanes rows at most: panel[d * ld + r] = group d of row r.
void turn(const uint8_t* const* rows, int64_t count, int64_t groups, uint32_t flip, uint32_t* panel, int64_t ld) {
  const vb stores = svwhilelt_b32(int64_t{0}, count), all = svptrue_b32();
  for (int64_t d = 0; d < groups; d += kLanes) {
    const vb exists = svwhilelt_b32(d, groups);
    const int64_t steps = quant_smaller(groups - d, kLanes);
    Square x;
    SVENGINE_UNROLL
    for (int i = 0; i < kLanes; ++i) x.row[i] = svld1(exists, reinterpret_cast<const float*>(rows[i < count ? i : 0]) + d);
    x = transposed(x);
    SVENGINE_UNROLL
    for (int i = 0; i < kLanes; ++i)
      if (i < steps) svst1(stores, panel + (d + i) * ld, vu(sveor_x(all, svreinterpret_u32(x.row[i]), flip)));
  }
}

int32_t row_zero(const QuantizedGemmArgs& args, int64_t row) {
  int32_t zero = 0;
  if (args.a_zero) {
    const int64_t at = row * args.a_zero_step;
    zero = args.a_signed ? static_cast<const int8_t*>(args.a_zero)[at] : static_cast<const uint8_t*>(args.a_zero)[at];
  }
  return zero + shift_of(args.a_signed);
}

}  // namespace

void pack_row_panel(const QuantizedGemmArgs& args, int64_t first, int64_t rows, uint8_t* gathered, uint32_t* panel) {
  const uint8_t* found[kQuantRows];
  find_rows(args, first, rows, gathered, found);
  const int64_t groups = depth_groups(args.k);
  int32_t* tail = reinterpret_cast<int32_t*>(panel + groups * rows);
  const vbytes ones = svdup_s8(1);
  for (int64_t r = 0; r < rows; r += kLanes) {
    const int64_t count = quant_smaller(rows - r, kLanes);
    turn(found + r, count, groups, flip_of(args.a_signed), panel + r, rows);
    const vb exists = svwhilelt_b32(int64_t{0}, count);
    vi sums = svdup_s32(0);
    for (int64_t d = 0; d < groups; ++d) sums = dot_bytes(sums, svld1(exists, panel + d * rows + r), ones);
    svst1(exists, tail + r, sums);
  }
  for (int64_t r = 0; r < rows; ++r) tail[rows + r] = row_zero(args, first + r);
}

}  // namespace svengine::kernels::SVENGINE_KERNEL_SET
