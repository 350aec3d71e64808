#include "tools/emit/emit.h"

#include "tools/emit/interface.h"
#include "tools/emit/storage.h"
#include "tools/emit/table.h"

namespace svengine::tool::emit {
namespace {

/// What stands where a call's argument will: the offsets of slots are known at the end.
struct Argument {
  std::string text;  // all of it, or the cast in front of a slot
  bool slot = false;
  size_t index = 0;
};

struct Call {
  std::string comment, function;
  bool fails = false;
  std::vector<Argument> arguments;
};

class Program {
 public:
  Program(const Graph& graph, const Interface& interface)
      : graph_(graph), interface_(interface), shared_(interface.name + "_"), storage_(graph) {}

  Result<Emitted> run(const std::string& model) {
    int32_t step = 0;
    for (const auto& node : graph_.nodes()) SV_TRY(add(*node, step++));
    for (const auto& [index, value] : storage_.copies())  // constants among them enter the file here
      copies_.push_back({index, address(storage_.place_of(value), Storage::memory_of(value), true)});
    Emitted out;
    out.workspace_bytes = storage_.assign();
    if (out.workspace_bytes > 0) out.workspace_bytes += kAlignment;  // the caller's may begin anywhere
    out.constant_bytes = shared_.constants.bytes();
    out.multiply_adds = shared_.multiply_adds;
    for (const auto& node : graph_.nodes()) ++out.operators[node->op().name];
    out.header = interface_.header(out.workspace_bytes, model);
    out.source = source(out.workspace_bytes, model);
    return out;
  }

 private:
  static constexpr int64_t kAlignment = 64;

  Status add(const Node& node, int32_t step) {
    const Emitter* emitter = find_emitter(node.op());
    if (!emitter->emit) return {};
    std::vector<bool> wanted;
    bool any = false;
    for (const Value* v : node.outputs()) {
      wanted.push_back(v && storage_.is_wanted(v));
      any = any || wanted.back();
    }
    if (!any) return {};
    NodeContext context(node, std::move(wanted), shared_);
    if (Status status = emitter->emit(context); !status.ok()) return std::move(status).error().in(describe(node));
    const std::string comment = fmt::format("{}{}{}", node.op().name, node.name().empty() ? "" : " ", c_comment(node.name()));
    Call call{comment, function_of(context), context.fails(), {}};
    for (const Parameter& p : context.parameters()) call.arguments.push_back(argument(node, p, step));
    calls_.push_back(std::move(call));
    return {};
  }

  /// Nodes that do the same with other memory call one function.
  std::string function_of(const NodeContext& context) {
    std::string parameters;
    for (const Parameter& p : context.parameters()) {
      const bool read = p.kind == Parameter::Kind::input || p.kind == Parameter::Kind::constant;
      parameters += fmt::format("{}{}{} *restrict {}", parameters.empty() ? "" : ", ", read ? "const " : "", c_type(p.type), p.name);
    }
    const std::string text = fmt::format("({}) {{\n{}{}}}\n", parameters.empty() ? "void" : parameters, context.code().text(),
                                         context.fails() ? "  return 0;\n" : "");
    const auto [it, fresh] = functions_.emplace(text, fmt::format("{}f{}", shared_.prefix, functions_.size()));
    if (fresh) function_text_ += fmt::format("static {} {}{}\n", context.fails() ? "int" : "void", it->second, text);
    return it->second;
  }

  Argument argument(const Node& node, const Parameter& p, int32_t step) {
    if (p.kind == Parameter::Kind::constant) return {p.constant};
    if (p.kind == Parameter::Kind::temporary) return {fmt::format("({} *)", c_type(p.type)), true, storage_.add_temporary(step, p.bytes)};
    const bool read = p.kind == Parameter::Kind::input;
    const Value* value = read ? node.input(p.index) : node.output(p.index);
    return address(storage_.place_of(value), Storage::memory_of(value), read);
  }

  Argument address(Place place, const Value* memory, bool read) {
    switch (place.kind) {
      case Place::Kind::constant: return {shared_.constants.add(memory->constant())};
      case Place::Kind::input: return {interface_.inputs[place.index].name};
      case Place::Kind::output: return {interface_.outputs[place.index].name};
      default: return {fmt::format("({}{} *)", read ? "const " : "", c_type(memory->type.dtype)), true, place.index};
    }
  }

  std::string text_of(const Argument& a) const {
    if (!a.slot) return a.text;
    const int64_t offset = storage_.offset(a.index);
    return offset < 0 ? a.text + "0" : fmt::format("{}(memory + {})", a.text, offset);
  }

  std::string body(int64_t workspace_bytes) const {
    std::string out;
    if (workspace_bytes > 0)
      out += fmt::format("  unsigned char *const memory = (unsigned char *)workspace + ({0} - (uintptr_t)workspace % {0}) % {0};\n", kAlignment);
    else out += "  (void)workspace;\n";
    for (const auto* ports : {&interface_.inputs, &interface_.outputs})  // some may have no elements, or nobody who reads them
      for (const Port& p : *ports) out += fmt::format("  (void){};\n", p.name);
    for (const Call& call : calls_) {
      std::string arguments;
      for (const Argument& a : call.arguments) arguments += (arguments.empty() ? "" : ", ") + text_of(a);
      out += call.fails ? fmt::format("  if ({}({})) return 1;", call.function, arguments) : fmt::format("  {}({});", call.function, arguments);
      out += fmt::format("  /* {} */\n", call.comment);
    }
    for (const auto& [index, from] : copies_)
      out += fmt::format("  memcpy({}, {}, sizeof(*{}) * {});\n", interface_.outputs[index].name, text_of(from), interface_.outputs[index].name,
                         element_count(*graph_.outputs()[index]->type.shape.concrete()));
    return out + "  return 0;\n";
  }

  std::string source(int64_t workspace_bytes, const std::string& model) const {
    std::string out = fmt::format("/* {0}: written by svengine emit from {1}. */\n#include \"{0}.h\"\n\n", interface_.name, c_comment(model));
    out += "#include <math.h>\n#include <stddef.h>\n#include <string.h>\n\n";
    shared_.constants.write(out);
    out += '\n' + shared_.helpers.text() + function_text_;
    out += fmt::format("int {}_run_in(void *workspace{}) {{\n{}}}\n\n", interface_.name, interface_.parameters(true), body(workspace_bytes));
    return out + interface_.run_function(workspace_bytes);
  }

  const Graph& graph_;
  const Interface& interface_;
  Shared shared_;
  Storage storage_;
  std::vector<Call> calls_;
  std::vector<std::pair<size_t, Argument>> copies_;
  std::map<std::string, std::string> functions_;  // names by text
  std::string function_text_;
};

/// Every operator and type that is not written, once, with a node that has it.
Status check_nodes(const Graph& graph) {
  std::map<std::string, std::pair<std::string, int>> problems;
  for (const auto& node : graph.nodes()) {
    const std::string problem = refusal(*node);
    if (problem.empty()) continue;
    auto& [name, count] = problems[problem];
    if (count++ == 0) name = node->name();
  }
  if (problems.empty()) return {};
  std::string list;
  for (const auto& [problem, nodes] : problems)
    list += fmt::format("{}{} (node '{}'{})", list.empty() ? "" : "; ", problem, nodes.first,
                        nodes.second > 1 ? fmt::format(" and {} more", nodes.second - 1) : "");
  return error("there is no C for: {}", list);
}

}  // namespace

Result<Emitted> emit_c(const Graph& graph, const std::string& name, const std::string& model) {
  SV_TRY(check_nodes(graph));
  SV_ASSIGN(const Interface interface, interface_of(graph, name));
  return Program(graph, interface).run(model);
}

}  // namespace svengine::tool::emit
