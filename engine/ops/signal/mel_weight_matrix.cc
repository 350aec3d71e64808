// MelWeightMatrix: triangles that sum a linear spectrum into bands of equal width on the mel scale, mel(f) = 2595 log10(1 +
// f/700). A few thousand numbers made of five, which are known when the node is planned.
#include <cmath>
#include <cstring>

#include "engine/ops/element.h"
#include "engine/ops/infer_util.h"
#include "engine/ops/tensor/copy_common.h"

namespace svengine::ops {
namespace {

constexpr DTypeSet kMelTypes = kNumericTypes | DTypeSet{DType::bf16};
constexpr int64_t kMostMelElements = int64_t{1} << 26;

struct MelBands {
  int64_t bins = 0, spectrum = 0;  // columns and rows of the result
  std::vector<int64_t> edges;      // bins + 2 positions in the spectrum
};

double mel_number(const Tensor& t) { return number_at(t.type(), t.raw(), 0); }

Result<MelBands> mel_bands(const Tensor* const (&inputs)[5]) {
  const double bins = mel_number(*inputs[0]), length = mel_number(*inputs[1]), rate = mel_number(*inputs[2]);
  const double low = mel_number(*inputs[3]), high = mel_number(*inputs[4]);
  if (bins < 0 || length < 0 || rate <= 0)
    return unimplemented("{} bins of {} points at rate {}: none may be negative, the rate positive", bins, length, rate);
  MelBands mel;
  mel.bins = static_cast<int64_t>(std::min(bins, 0x1p40));
  mel.spectrum = static_cast<int64_t>(std::min(length, 0x1p40)) / 2 + 1;
  if (mel.bins > kMostMelElements || mel.spectrum > kMostMelElements || mel.bins * mel.spectrum > kMostMelElements)
    return error("{} bins of {} points give more than {} elements", bins, length, kMostMelElements);
  const double low_mel = 2595 * std::log10(1 + low / 700), high_mel = 2595 * std::log10(1 + high / 700);
  const double step = (high_mel - low_mel) / (bins + 2);
  for (int64_t i = 0; i < mel.bins + 2; ++i) {
    const double hertz = 700 * (std::pow(10, (static_cast<double>(i) * step + low_mel) / 2595) - 1);
    const double at = std::floor((length + 1) * hertz / rate);
    if (!(at >= 0 && at < static_cast<double>(mel.spectrum)))
      return error("edges {} and {} Hz lead to position {} of a spectrum of {}; needs 0 <= lower <= upper <= rate / 2", low, high,
                   at, mel.spectrum);
    mel.edges.push_back(static_cast<int64_t>(at));
  }
  return mel;
}

Status infer_mel_weight_matrix(InferContext& c) {
  const Tensor* inputs[5];
  bool known = true;
  for (size_t i = 0; i < 5; ++i) {
    SV_TRY(require_dtype(c, i, i < 3 ? kIndexTypes : kRealTypes));
    SV_TRY(require_single(c, i));
    inputs[i] = c.constant(i);
    known = known && inputs[i];
  }
  SV_ASSIGN(const DType type, dtype_attribute(c.attributes(), "output_datatype", DType::f32, kMelTypes));
  if (!known) {
    c.set(0, type, unknown_dims(2));
    return {};
  }
  SV_ASSIGN(const MelBands mel, mel_bands(inputs));
  c.set(0, type, Shape{Dim(mel.spectrum), Dim(mel.bins)});
  return {};
}

/// Up from edge i to i + 1, down to i + 2.
std::vector<double> mel_triangles(const MelBands& mel) {
  std::vector<double> out(static_cast<size_t>(mel.spectrum * mel.bins));
  for (int64_t i = 0; i < mel.bins; ++i) {
    const auto at = static_cast<size_t>(i);
    const int64_t left = mel.edges[at], peak = mel.edges[at + 1], right = mel.edges[at + 2];
    const auto set = [&](int64_t row, double value) { out[static_cast<size_t>(row * mel.bins + i)] = value; };
    if (peak == left)
      set(peak, 1);
    else
      for (int64_t j = left; j <= peak; ++j) set(j, static_cast<double>(j - left) / static_cast<double>(peak - left));
    for (int64_t j = peak; j < right; ++j) set(j, static_cast<double>(right - j) / static_cast<double>(right - peak));
  }
  return out;
}

Status lower_mel_weight_matrix(LowerContext& c) {
  const Tensor* inputs[5];
  for (size_t i = 0; i < 5; ++i) {
    inputs[i] = c.constant(i);
    if (!inputs[i]) return error("{} is not known when the node is planned", c.node().op().inputs.described(i));
  }
  SV_ASSIGN(const MelBands mel, mel_bands(inputs));
  const std::vector<double> values = mel_triangles(mel);
  const DType type = c.out_type().dtype;
  std::vector<std::byte> bytes(values.size() * size_of(type));
  for (size_t i = 0; i < values.size(); ++i) {
    const Tensor element = scalar_of(type, values[i]);
    std::memcpy(bytes.data() + i * size_of(type), element.raw(), size_of(type));
  }
  emit_known(c, std::span<const std::byte>(bytes), 0);
  return {};
}

}  // namespace

OpDef define_mel_weight_matrix() {
  return {
      .name = "MelWeightMatrix",
      .since = 17,
      .inputs = "num_mel_bins, dft_length, sample_rate, lower_edge_hertz, upper_edge_hertz",
      .attributes = {{"output_datatype", AttributeKind::kInt, false, 1}},
      .infer = infer_mel_weight_matrix,
      .lower = lower_mel_weight_matrix,
      .types = {{"T1", kIndexTypes, {0, 1, 2}}, {"T2", kRealTypes, {3, 4}}},
      .traits = {.shape_inputs = {0, 1, 2, 3, 4}},
      .samples = "(int64[]{8}, int64[]{16}, int64[]{8192}, float32[]{0.0}, float32[]{4096.0}) {output_datatype = 1}"
                 "(int64[]{5}, int64[]{33}, int64[]{8000}, float32[]{50.0}, float32[]{3000.0}) {output_datatype = 11}"
                 "(int64[]{0}, int64[]{4}, int64[]{100}, float32[]{0.0}, float32[]{10.0}) {output_datatype = 1}"
                 "(int64[]{4}, int64[]{64}, int64[]{1000}, float32[]{0.0}, float32[]{400.0}) {output_datatype = 10}"
                 "(int64[]{4}, int64[]{64}, int64[]{1000}, float32[]{0.0}, float32[]{400.0}) {output_datatype = 7}",
  };
}

}  // namespace svengine::ops
