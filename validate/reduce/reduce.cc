#include "validate/reduce/reduce.h"

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <map>
#include <memory>
#include <utility>

#include "engine/ops/registry.h"
#include "importers/io/names.h"
#include "importers/onnx/export_body.h"
#include "importers/onnx/import.h"
#include "importers/onnx/support_check.h"
#include "importers/onnx/write_model.h"
#include "validate/check/schemas.h"
#include "validate/reduce/ddmin.h"
#include "validate/reduce/edit_graph.h"

namespace svengine::validate {
namespace {

constexpr int kMostSimplified = 100;  // nodes whose attributes and inputs are tried one by one

Status write_data(const Recording& recording, const std::string& folder, const char* kind, const std::vector<std::string>& names) {
  for (size_t i = 0; i < names.size(); ++i)
    if (recording.has(names[i])) SV_TRY(recording.save(names[i], fmt::format("{}/{}_{}.pb", folder, kind, i)));
  return {};
}

/// A folder of test data, made anew.
Status write_data_set(const Recording& recording, const std::string& folder, const std::vector<std::string>& inputs,
                      const std::vector<std::string>& outputs) {
  std::error_code problem;
  std::filesystem::remove_all(folder, problem);
  if (!problem) std::filesystem::create_directories(folder, problem);
  if (problem) return error("{}: {}", printable(folder), problem.message());
  SV_TRY(write_data(recording, folder, "input", inputs));
  return write_data(recording, folder, "output", outputs);
}

bool requires_attribute(const Schema& schema, const std::string& name) {
  return std::any_of(schema.attributes.begin(), schema.attributes.end(), [&](const SchemaAttribute& a) { return a.required && a.name == name; });
}

class Reducer {
 public:
  Reducer(onnx::OnnxFile& file, const Recording& recording, const FaultCheck& check, const ReduceOptions& options)
      : file_(file), original_(file.model()), recording_(recording), check_(check), options_(options),
        cutter_(original_, [this](const std::string& name) { return type_of(name); }) {}

  Result<ReduceReport> run() {
    for (int i = 0; i < cutter_.node_count(); ++i) best_.nodes.push_back(i);
    report_.nodes_before = cutter_.node_count();
    stage_ = "the whole model";
    SV_ASSIGN(const bool faulty, test(best_));
    if (!faulty) return not_faulty();
    importable_ = import_onnx(candidate_path()).ok();
    stage_ = "bisecting";
    SV_TRY(nodes_by(halve));
    SV_TRY(nodes_by(bisect_range));
    stage_ = "removing nodes";
    SV_TRY(nodes_by(ddmin));
    stage_ = "simplifying";
    SV_TRY(drop_outputs());
    SV_TRY(drop_parts());
    if (options_.freeze) SV_TRY(freeze());
    SV_ASSIGN(Variant variant, variant_of(best_));
    stage_ = "shrinking";
    if (importable_ && !options_.exact) {
      SV_ASSIGN(report_.shrunk, shrink(variant, {.file = file_, .test = [this](Variant& v) { return test(v); }, .most = kMostSimplified}));
    }
    return finish(std::move(variant));
  }

 private:
  double seconds() const { return std::chrono::duration<double>(std::chrono::steady_clock::now() - start_).count(); }
  std::string candidate_path() const { return options_.scratch + "/model.onnx"; }

  Error not_faulty() const {
    const Result<CutModel> whole = cutter_.cut(best_);
    if (!whole.ok()) return error("the model cannot be written as a candidate: {}", whole.error().message());
    return error("the model as a whole does not have the fault, so there is nothing to reduce");
  }

  std::optional<onnx_proto::ValueInfoProto> type_of(const std::string& name) const {
    if (auto recorded = recording_.type(name)) return recorded;
    for (const auto& info : original_.graph().value_info())
      if (info.name() == name && info.type().value_case() != onnx_proto::TypeProto::VALUE_NOT_SET) return info;
    return std::nullopt;
  }

  bool out_of_time() {
    if (report_.checks > 0 && ((options_.max_seconds > 0 && seconds() > options_.max_seconds) || (options_.stop && options_.stop())))
      stopped_ = true;
    return stopped_;
  }

  void tell() const {
    if (options_.progress) options_.progress({stage_, nodes_ > 0 ? nodes_ : static_cast<int>(best_.nodes.size()), report_.checks, seconds()});
  }

  /// Whether a part of the model has the fault; it is the best one then. Parts that cannot be cut out have it not.
  Result<bool> test(const Cut& cut, bool must_import = false) {
    const auto known = known_.find(cut);
    if (known != known_.end()) return known->second;
    if (cut.nodes.empty() || out_of_time()) return false;
    Result<CutModel> model = cutter_.cut(cut);
    if (!model.ok()) return known_[cut] = false;
    SV_TRY(add_frozen(cut, model->model));
    SV_TRY(write(model->model));
    if (must_import && !import_onnx(candidate_path()).ok()) return known_[cut] = false;
    SV_ASSIGN(const bool faulty, ask({candidate_path(), model->inputs, model->outputs, is_exact(cut), &recording_}));
    if (faulty) best_ = cut;
    tell();
    return known_[cut] = faulty;
  }

  /// Attributes and inputs that have their defaults instead.
  static bool is_exact(const Cut& cut) { return cut.dropped_attributes.empty() && cut.dropped_inputs.empty(); }

  Status write(const onnx_proto::ModelProto& model) {
    file_.model() = model;
    return onnx::write_model(file_, candidate_path(), {.data = onnx::WriteOptions::Data::embedded});
  }

  Result<bool> ask(const Candidate& candidate) {
    if (options_.write_data)
      SV_TRY(write_data_set(*candidate.data, options_.scratch + "/test_data_set_0", candidate.inputs,
                            candidate.exact ? candidate.outputs : std::vector<std::string>()));
    ++report_.checks;
    return check_(candidate);
  }

  /// A model that is no part of the whole: it must be one that can be imported, and is given its outputs' shapes.
  Result<bool> test(Variant& variant) {
    if (out_of_time()) return false;
    for (auto& output : *variant.model.mutable_graph()->mutable_output()) output.clear_type();
    SV_TRY(write(variant.model));
    const Result<Model> imported = import_onnx(candidate_path());
    if (!imported.ok()) return false;
    for (int i = 0; i < variant.model.graph().output_size(); ++i)
      SV_TRY(onnx::export_value_info(*imported->graph.outputs()[static_cast<size_t>(i)], *variant.model.mutable_graph()->mutable_output(i)));
    SV_TRY(write(variant.model));
    SV_ASSIGN(const bool faulty, ask({candidate_path(), variant.inputs, variant.outputs, false, &variant.data}));
    if (faulty) nodes_ = variant.model.graph().node_size();
    tell();
    return faulty;
  }

  Result<Variant> variant_of(const Cut& cut) {
    SV_ASSIGN(CutModel model, cutter_.cut(cut));
    SV_TRY(add_frozen(cut, model.model));
    return Variant{std::move(model.model), std::move(model.inputs), std::move(model.outputs), recording_};
  }

  template <class Search>
  Status nodes_by(const Search& search) {
    const auto with_nodes = [this](const std::vector<int>& nodes) { return test(Cut{nodes}); };
    const Result<std::vector<int>> done = search(best_.nodes, with_nodes);
    if (!done.ok()) return Error(done.error());
    return {};
  }

  Status drop_outputs() {
    SV_ASSIGN(const CutModel model, cutter_.cut(best_));
    if (model.outputs.size() < 2) return {};
    std::vector<int> all;
    for (size_t i = 0; i < model.outputs.size(); ++i) all.push_back(static_cast<int>(i));
    const Cut before = best_;
    const auto with_outputs = [&](const std::vector<int>& kept) {
      Cut cut = before;
      for (const int i : all)
        if (std::find(kept.begin(), kept.end(), i) == kept.end()) cut.dropped_outputs.insert(model.outputs[static_cast<size_t>(i)]);
      return test(cut);
    };
    const Result<std::vector<int>> done = ddmin(all, with_outputs);
    if (!done.ok()) return Error(done.error());
    return {};
  }

  /// Optional inputs and attributes, one by one; only where the engine can say that the rest is still a model.
  Status drop_parts() {
    if (options_.exact || !importable_ || best_.nodes.size() > kMostSimplified) return {};
    const std::vector<int> nodes = best_.nodes;
    for (const int n : nodes) {
      const onnx_proto::NodeProto& node = original_.graph().node(n);
      const std::string domain(canonical_domain(node.domain()));
      const OpDef* op = all_ops().find(domain, node.op_type());
      if (!op) continue;
      const bool is_loop = node.op_type() == "Loop";  // which might never end without its number of trips, or its condition
      const Schema* schema = Schemas::get().find(domain, node.op_type(), onnx::opset_of(original_, domain));
      const int least = schema ? schema->least_inputs : 0;  // which older opsets have more of
      for (int slot = node.input_size(); slot-- > least;) {
        if (node.input(slot).empty() || op->inputs.is_required(static_cast<size_t>(slot)) || is_loop) continue;
        Cut cut = best_;
        cut.dropped_inputs.insert({n, slot});
        SV_TRY(attempt(cut));
      }
      for (const auto& attribute : node.attribute()) {
        if (schema && requires_attribute(*schema, attribute.name())) continue;
        Cut cut = best_;
        cut.dropped_attributes.insert({n, attribute.name()});
        SV_TRY(attempt(cut));
      }
    }
    return {};
  }

  /// A weight that is no input needs IR version 4.
  Status freeze() {
    if (original_.ir_version() < 4) return {};
    SV_ASSIGN(const CutModel model, cutter_.cut(best_));
    for (const std::string& name : model.inputs) {
      if (!recording_.has(name)) continue;
      Cut cut = best_;
      cut.frozen.insert(name);
      SV_TRY(attempt(cut));
    }
    return {};
  }

  Status add_frozen(const Cut& cut, onnx_proto::ModelProto& model) {
    for (const std::string& name : cut.frozen) {
      if (!frozen_.contains(name)) {
        SV_ASSIGN(Tensor value, recording_.tensor(name));
        frozen_[name] = file_.add(name, std::move(value));
      }
      *model.mutable_graph()->add_initializer() = frozen_[name];
    }
    return {};
  }

  Status attempt(const Cut& cut) {
    const Result<bool> done = test(cut, importable_);
    if (!done.ok()) return Error(done.error());
    return {};
  }

  Result<ReduceReport> finish(Variant model) {
    report_.nodes_after = model.model.graph().node_size();
    report_.dropped_attributes = static_cast<int>(best_.dropped_attributes.size());
    report_.dropped_inputs = static_cast<int>(best_.dropped_inputs.size());
    report_.dropped_outputs = static_cast<int>(best_.dropped_outputs.size());
    for (const auto& node : model.model.graph().node()) report_.operators.push_back(operator_key(node));
    report_.inputs = std::move(model.inputs), report_.outputs = std::move(model.outputs);
    for (const std::string& name : report_.inputs)
      if (!model.data.has(name)) report_.without_data.push_back(name);
    report_.exact = is_exact(best_) && !report_.shrunk.any();
    report_.complete = !stopped_;
    report_.seconds = seconds();
    report_.frozen_inputs = static_cast<int>(best_.frozen.size());
    report_.data = std::move(model.data);
    if (!report_.exact) SV_TRY(record_outputs(model.model));
    file_.model() = std::move(model.model);
    return std::move(report_);
  }

  /// What the reduced model computes now, where it is sure to end.
  Status record_outputs(onnx_proto::ModelProto& model) {
    for (const std::string& name : report_.outputs) report_.data.forget(name);
    bool ends = true;
    for_each_graph(*model.mutable_graph(), [&](const onnx_proto::GraphProto& graph) {
      for (const auto& node : graph.node()) ends = ends && (node.op_type() != "Loop" || (node.input_size() > 0 && !node.input(0).empty()));
    });
    if (!ends) return {};
    SV_TRY(write(model));
    const Result<Model> imported = import_onnx(candidate_path());
    if (!imported.ok()) return {};
    std::vector<Tensor> inputs;
    for (const Value* input : imported->graph.inputs()) {
      if (!report_.data.has(input->name())) return {};
      SV_ASSIGN(Tensor value, report_.data.tensor(input->name()));
      inputs.push_back(std::move(value));
    }
    const std::string folder = options_.scratch + "/outputs";
    std::error_code problem;
    std::filesystem::create_directories(folder, problem);
    if (problem) return error("{}: {}", printable(folder), problem.message());
    const Result<Recording> results = Recording::make(candidate_path(), report_.outputs, inputs, options_.session, folder);
    if (results.ok()) report_.data.take(*results, report_.outputs);
    return {};
  }

  onnx::OnnxFile& file_;
  const onnx_proto::ModelProto original_;
  const Recording& recording_;
  const FaultCheck& check_;
  const ReduceOptions& options_;
  const Cutter cutter_;
  const std::chrono::steady_clock::time_point start_ = std::chrono::steady_clock::now();
  Cut best_;
  std::map<Cut, bool> known_;
  std::map<std::string, onnx_proto::TensorProto> frozen_;  // placeholders of inputs that have become weights
  ReduceReport report_;
  std::string stage_;
  bool importable_ = false, stopped_ = false;
  int nodes_ = 0;  // of the best variant, when there is one
};

struct Results {
  std::vector<std::string> names;
  std::vector<Tensor> tensors;
};

Result<Results> run_candidate(const Candidate& candidate, const SessionOptions& options) {
  SV_ASSIGN(Model model, import_onnx(candidate.model));
  SV_ASSIGN(const auto session, Session::create(std::move(model.graph), options));
  std::vector<Tensor> inputs;
  for (const Session::Port& port : session->inputs()) {
    SV_ASSIGN(const Tensor mapped, candidate.data->tensor(port.name));
    if (is_handle(mapped.type())) {
      inputs.push_back(mapped);
    } else {
      SV_ASSIGN(MutableTensor aligned, mapped.aligned_copy());
      inputs.push_back(std::move(aligned));
    }
  }
  Results out;
  SV_ASSIGN(out.tensors, session->run(inputs));
  for (const Session::Port& port : session->outputs()) out.names.push_back(port.name);
  return out;
}

/// Runs a candidate and compares; an error where it cannot be run.
Result<bool> run_and_compare(const Candidate& candidate, const Recording& recording, const SessionOptions& options,
                             const Tolerance& tolerance) {
  SV_ASSIGN(const Results got, run_candidate(candidate, options));
  for (size_t i = 0; i < got.names.size(); ++i) {
    if (!recording.has(got.names[i])) continue;
    SV_ASSIGN(const Tensor expected, recording.tensor(got.names[i]));
    if (!compare(got.tensors[i], expected, tolerance).passed) return true;
  }
  return false;
}

Result<bool> run_twice(const Candidate& candidate, const SessionOptions& options, const SessionOptions& reference, const Tolerance& tolerance) {
  SV_ASSIGN(const Results expected, run_candidate(candidate, reference));
  SV_ASSIGN(const Results got, run_candidate(candidate, options));
  for (size_t i = 0; i < got.tensors.size(); ++i)
    if (!compare(got.tensors[i], expected.tensors[i], tolerance).passed) return true;
  return false;
}

}  // namespace

Result<ReduceReport> reduce_model(onnx::OnnxFile& file, const Recording& recording, const FaultCheck& check, const ReduceOptions& options) {
  return Reducer(file, recording, check, options).run();
}

Status save_reduced(const onnx::OnnxFile& file, const ReduceReport& report, const std::string& folder) {
  std::error_code problem;
  std::filesystem::create_directories(folder, problem);
  if (problem) return error("{}: {}", printable(folder), problem.message());
  SV_TRY(write_data_set(report.data, folder + "/test_data_set_0", report.inputs, report.outputs));
  return onnx::write_model(file, folder + "/reduced.onnx", {.data = onnx::WriteOptions::Data::embedded});
}

FaultCheck differs_between(const SessionOptions& session, const SessionOptions& reference, const Tolerance& tolerance) {
  const auto is_first = std::make_shared<bool>(true);
  return [session, reference, tolerance, is_first](const Candidate& candidate) -> Result<bool> {
    Result<bool> differs = run_twice(candidate, session, reference, tolerance);
    if (std::exchange(*is_first, false)) return differs;
    return differs.ok() && *differs;
  };
}

FaultCheck differs_from_recording(const Recording& recording, const SessionOptions& session, const Tolerance& tolerance) {
  const auto is_first = std::make_shared<bool>(true);
  return [&recording, session, tolerance, is_first](const Candidate& candidate) -> Result<bool> {
    if (!candidate.exact) return false;
    Result<bool> differs = run_and_compare(candidate, recording, session, tolerance);
    if (std::exchange(*is_first, false)) return differs;
    return differs.ok() && *differs;
  };
}

}  // namespace svengine::validate
