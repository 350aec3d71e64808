#include "validate/quantize/sensitivity.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace svengine::validate {

Result<SensitivityTrials> SensitivityTrials::start(const Graph& graph, InputSamples& samples, SensitivityOptions options) {
  SV_ASSIGN(std::unique_ptr<Session> reference, Session::create(graph.clone(), options.quantization.calibration.session));
  SensitivityTrials out(graph, samples, std::move(options), std::move(reference));
  SV_ASSIGN(std::vector<Node*> nodes, select_nodes(graph, out.options_.quantization.nodes));
  if (nodes.empty()) return error("no node is left to quantise; Conv, ConvTranspose, MatMul and Gemm of float32 can be");
  for (const Node* node : nodes) out.selectors_.push_back(selector_of(graph, *node));
  SV_ASSIGN(out.ranges_, calibrate_scheme(graph, make_scheme(graph, nodes), samples, out.options_.quantization.calibration));
  return out;
}

Result<std::vector<OutputNoise>> SensitivityTrials::measure(const std::vector<std::string>& selectors) {
  Graph copy = graph_.clone();
  std::vector<Node*> nodes;
  for (const auto& node : copy.nodes())
    if (is_quantizable(*node) && std::find(selectors.begin(), selectors.end(), selector_of(copy, *node)) != selectors.end())
      nodes.push_back(node.get());
  SV_TRY(insert_quantization(copy, make_scheme(copy, std::move(nodes)), ranges_, options_.quantization.insert));
  SV_ASSIGN(const std::unique_ptr<Session> session, Session::create(std::move(copy), options_.quantization.calibration.session));
  ++trials_;
  return compare_on_samples(reference_, *session, samples_);
}

Result<std::vector<NodeSensitivity>> SensitivityTrials::rank() {
  std::vector<NodeSensitivity> out;
  std::unordered_map<std::string, std::string> ops;
  for (const auto& node : graph_.nodes())
    if (is_quantizable(*node)) ops.emplace(selector_of(graph_, *node), node->op().name);
  for (size_t i = 0; i < selectors_.size(); ++i) {
    if (options_.progress) options_.progress(i, selectors_.size());
    SV_ASSIGN(std::vector<OutputNoise> noise, measure({selectors_[i]}));
    out.push_back({selectors_[i], ops[selectors_[i]], std::move(noise)});
  }
  std::stable_sort(out.begin(), out.end(), [](const NodeSensitivity& a, const NodeSensitivity& b) { return a.snr() < b.snr(); });
  return out;
}

Result<double> SensitivityTrials::snr_without(const std::vector<NodeSensitivity>& ranking, size_t excluded) {
  std::vector<std::string> kept;
  for (size_t i = excluded; i < ranking.size(); ++i) kept.push_back(ranking[i].selector);
  if (kept.empty()) return std::numeric_limits<double>::infinity();
  if (options_.progress) options_.progress(trials_, 0);
  SV_ASSIGN(const std::vector<OutputNoise> noise, measure(kept));
  return worst_snr(noise);
}

Result<Exclusions> SensitivityTrials::exclusions_for(const std::vector<NodeSensitivity>& ranking, double snr) {
  // Noise of independent sources adds up: 10^(-snr / 10) of the signal each.
  const auto share = [](double decibels) { return std::pow(10, -decibels / 10); };
  double sum = 0;
  size_t guess = ranking.size();
  while (guess > 0 && sum + share(ranking[guess - 1].snr()) <= share(snr)) sum += share(ranking[--guess].snr());
  // Below `low` it is known to be too few, from `high` on to be enough: leaving out all is.
  size_t low = 0, high = ranking.size(), at = std::min(guess, high);
  double reached = std::numeric_limits<double>::infinity();
  for (size_t step = 1; low < high; step *= 2) {
    SV_ASSIGN(const double measured, snr_without(ranking, at));
    if (measured >= snr) high = at, reached = measured;
    else low = at + 1;
    at = measured >= snr ? high - std::min(step, high - low) : std::min(low + step - 1, high);
    if (at >= high && low < high) at = low + (high - low) / 2;
  }
  Exclusions out{{}, reached};
  for (size_t i = 0; i < high; ++i) out.selectors.push_back(ranking[i].selector);
  return out;
}

std::string exclusions_text(const Exclusions& exclusions, const std::vector<NodeSensitivity>& ranking, double wanted_snr) {
  std::string out = fmt::format("# Left out for {:g} dB; with all others quantised {:.1f} dB were measured.\n", wanted_snr, exclusions.snr);
  for (size_t i = 0; i < exclusions.selectors.size(); ++i)
    out += fmt::format("{}  # {}, alone {:.1f} dB\n", exclusions.selectors[i], ranking[i].op, ranking[i].snr());
  return out;
}

std::vector<std::string> parse_exclusions(const std::string& text) {
  std::vector<std::string> out;
  for (size_t begin = 0; begin < text.size();) {
    const size_t end = std::min(text.find('\n', begin), text.size());
    std::string line = text.substr(begin, std::min(end, text.find('#', begin)) - begin);
    while (!line.empty() && (line.back() == ' ' || line.back() == '\t' || line.back() == '\r')) line.pop_back();
    if (!line.empty()) out.push_back(std::move(line));
    begin = end + 1;
  }
  return out;
}

}  // namespace svengine::validate
