#include "validate/quantize/noise.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "validate/compare/element.h"

namespace svengine::validate {

double Noise::snr() const {
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  if (noise == 0) return kInfinity;
  if (!std::isfinite(noise) || signal == 0) return -kInfinity;
  return 10 * std::log10(signal / noise);
}

double Noise::relative() const { return noise == 0 ? 0 : std::sqrt(noise / signal); }

void add_noise(Noise& to, const Tensor& expected, const Tensor& got) {
  if (expected.type() != got.type() || expected.dims() != got.dims()) {
    to.mismatch = fmt::format("{}, not {}", type_text(got), type_text(expected));
    to.noise = std::numeric_limits<double>::infinity();
    return;
  }
  for (int64_t i = 0; !is_handle(expected.type()) && i < expected.count(); ++i) {
    const double x = element_as_double(expected, i), y = element_as_double(got, i);
    ++to.elements;
    if (x == y || (std::isnan(x) && std::isnan(y))) {
      to.signal += std::isfinite(x) ? x * x : 0;
      continue;
    }
    const double difference = std::isfinite(x) && std::isfinite(y) ? y - x : std::numeric_limits<double>::infinity();
    to.signal += std::isfinite(x) ? x * x : 0;
    to.noise += difference * difference;
    to.largest = std::max(to.largest, std::abs(difference));
  }
}

Result<std::vector<Tensor>> ReferenceOutputs::of(size_t sample, const std::vector<Tensor>& inputs) {
  if (const auto found = kept_.find(sample); found != kept_.end()) return found->second;
  SV_ASSIGN(std::vector<Tensor> outputs, session_->run(inputs));
  int64_t bytes = 0;
  for (const Tensor& t : outputs) bytes += static_cast<int64_t>(t.byte_size());
  if (bytes <= room_) room_ -= bytes, kept_.emplace(sample, outputs);
  return outputs;
}

Result<std::vector<OutputNoise>> compare_on_samples(ReferenceOutputs& expected, Session& got, InputSamples& samples) {
  std::vector<OutputNoise> out;
  for (const Session::Port& port : expected.ports()) out.push_back({port.name, {}});
  if (got.outputs().size() != out.size()) return error("has {} outputs, not {}", got.outputs().size(), out.size());
  for (size_t s = 0; s < samples.size(); ++s) {
    SV_ASSIGN(const std::vector<Tensor> inputs, samples.read(s));
    SV_ASSIGN(const std::vector<Tensor> x, expected.of(s, inputs));
    const Result<std::vector<Tensor>> y = got.run(inputs);
    if (!y.ok()) return Error(y.error()).in(samples.name(s));
    for (size_t i = 0; i < out.size(); ++i) add_noise(out[i].noise, x[i], (*y)[i]);
  }
  return out;
}

double worst_snr(const std::vector<OutputNoise>& outputs) {
  double worst = std::numeric_limits<double>::infinity();
  for (const OutputNoise& o : outputs) worst = std::min(worst, o.noise.snr());
  return worst;
}

}  // namespace svengine::validate
