// Functions of the model: one of a name, never calling themselves, called with what they take.
#include <algorithm>
#include <functional>
#include <map>
#include <set>
#include <tuple>
#include <unordered_map>

#include "importers/io/names.h"
#include "importers/onnx/support_check.h"
#include "validate/check/context.h"

namespace svengine::validate {
namespace {

using onnx_proto::FunctionProto;
using onnx_proto::NodeProto;

// Those of ONNX's checker.
constexpr int kMostFunctions = 10000;
constexpr int kMostCallDepth = 100;

class FunctionRules {
 public:
  explicit FunctionRules(Context& context) : c_(context) {}

  void run() {
    if (c_.model().functions_size() > kMostFunctions)
      c_.found.add("function-limit", "",
                   fmt::format("the model has {} functions, at most {} are allowed", c_.model().functions_size(), kMostFunctions));
    std::set<std::tuple<std::string, std::string, std::string>> names;
    for (const Body& body : c_.bodies) {
      if (body.function && body.parent < 0) check_function(body, names);
      for (int i = 0; i < body.nodes->size(); ++i) check_node(body, i);
    }
    find_cycles();
  }

 private:
  void check_function(const Body& body, std::set<std::tuple<std::string, std::string, std::string>>& names) {
    const FunctionProto& f = *body.function;
    if (f.name().empty()) c_.found.add("function-name", c_.where(body), "the function has no name");
    if (!f.has_domain() && c_.model().ir_version() >= 8) c_.found.add("function-name", c_.where(body), "the function has no domain");
    if (!names.emplace(canonical_domain(f.domain()), f.name(), f.overload()).second)
      c_.found.add("function-twice", c_.where(body), "there is another function of this domain, name and overload");
    const auto once = [&](const char* what, const google::protobuf::RepeatedPtrField<std::string>& given) {
      std::set<std::string_view> seen;
      for (const std::string& name : given)
        if (!seen.insert(name).second)
          c_.found.add("function-parameter", c_.where(body), fmt::format("{} '{}' is there twice", what, printable(name, 60)));
    };
    once("input", f.input()), once("output", f.output()), once("attribute", f.attribute());
  }

  void check_node(const Body& body, int index) {
    const NodeProto& node = body.nodes->Get(index);
    if (const FunctionProto* callee = c_.functions.find(node)) {
      calls_[body.function].emplace_back(callee, &node);
      if (node.input_size() > callee->input_size() || node.output_size() > callee->output_size())
        c_.add("function-call", body, index,
               fmt::format("has {} inputs and {} outputs; the function has {} and {}", node.input_size(), node.output_size(),
                           callee->input_size(), callee->output_size()));
      return;
    }
    if (body.function) check_opset(body, index, node);
  }

  /// The operator's form must be the one that it has in the model's opset, for the function may be inlined.
  void check_opset(const Body& body, int index, const NodeProto& node) {
    const int64_t own = c_.opset_of(body, node.domain()), models = c_.opset_of(c_.bodies.front(), node.domain());
    if (own == 0 || models == 0 || own == models) return;
    const Schema* here = c_.schemas.find(node.domain(), node.op_type(), own);
    const Schema* there = c_.schemas.find(node.domain(), node.op_type(), models);
    if (here != there)
      c_.add("function-opset", body, index,
             fmt::format("{} has another form in opset {}, which the function imports, than in {} of the model",
                         printable(node.op_type(), 60), own, models));
  }

  /// Depth first over the calls, with a stack of its own. Calls within a cycle are left alone by inference.
  void find_cycles() {
    enum class State : uint8_t { fresh, on_path, done };
    std::unordered_map<const FunctionProto*, State> state;
    struct Frame {
      const FunctionProto* function;
      size_t next;
    };
    bool is_deep = false;
    for (const auto& root : c_.model().functions()) {
      if (state[&root] != State::fresh) continue;
      std::vector<Frame> path{{&root, 0}};
      state[&root] = State::on_path;
      while (!path.empty()) {
        Frame& frame = path.back();
        const auto& calls = calls_[frame.function];
        if (frame.next == calls.size()) {
          state[frame.function] = State::done;
          path.pop_back();
          continue;
        }
        const auto [callee, node] = calls[frame.next++];
        if (state[callee] == State::on_path) {
          c_.refused.insert(node);
          c_.found.add("function-cycle", fmt::format("function '{}'", printable(frame.function->name(), 60)),
                       fmt::format("calls '{}', which leads back to it", printable(callee->name(), 60)), {printable(node->name(), 60)});
        } else if (state[callee] == State::fresh) {
          if (static_cast<int>(path.size()) >= kMostCallDepth) is_deep = true;
          state[callee] = State::on_path;
          path.push_back({callee, 0});
        }
      }
    }
    if (is_deep) c_.found.add("function-limit", "", fmt::format("calls of functions are nested more than {} deep", kMostCallDepth));
  }

  Context& c_;
  std::unordered_map<const FunctionProto*, std::vector<std::pair<const FunctionProto*, const NodeProto*>>> calls_;  // null: of the graph
};

}  // namespace

void check_functions(Context& c) { FunctionRules(c).run(); }

}  // namespace svengine::validate
