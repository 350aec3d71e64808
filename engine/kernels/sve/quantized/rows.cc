#include "engine/kernels/sve/quantized/rows.h"

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
uint8_t* gather_line(const QuantizedWindow& w, const uint8_t* source, int64_t begin, uint8_t padding, uint8_t* to) {
  const int64_t bytes = w.channels;
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

/// The windows of rows one after another, which begin at `begin_` of an image.
class Windows {
 public:
  Windows(const QuantizedGemmArgs& args, int64_t first)
      : args_(args), w_(args.window), pixel_(pixel_of(w_, first)), line_bytes_(w_.in[2] * w_.pixel_bytes), plane_bytes_(w_.in[1] * line_bytes_) {
    // A window's line is copied as one run where its taps lie together; the predicate is of the run's last vector.
    run_ = w_.dilations[2] == 1 && w_.channels == w_.pixel_bytes ? w_.kernel[2] * w_.channels : 0;
    last_ = svwhilelt_b8((quant_larger(run_, 1) - 1) / kVectorBytes * kVectorBytes, run_);
    begin_line();
  }

  void next() {
    step_pixel(w_, pixel_);
    if (pixel_.at[2] == 0) begin_line();
  }

  void gather(uint8_t* to) const {
    const int64_t column = pixel_.at[2] * w_.strides[2] - w_.pads[2];
    if (!lines_inside_ || column < 0 || column + w_.kernel[2] > w_.in[2]) return gather_taps(column, to);
    const uint8_t* plane = image() + begin_[0] * plane_bytes_ + begin_[1] * line_bytes_ + column * w_.pixel_bytes;
    for (int64_t kd = 0; kd < w_.kernel[0]; ++kd, plane += w_.dilations[0] * plane_bytes_) {
      const uint8_t* line = plane;
      for (int64_t kh = 0; kh < w_.kernel[1]; ++kh, line += w_.dilations[1] * line_bytes_, to += run_) copy_run(to, line);
    }
  }

 private:
  const uint8_t* image() const { return static_cast<const uint8_t*>(args_.a) + pixel_.image * w_.in[0] * plane_bytes_; }

  void begin_line() {
    lines_inside_ = run_ > 0;
    for (int i = 0; i < 2; ++i) {
      begin_[i] = pixel_.at[i] * w_.strides[i] - w_.pads[i];
      lines_inside_ &= begin_[i] >= 0 && begin_[i] + (w_.kernel[i] - 1) * w_.dilations[i] < w_.in[i];
    }
  }

  void copy_run(uint8_t* to, const uint8_t* from) const {
    int64_t i = 0;
    for (; i + kVectorBytes < run_; i += kVectorBytes) svst1(svptrue_b8(), to + i, svld1(svptrue_b8(), from + i));
    svst1(svptrue_b8(), to + i, svld1(last_, from + i));
  }

  /// A window of which some taps are padding, or whose lines do not lie together.
  void gather_taps(int64_t column, uint8_t* to) const {
    const uint8_t padding = padding_of(args_);
    const int64_t line = w_.kernel[2] * w_.channels;
    for (int64_t kd = 0; kd < w_.kernel[0]; ++kd)
      for (int64_t kh = 0; kh < w_.kernel[1]; ++kh) {
        const int64_t z = begin_[0] + kd * w_.dilations[0], y = begin_[1] + kh * w_.dilations[1];
        if (z < 0 || z >= w_.in[0] || y < 0 || y >= w_.in[1]) {
          fill_bytes(to, padding, line);
          to += line;
        } else {
          to = gather_line(w_, image() + z * plane_bytes_ + y * line_bytes_, column, padding, to);
        }
      }
  }

  const QuantizedGemmArgs& args_;
  const QuantizedWindow& w_;
  Pixel pixel_;
  int64_t line_bytes_, plane_bytes_, run_;
  int64_t begin_[2];
  bool lines_inside_;
  vb last_;
};

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

/// Of pointwise windows: they are all pixels, in the image's order.
bool is_whole_image(const QuantizedWindow& w) {
  for (int i = 0; i < 3; ++i)
    if (w.strides[i] != 1 || w.out[i] != w.in[i]) return false;
  return true;
}

/// Where the rows lie.
void find_rows(const QuantizedGemmArgs& args, int64_t first, int64_t rows, uint8_t* gathered, const uint8_t** found) {
  const QuantizedWindow& w = args.window;
  const bool pointwise = args.windows && is_pointwise(w);
  if (!args.windows || (pointwise && is_whole_image(w))) {
    const int64_t step = args.windows ? w.pixel_bytes : args.lda;
    for (int64_t r = 0; r < rows; ++r) found[r] = static_cast<const uint8_t*>(args.a) + (first + r) * step;
    return;
  }
  if (pointwise) {
    Pixel p = pixel_of(w, first);
    for (int64_t r = 0; r < rows; ++r, step_pixel(w, p)) found[r] = pointwise_row(args, p);
    return;
  }
  Windows windows(args, first);
  for (int64_t r = 0; r < rows; ++r, windows.next(), gathered += args.k) {
    windows.gather(gathered);
    found[r] = gathered;
  }
}

/// Rows' bytes, shifted, into their parts of the chunks; behind the last byte, to its vector's end, zeros.
struct Chunker {
  int64_t k, step;  // bytes from a chunk to the next
  uint32_t flip;

  vsbyte shifted(vsbyte x) const { return vsbyte(svreinterpret_s8(sveor_x(svptrue_b32(), svreinterpret_u32(x), flip))); }

  /// Gives the row's sum.
  template <bool kSums>
  int32_t put(const uint8_t* row, uint8_t* to) const {
    const svbool_t all = svptrue_b8();
    const int8_t* from = reinterpret_cast<const int8_t*>(row);
    int8_t* at = reinterpret_cast<int8_t*>(to);
    vi sum = svdup_s32(0);
    const auto add = [&](vsbyte x) {
      if constexpr (kSums) sum = dot_bytes(sum, vu(svreinterpret_u32(x)), vsbyte(svdup_s8(1)));
    };
    int64_t left = k;
    for (; left >= kChunkBytes; left -= kChunkBytes, from += kChunkBytes, at += step)
      SVENGINE_UNROLL
      for (int64_t i = 0; i < kChunkBytes; i += kVectorBytes) {
        const vsbyte x = shifted(svld1(all, from + i));
        svst1(all, at + i, x);
        add(x);
      }
    for (int64_t i = 0; i < left; i += kVectorBytes) {
      const svbool_t exists = svwhilelt_b8(i, left);
      const vsbyte x = svsel(exists, shifted(svld1(exists, from + i)), vsbyte(svdup_s8(0)));
      svst1(all, at + i, x);
      add(x);
    }
    return kSums ? static_cast<int32_t>(svaddv(svptrue_b32(), sum)) : 0;
  }
};

int32_t row_zero(const QuantizedGemmArgs& args, int64_t row) {
  int32_t zero = 0;
  if (args.a_zero) {
    const int64_t at = row * args.a_zero_step;
    zero = args.a_signed ? static_cast<const int8_t*>(args.a_zero)[at] : static_cast<const uint8_t*>(args.a_zero)[at];
  }
  return zero + shift_of(args.a_signed);
}

}  // namespace

void pack_row_panel(const QuantizedGemmArgs& args, int64_t first, int64_t rows, bool needs_sums, uint8_t* gathered, uint32_t* panel) {
  const uint8_t* found[kQuantRows];
  find_rows(args, first, rows, gathered, found);
  int32_t* tail = reinterpret_cast<int32_t*>(panel + chunks(args.k) * rows * kChunkGroups);
  const Chunker chunker{args.k, rows * kChunkBytes, flip_of(args.a_signed)};
  uint8_t* to = reinterpret_cast<uint8_t*>(panel);
  for (int64_t r = 0; r < rows; ++r, to += kChunkBytes) {
    tail[r] = needs_sums ? chunker.put<true>(found[r], to) : chunker.put<false>(found[r], to);
    tail[rows + r] = row_zero(args, first + r);
  }
}

}  // namespace svengine::kernels::SVENGINE_KERNEL_SET
