// What `svengine quantize` and `svengine sensitivity` share: options, and the network to quantise.
#pragma once
#include <memory>
#include <string>
#include <vector>

#include "importers/onnx/model.h"
#include "tools/support/json.h"
#include "tools/support/options.h"
#include "tools/support/samples.h"
#include "validate/quantize/noise.h"
#include "validate/quantize/quantize.h"

namespace svengine::tool {

struct QuantizationOptions {
  ModelFile model;
  SampleOptions samples;
  RuntimeOptions runtime;
  std::string method = "min-max", activations = "uint8";
  double percentile = 99.999;
  bool per_tensor = false;
  std::vector<std::string> exclude, only;  // as given: of `exclude`, some are files

  /// Reads the files of exclusions.
  Result<validate::StaticOptions> resolve() const;
};
void add_quantization_options(Command& command, QuantizationOptions& options);

/// The model, its graph prepared for quantisation.
Result<Model> load_prepared(const QuantizationOptions& options, const SessionOptions& session);

/// "37.2 dB", "equal".
std::string snr_text(double snr);
Json noise_json(const std::vector<validate::OutputNoise>& outputs);

}  // namespace svengine::tool
