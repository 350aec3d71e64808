// What nobody uses: nodes whose results reach no output, initializers and inputs that no node reads, functions that nobody calls.
#include <string_view>
#include <unordered_set>

#include "importers/io/names.h"
#include "validate/check/context.h"

namespace svengine::validate {
namespace {

class UnusedRules {
 public:
  explicit UnusedRules(Context& context) : c_(context) {}

  void run() {
    for (const Body& body : c_.bodies) {
      if (body.parent >= 0) continue;
      std::unordered_set<std::string_view> used;
      walk(body, used);
    }
    std::unordered_set<const onnx_proto::FunctionProto*> called;
    for (const Body& body : c_.bodies)
      for (const auto& node : *body.nodes)
        if (const auto* callee = c_.functions.find(node)) called.insert(callee);
    for (const auto& f : c_.model().functions())
      if (!called.count(&f)) c_.found.add("unused-function", fmt::format("function '{}'", printable(f.name(), 60)), "nothing calls it");
  }

 private:
  /// Backwards from the outputs. `used` gets what the body needs of the values around it, too; recursion is as deep as bodies are nested.
  void walk(const Body& body, std::unordered_set<std::string_view>& used) {
    if (body.graph)
      for (const auto& info : body.graph->output()) used.insert(info.name());
    else
      for (const std::string& name : body.function->output()) used.insert(name);
    size_t child = body.children.size();
    for (int i = body.nodes->size() - 1; i >= 0; --i) {
      const auto& node = body.nodes->Get(i);
      bool live = node.output_size() == 0;
      for (const std::string& name : node.output()) live = live || (!name.empty() && used.count(name));
      if (!live) c_.add("unused-node", body, i, "nothing needs its results");
      for (const std::string& name : node.input())
        if (live) used.insert(name);
      for (; child > 0 && c_.bodies[static_cast<size_t>(body.children[child - 1])].owner == i; --child) {
        if (!live) continue;
        std::unordered_set<std::string_view> inner;
        walk(c_.bodies[static_cast<size_t>(body.children[child - 1])], inner);
        used.insert(inner.begin(), inner.end());
      }
    }
    if (body.graph) check_given(body, *body.graph, used);
  }

  void check_given(const Body& body, const onnx_proto::GraphProto& graph, const std::unordered_set<std::string_view>& used) {
    std::unordered_set<std::string_view> initializers;
    const auto check = [&](const std::string& name) {
      initializers.insert(name);
      if (!name.empty() && !used.count(name))
        c_.found.add("unused-initializer", c_.where(body), fmt::format("no node reads initializer '{}'", printable(name, 60)));
    };
    for (const auto& tensor : graph.initializer()) check(tensor.name());
    for (const auto& tensor : graph.sparse_initializer()) check(tensor.values().name());
    if (body.parent >= 0) return;  // a body's inputs are those that its operator gives
    for (const auto& info : graph.input())
      if (!info.name().empty() && !used.count(info.name()) && !initializers.count(info.name()))
        c_.found.add("unused-input", c_.where(body), fmt::format("no node reads input '{}'", printable(info.name(), 60)));
  }

  Context& c_;
};

}  // namespace

void check_unused(Context& c) {
  // Where nodes are out of order, backwards is no way to go.
  for (const auto rule : {RuleName("node-order"), RuleName("cycle"), RuleName("value-undefined")})
    if (c.found.count_of(rule.rule()) > 0) return;
  UnusedRules(c).run();
}

}  // namespace svengine::validate
