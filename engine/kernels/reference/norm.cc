#include "engine/kernels/reference/norm.h"

#include <cmath>

namespace svengine::kernels {

namespace {

std::vector<double> affine(std::vector<double> y, const std::vector<double>& scale, const std::vector<double>& bias) {
  for (size_t i = 0; i < y.size(); ++i) {
    if (!scale.empty()) y[i] *= scale[i];
    if (!bias.empty()) y[i] += bias[i];
  }
  return y;
}

}  // namespace

ReferenceMoments reference_moments(const std::vector<double>& values) {
  double sum = 0, squares = 0;
  for (double v : values) sum += v;
  const double mean = sum / static_cast<double>(values.size());
  for (double v : values) squares += (v - mean) * (v - mean);
  return {static_cast<double>(mean), static_cast<double>(squares / static_cast<double>(values.size()))};
}

std::vector<double> reference_layer_norm(const std::vector<double>& t, const std::vector<double>& scale,
                                         const std::vector<double>& bias, double epsilon) {
  const ReferenceMoments m = reference_moments(t);
  std::vector<double> y;
  for (double v : t) y.push_back((v - m.mean) / std::sqrt(m.variance + epsilon));
  return affine(y, scale, bias);
}

std::vector<double> reference_rms_norm(const std::vector<double>& t, const std::vector<double>& scale,
                                       const std::vector<double>& bias, double epsilon) {
  double squares = 0;
  for (double v : t) squares += v * v;
  std::vector<double> y;
  for (double v : t) y.push_back(v / std::sqrt(squares / static_cast<double>(t.size()) + epsilon));
  return affine(y, scale, bias);
}

std::vector<double> reference_group_norm(const GroupNormArgs& args) {
  const int64_t channels = args.channels / args.groups, n = channels * args.spatial;
  std::vector<double> y;
  for (int64_t line = 0; line < args.batch * args.groups; ++line) {
    std::vector<double> t(args.x + line * n, args.x + (line + 1) * n), scale, bias;
    for (int64_t i = 0; i < n; ++i) {
      const int64_t c = line % args.groups * channels + i / args.spatial;
      scale.push_back(args.scale ? args.scale[c] : 1);
      bias.push_back(args.bias ? args.bias[c] : 0);
    }
    for (double v : reference_layer_norm(t, scale, bias, args.epsilon)) y.push_back(v);
  }
  return y;
}

std::vector<double> reference_local_response(const LocalResponseArgs& args) {
  std::vector<double> y;
  for (int64_t i = 0; i < args.batch * args.channels * args.spatial; ++i) {
    const int64_t c = i / args.spatial % args.channels;
    double squares = 0;
    for (int64_t d = -((args.size - 1) / 2); d <= args.size / 2; ++d) {
      if (c + d < 0 || c + d >= args.channels) continue;
      const double v = args.x[i + d * args.spatial];
      squares += v * v;
    }
    y.push_back(args.x[i] /
                std::pow(args.bias + double{args.alpha} / static_cast<double>(args.size) * squares, double{args.beta}));
  }
  return y;
}

}  // namespace svengine::kernels
