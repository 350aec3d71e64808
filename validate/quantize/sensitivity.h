// What quantising each node by itself does to the outputs, and which nodes to leave out for a wanted precision.
#pragma once
#include <functional>
#include <string>
#include <vector>

#include "validate/quantize/noise.h"
#include "validate/quantize/quantize.h"

namespace svengine::validate {

struct NodeSensitivity {
  std::string selector;  // select_nodes() finds the node by it
  std::string op;
  std::vector<OutputNoise> outputs;  // with this node quantised, and its values, alone

  double snr() const { return worst_snr(outputs); }
};

struct SensitivityOptions {
  StaticOptions quantization;
  /// Called before every trial with how many are done, and how many there are (0: not known).
  std::function<void(size_t done, size_t all)> progress = {};
};

struct Exclusions {
  std::vector<std::string> selectors;
  double snr = 0;  // of the network with all other nodes quantised, measured; infinity when none is left
};

/// Trials on one network and one set of samples: the ranges are measured once, and the outputs they are compared with computed once.
class SensitivityTrials {
 public:
  /// `graph` is prepared (quantize.h) and, like `samples`, outlives this.
  static Result<SensitivityTrials> start(const Graph& graph, InputSamples& samples, SensitivityOptions options);

  /// The selected nodes, the one that harms most first. A trial a node.
  Result<std::vector<NodeSensitivity>> rank();
  /// All of them quantised.
  Result<std::vector<OutputNoise>> all() { return measure(selectors_); }
  /// The fewest of the first nodes of the ranking without which the outputs keep a ratio of `snr` dB. Noise of single nodes, added up, says
  /// where to begin; what is answered was measured.
  Result<Exclusions> exclusions_for(const std::vector<NodeSensitivity>& ranking, double snr);

 private:
  SensitivityTrials(const Graph& graph, InputSamples& samples, SensitivityOptions options, std::unique_ptr<Session> reference)
      : graph_(graph), samples_(samples), options_(std::move(options)), reference_(std::move(reference)) {}
  Result<std::vector<OutputNoise>> measure(const std::vector<std::string>& selectors);
  Result<double> snr_without(const std::vector<NodeSensitivity>& ranking, size_t excluded);

  const Graph& graph_;
  InputSamples& samples_;
  SensitivityOptions options_;
  ReferenceOutputs reference_;
  std::vector<std::string> selectors_;  // of the nodes that may be quantised, in order
  std::unordered_map<std::string, Range> ranges_;
  size_t trials_ = 0;
};

/// A list of exclusions as a file: a selector a line; what is behind '#' says why.
std::string exclusions_text(const Exclusions& exclusions, const std::vector<NodeSensitivity>& ranking, double wanted_snr);
/// The selectors in such a text.
std::vector<std::string> parse_exclusions(const std::string& text);

}  // namespace svengine::validate
