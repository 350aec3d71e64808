#include "validate/quantize/calibrate.h"

#include <algorithm>
#include <functional>
#include <unordered_map>

#include "importers/io/names.h"

namespace svengine::validate {
namespace {

using ValueMap = std::unordered_map<std::string, Value*>;

ValueMap values_of(const Graph& graph) {
  ValueMap out;
  graph.for_each_value([&](Value& v) { out.emplace(v.name(), &v); });
  return out;
}

/// Some of the wanted values, which one session gives.
struct Part {
  std::unique_ptr<Session> session;
  std::vector<std::pair<size_t, size_t>> outputs;  // number of the value, and of the session's output
  std::vector<std::pair<size_t, size_t>> inputs;   // likewise, of values that are the network's inputs
};

Result<Part> make_part(const Graph& graph, const std::vector<std::string>& names, size_t begin, size_t end, const SessionOptions& options) {
  Part part;
  Graph copy = graph.clone();
  const ValueMap values = values_of(copy);
  for (size_t i = begin; i < end; ++i) {
    const auto found = values.find(names[i]);
    if (found == values.end()) return error("the network has no value '{}'", printable(names[i]));
    Value* value = found->second;
    if (value->is_input()) {
      part.inputs.emplace_back(i, std::find(copy.inputs().begin(), copy.inputs().end(), value) - copy.inputs().begin());
      continue;
    }
    const auto place = std::find(copy.outputs().begin(), copy.outputs().end(), value) - copy.outputs().begin();
    part.outputs.emplace_back(i, place);
    if (static_cast<size_t>(place) == copy.outputs().size()) copy.add_output(value);
  }
  if (part.outputs.empty()) return part;
  SV_ASSIGN(part.session, Session::create(std::move(copy), options));
  return part;
}

/// Bytes of each value when the network runs on that sample; a share of the limit where only the run will tell.
Result<std::vector<int64_t>> sizes_of(const Graph& graph, const std::vector<std::string>& names, const std::vector<Tensor>& sample,
                                      const CalibrationOptions& options) {
  constexpr int64_t kShareOfUnknown = 16;
  std::vector<Dims> dims;
  for (const Tensor& t : sample) dims.push_back(t.dims());
  SessionOptions with_kernels = options.session;
  SV_TRY(choose_kernels(with_kernels));
  const Result<Graph> concrete = specialize(graph, dims, {}, pass_context(*with_kernels.kernels));
  const ValueMap values = concrete.ok() ? values_of(*concrete) : ValueMap();
  std::vector<int64_t> out;
  for (const std::string& name : names) {
    const auto found = values.find(name);
    const bool known = found != values.end() && found->second->type.shape.is_static();
    out.push_back(known ? element_count(*found->second->type.shape.concrete()) * static_cast<int64_t>(sizeof(float))
                        : options.most_bytes / kShareOfUnknown);
  }
  return out;
}

using Observe = std::function<Status(size_t value, const Tensor&)>;

/// Every value of every sample, once.
Status observe(const Graph& graph, const std::vector<std::string>& names, InputSamples& samples, const CalibrationOptions& options,
               const std::vector<int64_t>& sizes, const Observe& see) {
  for (size_t begin = 0, end = 0; begin < names.size(); begin = end) {
    int64_t bytes = 0;
    do bytes += sizes[end++];
    while (end < names.size() && bytes + sizes[end] <= options.most_bytes);
    SV_ASSIGN(Part part, make_part(graph, names, begin, end, options.session));
    for (size_t s = 0; s < samples.size(); ++s) {
      SV_ASSIGN(const std::vector<Tensor> inputs, samples.read(s));
      const auto at_sample = [&](Status status) { return status.ok() ? Status() : Status(std::move(status).error().in(samples.name(s))); };
      for (const auto& [value, input] : part.inputs) SV_TRY(at_sample(see(value, inputs[input])));
      if (!part.session) continue;
      Result<std::vector<Tensor>> outputs = part.session->run(inputs);
      if (!outputs.ok()) return std::move(outputs).error().in(samples.name(s));
      for (const auto& [value, output] : part.outputs) SV_TRY(at_sample(see(value, (*outputs)[output])));
    }
  }
  return {};
}

}  // namespace

Result<std::vector<Range>> calibrate(const Graph& graph, const std::vector<std::string>& names, InputSamples& samples,
                                     const CalibrationOptions& options) {
  if (samples.size() == 0) return error("there is no sample to calibrate with");
  SV_ASSIGN(const std::vector<Tensor> first, samples.read(0));
  SV_ASSIGN(const std::vector<int64_t> sizes, sizes_of(graph, names, first, options));
  std::vector<RangeMeter> meters(names.size());
  const auto measure = [&](size_t value, const Tensor& tensor) -> Status {
    if (tensor.type() != DType::f32) return error("value '{}' is {}, not float32", printable(names[value]), name_of(tensor.type()));
    meters[value].add(tensor);
    if (meters[value].not_finite()) return error("value '{}' holds NaN or infinity: its range cannot be measured", printable(names[value]));
    return {};
  };
  SV_TRY(observe(graph, names, samples, options, sizes, measure));
  std::vector<Range> ranges;
  for (const RangeMeter& meter : meters) ranges.push_back(meter.range());
  if (options.method == CalibrationMethod::min_max) return ranges;

  const bool entropy = options.method == CalibrationMethod::entropy;
  std::vector<Histogram> histograms;
  for (const Range& range : ranges) histograms.emplace_back(range, entropy);
  const auto count = [&](size_t value, const Tensor& tensor) { return histograms[value].add(tensor), Status(); };
  SV_TRY(observe(graph, names, samples, options, sizes, count));
  for (size_t i = 0; i < ranges.size(); ++i)
    ranges[i] = entropy ? entropy_range(histograms[i], ranges[i]) : percentile_range(histograms[i], options.percentile);
  return ranges;
}

}  // namespace svengine::validate
