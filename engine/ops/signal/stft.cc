// STFT: Fourier transforms of frames of a signal, each times a window.
#include "engine/ops/infer_util.h"
#include "engine/ops/signal/fourier_common.h"

namespace svengine::ops {
namespace {

enum StftInput : size_t { kStftSignal, kStftStep, kStftWindow, kStftLength };

/// The length of frames, as far as it is known.
Result<Dim> stft_length(const InferContext& c, const Dim& signal) {
  Dim length = signal;
  if (c.has_input(kStftWindow)) {
    SV_TRY(require_rank(c, kStftWindow, 1));
    length = c.shape(kStftWindow).has_rank() ? c.shape(kStftWindow)[0] : Dim();
  }
  if (!c.has_input(kStftLength)) return length;
  SV_ASSIGN(const std::optional<int64_t> given, fourier_length(c, kStftLength));
  if (given && c.has_input(kStftWindow) && known_different(length, Dim(*given)))
    return error("frame_length is {}, but the window has {} factors", *given, length.value());
  return given ? Dim(*given) : c.has_input(kStftWindow) ? length : Dim();
}

bool stft_onesided(const Attributes& attributes) { return attributes.get_int("onesided", 1) != 0; }

Status infer_stft(InferContext& c) {
  SV_TRY(require_dtype(c, kStftSignal, kRealTypes));
  SV_TRY(require_rank(c, kStftSignal, 3));
  if (c.has_input(kStftWindow) && c.dtype(kStftWindow) != c.dtype(kStftSignal))
    return error("the window is {}, but the signal {}: they must be alike", name_of(c.dtype(kStftWindow)),
                 name_of(c.dtype(kStftSignal)));
  SV_ASSIGN(const std::optional<int64_t> step, fourier_length(c, kStftStep));
  const Shape x = c.shape(kStftSignal).has_rank() ? c.shape(kStftSignal) : unknown_dims(3);
  const bool onesided = stft_onesided(c.attributes());
  if (x[2].is_static() && x[2].value() != 1 && x[2].value() != 2)
    return error("the last dimension of signal {} is {}, must be 1 (real) or 2 (complex)", to_string(x), x[2].value());
  if (onesided && x[2].is_static() && x[2].value() == 2)
    return error("a onesided transform needs a real signal (last dimension 1), got {}; set onesided to 0", to_string(x));
  SV_ASSIGN(const Dim length, stft_length(c, x[1]));
  Dim frames, bins;
  if (length.is_static()) {
    if (length.value() < 1) return error("frames of length {}", length.value());
    bins = Dim(onesided ? length.value() / 2 + 1 : length.value());
    if (x[1].is_static() && x[1].value() < length.value())
      return error("signal {} is shorter than a frame of {}", to_string(x), length.value());
    if (x[1].is_static() && step) frames = Dim((x[1].value() - length.value()) / *step + 1);
  }
  c.set(0, c.dtype(kStftSignal), Shape(std::vector<Dim>{x[0], frames, bins, Dim(2)}));
  return {};
}

Status lower_stft(LowerContext& c) {
  const Dims in = c.in_dims(kStftSignal), out = c.out_dims();
  const Tensor* step = c.constant(kStftStep);
  if (!step) return error("input 1 (frame_step) is not known when the node is planned");
  int64_t n = in[1];
  if (c.has_input(kStftWindow)) {
    n = c.in_dims(kStftWindow)[0];
  } else if (c.has_input(kStftLength)) {
    if (!c.constant(kStftLength)) return error("input 3 (frame_length) is not known when the node is planned");
    n = c.constant(kStftLength)->as_int64s().at(0);
  }
  FourierLines job;
  job.type = c.in_type(kStftSignal).dtype;
  job.a = out[0], job.b = out[1];
  job.in = {c.in(kStftSignal), in[2], n, in[1] * in[2], step->as_int64s().at(0) * in[2], in[2]};
  job.out = {c.out(), 2, out[2], out[1] * out[2] * 2, out[2] * 2, 2};
  if (c.has_input(kStftWindow)) job.window = c.in(kStftWindow);
  return emit_fourier(c, "stft", n, job);
}

}  // namespace

OpDef define_stft() {
  return {
      .name = "STFT",
      .since = 17,
      .inputs = "signal, frame_step, window?, frame_length?",
      .attributes = {{"onesided", AttributeKind::kInt, false, 1}},
      .infer = infer_stft,
      .lower = lower_stft,
      .cost = fourier_cost,
      .gradient = stft_gradient,
      .traits = {.shape_inputs = {kStftStep, kStftLength}},
      .tolerance = {.rtol = 1e-5, .atol = 1e-5},
      .samples = "(float32[2, 50, 1], int64[]{8}, float32[16])"
                 "(float32[1, 40, 2], int64[]{7}, float32[13], int64[]{13}) {onesided = 0}"
                 "(float32[1, 1, 1], int64[]{1})"
                 "(float16[1, 20, 1], int64[]{4}, float16[8])"
                 "(float64[2, 90, 1], int64[]{20}, float64[37], int64[]{37})",
  };
}

}  // namespace svengine::ops
