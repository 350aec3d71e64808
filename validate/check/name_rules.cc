// Names: there where they must be, and harmless.
#include <unordered_set>

#include "importers/io/names.h"
#include "importers/onnx/support_check.h"
#include "validate/check/context.h"

namespace svengine::validate {
namespace {

class NameRules {
 public:
  NameRules(Context& context, const Body& body) : c_(context), body_(body) {}

  void run() {
    if (body_.graph) check_graph(*body_.graph);
    std::unordered_set<std::string_view> names;
    for (int i = 0; i < body_.nodes->size(); ++i) {
      const auto& node = body_.nodes->Get(i);
      check_node(node, i);
      if (!node.name().empty() && !names.insert(node.name()).second)
        c_.add("node-name-twice", body_, i, fmt::format("another node of this graph is called '{}' too", printable(node.name(), 60)));
    }
  }

 private:
  void check_graph(const onnx_proto::GraphProto& graph) {
    if (graph.name().empty())
      c_.found.add("name-empty", c_.where(body_), body_.parent < 0 ? "the graph has no name" : "the body has no name");
    check(graph.name(), "the graph's name", -1);
    for (const auto& info : graph.input()) must_be(info.name(), "an input");
    for (const auto& info : graph.output()) must_be(info.name(), "an output");
    for (const auto& tensor : graph.initializer()) must_be(tensor.name(), "an initializer");
    for (const auto& tensor : graph.sparse_initializer()) must_be(tensor.values().name(), "a sparse initializer");
  }

  void must_be(const std::string& name, const char* what) {
    if (name.empty()) c_.found.add("name-empty", c_.where(body_), fmt::format("{} has no name", what));
    check(name, what, -1);
  }

  void check_node(const onnx_proto::NodeProto& node, int index) {
    check(node.name(), "the node's name", index);
    check(node.op_type(), "the operator", index);
    check(node.domain(), "the domain", index);
    for (const std::string& output : node.output()) check(output, "an output", index);
    for (const auto& attribute : node.attribute()) check(attribute.name(), "an attribute", index);
  }

  /// `node` < 0: of the graph itself.
  void check(const std::string& name, const char* what, int node) {
    if (check_name(what, name).ok()) return;
    const bool is_long = name.size() > kMaxName;
    std::string message = is_long ? fmt::format("{}: '{}' is {} bytes long", what, printable(name, 60), name.size())
                                  : fmt::format("{}: '{}' is not UTF-8 or has control characters", what, printable(name, 60));
    const std::string where = node < 0 ? c_.where(body_) : c_.where(body_, node);
    if (is_long)
      c_.found.add("name-length", where, std::move(message));
    else
      c_.found.add("name-text", where, std::move(message));
  }

  Context& c_;
  const Body& body_;
};

}  // namespace

void check_names(Context& c) {
  for (const Body& body : c.bodies) NameRules(c, body).run();
}

}  // namespace svengine::validate
