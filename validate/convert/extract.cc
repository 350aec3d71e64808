#include "validate/convert/extract.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <map>
#include <optional>
#include <string_view>
#include <unordered_map>
#include <unordered_set>

#include "importers/io/names.h"
#include "importers/onnx/export_body.h"
#include "importers/onnx/import.h"

namespace svengine::validate {
namespace {

using onnx_proto::GraphProto;
using onnx_proto::NodeProto;
using onnx_proto::ValueInfoProto;
using Names = std::unordered_set<std::string_view>;

class Cutter {
 public:
  Cutter(onnx::OnnxFile& file, const std::vector<std::string>& from, const std::vector<std::string>& to)
      : file_(file), graph_(*file.model().mutable_graph()), from_(from), to_(to) {}

  Status run();

 private:
  Status check_names();
  /// Marks the nodes behind `name`, down to the values of `from`.
  void need(const std::string& name);
  void need_inputs_of(const NodeProto& node);
  Result<ValueInfoProto> declaration(const std::string& name);
  void drop_unneeded();

  onnx::OnnxFile& file_;
  GraphProto& graph_;
  const std::vector<std::string>& from_;
  const std::vector<std::string>& to_;
  std::unordered_map<std::string, int> producer_;  // by output: the node's index
  std::unordered_set<std::string> inputs_, constants_, needed_;
  std::vector<bool> kept_;
  std::vector<std::string> waiting_;
  std::optional<Model> model_;  // for types
};

Status Cutter::check_names() {
  for (int i = 0; i < graph_.node_size(); ++i)
    for (const std::string& name : graph_.node(i).output())
      if (!name.empty()) producer_.emplace(name, i);
  for (const ValueInfoProto& info : graph_.input()) inputs_.insert(info.name());
  for (const auto& tensor : graph_.initializer()) constants_.insert(tensor.name());
  for (const auto& sparse : graph_.sparse_initializer()) constants_.insert(sparse.values().name());
  std::vector<std::string> unknown;
  for (const std::vector<std::string>* names : {&from_, &to_})
    for (const std::string& name : *names)
      if (!producer_.count(name) && !inputs_.count(name) && !constants_.count(name)) unknown.push_back(printable(name));
  if (!unknown.empty()) return error("the graph has no value called {}; `svengine inspect --after import` lists them", fmt::join(unknown, ", "));
  for (const std::vector<std::string>* names : {&from_, &to_})
    for (size_t i = 0; i < names->size(); ++i)
      if (std::find(names->begin(), names->begin() + static_cast<std::ptrdiff_t>(i), (*names)[i]) != names->begin() + static_cast<std::ptrdiff_t>(i))
        return error("'{}' is named twice", printable((*names)[i]));
  for (const std::string& name : to_)
    if (!producer_.count(name)) return error("no node computes '{}', so nothing can be cut out that ends there", printable(name));
  return {};
}

void Cutter::need_inputs_of(const NodeProto& node) {
  for (const std::string& name : node.input())
    if (!name.empty()) waiting_.push_back(name);
  Names inside;
  for (const auto& attribute : node.attribute()) {
    if (attribute.has_g()) onnx::note_read_names(attribute.g(), inside);
    for (const GraphProto& body : attribute.graphs()) onnx::note_read_names(body, inside);
  }
  // A body's own names hide those around it, or may not be the same (SSA): what the graph around has not is its own.
  for (const std::string_view name : inside) waiting_.emplace_back(name);
}

void Cutter::need(const std::string& output) {
  waiting_.push_back(output);
  while (!waiting_.empty()) {
    const std::string name = std::move(waiting_.back());
    waiting_.pop_back();
    if (!needed_.insert(name).second) continue;
    if (std::find(from_.begin(), from_.end(), name) != from_.end()) continue;
    const auto producer = producer_.find(name);
    if (producer == producer_.end() || kept_[static_cast<size_t>(producer->second)]) continue;
    kept_[static_cast<size_t>(producer->second)] = true;
    need_inputs_of(graph_.node(producer->second));
  }
}

Result<ValueInfoProto> Cutter::declaration(const std::string& name) {
  for (const auto* list : {&graph_.input(), &graph_.output(), &graph_.value_info()})
    for (const ValueInfoProto& info : *list)
      if (info.name() == name && info.has_type() && (!info.type().has_tensor_type() || info.type().tensor_type().has_shape())) return info;
  if (!model_) {
    SV_ASSIGN(Model model, import_onnx(file_));
    model_ = std::move(model);
  }
  ValueInfoProto out;
  model_->graph.for_each_value([&](Value& value) {
    if (value.name() == name && value.type.dtype != DType::undefined) (void)onnx::export_value_info(value, out).ok();
  });
  if (!out.has_type()) return error("the type of '{}' is not known", printable(name));
  return out;
}

void Cutter::drop_unneeded() {
  GraphProto kept;
  for (int i = 0; i < graph_.node_size(); ++i)
    if (kept_[static_cast<size_t>(i)]) *kept.add_node() = std::move(*graph_.mutable_node(i));
  graph_.mutable_node()->Swap(kept.mutable_node());
  const auto is_from = [&](const std::string& name) { return std::find(from_.begin(), from_.end(), name) != from_.end(); };
  // A node that is kept for another output still computes what is an input now: under a name that nobody reads.
  const auto is_taken = [&](const std::string& name) { return producer_.count(name) || inputs_.count(name) || constants_.count(name); };
  for (NodeProto& node : *graph_.mutable_node())
    for (std::string& name : *node.mutable_output()) {
      if (!is_from(name)) continue;
      do name += ".unread";
      while (is_taken(name));
    }
  const auto drop = [&](auto& list, const auto& name_of) {
    int end = 0;
    for (int i = 0; i < list.size(); ++i)
      if (needed_.count(name_of(list.Get(i))) && !is_from(name_of(list.Get(i)))) list.SwapElements(end++, i);
    while (list.size() > end) list.RemoveLast();
  };
  drop(*graph_.mutable_initializer(), [](const auto& tensor) -> const std::string& { return tensor.name(); });
  drop(*graph_.mutable_sparse_initializer(), [](const auto& sparse) -> const std::string& { return sparse.values().name(); });
  drop(*graph_.mutable_value_info(), [](const auto& info) -> const std::string& { return info.name(); });
}

Status Cutter::run() {
  SV_TRY(check_names());
  kept_.assign(static_cast<size_t>(graph_.node_size()), false);
  std::vector<std::string> outputs = to_;
  if (outputs.empty())
    for (const ValueInfoProto& info : graph_.output()) outputs.push_back(info.name());
  for (const std::string& name : outputs) need(name);
  for (const std::string& name : from_)
    if (!needed_.count(name)) return error("'{}' is not needed for {}", printable(name), fmt::join(outputs, ", "));
  GraphProto ports;
  for (const std::string& name : from_) {
    SV_ASSIGN(*ports.add_input(), declaration(name));
  }
  for (const ValueInfoProto& info : graph_.input())
    if (needed_.count(info.name()) && std::find(from_.begin(), from_.end(), info.name()) == from_.end()) *ports.add_input() = info;
  for (const std::string& name : outputs) {
    SV_ASSIGN(*ports.add_output(), declaration(name));
  }
  model_.reset();
  drop_unneeded();
  graph_.mutable_input()->Swap(ports.mutable_input());
  graph_.mutable_output()->Swap(ports.mutable_output());
  return {};
}

}  // namespace

Status extract(onnx::OnnxFile& file, const std::vector<std::string>& from, const std::vector<std::string>& to) {
  Status status = Cutter(file, from, to).run();
  if (!status.ok()) return std::move(status).error().in("cut out a part of the model");
  return {};
}

}  // namespace svengine::validate
