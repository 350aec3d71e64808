#include "tools/emit/interface.h"

#include <algorithm>
#include <cctype>

#include "tools/emit/c_text.h"

namespace svengine::tool::emit {
namespace {

std::string upper(std::string text) {
  std::transform(text.begin(), text.end(), text.begin(), [](char c) { return static_cast<char>(std::toupper(static_cast<unsigned char>(c))); });
  return text;
}

Result<Port> port_of(const Value& v, const std::string& name, Identifiers& parameters, Identifiers& macros) {
  if (!kCTypes.has(v.type.dtype))
    return error("'{}' is {}, which C has no type for; it may be {}", v.name(), name_of(v.type.dtype), to_string(kCTypes));
  std::string wanted = c_identifier(v.name());
  if (upper(wanted).starts_with(upper(name) + "_")) wanted = "x_" + wanted;  // names of the file's own begin so
  return Port{parameters.unique(wanted), macros.unique(upper(fmt::format("{}_{}_ELEMENTS", name, wanted))), v.name(), v.type};
}

std::string port_comment(const Port& port) {
  return fmt::format(" *   {}: \"{}\", {}\n", port.name, c_comment(port.original), to_string(port.type));
}

}  // namespace

Result<Interface> interface_of(const Graph& graph, const std::string& name) {
  Interface out{name, {}, {}};
  Identifiers parameters({"workspace", "memory"}), macros({upper(name) + "_WORKSPACE_BYTES"});
  for (const Value* v : graph.inputs()) {
    SV_ASSIGN(Port port, port_of(*v, name, parameters, macros));
    out.inputs.push_back(std::move(port));
  }
  for (const Value* v : graph.outputs()) {
    SV_ASSIGN(Port port, port_of(*v, name, parameters, macros));
    out.outputs.push_back(std::move(port));
  }
  return out;
}

std::string Interface::upper_name() const { return upper(name); }

std::string Interface::parameters(bool follows) const {
  std::string out;
  const auto add = [&](const Port& port, const char* qualifier) {
    out += fmt::format("{}{}{} *{}", follows || !out.empty() ? ", " : "", qualifier, c_type(port.type.dtype), port.name);
  };
  for (const Port& p : inputs) add(p, "const ");
  for (const Port& p : outputs) add(p, "");
  return out;
}

std::string Interface::header(int64_t workspace_bytes, const std::string& model) const {
  const std::string guard = upper_name() + "_H";
  std::string out = fmt::format("/* {}: a neural network as plain C, written by svengine emit from {}.\n *\n", name, c_comment(model));
  out += " * Inputs, dense and row-major:\n";
  for (const Port& p : inputs) out += port_comment(p);
  out += " * Outputs, likewise, which overlap neither each other nor inputs:\n";
  for (const Port& p : outputs) out += port_comment(p);
  out +=
      " *\n * The functions give back 0, or 1 where an index or a length in an input is out of range; outputs then hold anything.\n"
      " * They allocate nothing, print nothing and start no threads. The processor's floating-point mode is the caller's, whose program links with "
      "-lm.\n */\n";
  out += fmt::format("#ifndef {0}\n#define {0}\n\n#include <stdint.h>\n\n", guard);
  for (const auto* ports : {&inputs, &outputs})
    for (const Port& p : *ports) out += fmt::format("#define {} {}\n", p.macro, element_count(*p.type.shape.concrete()));
  out += fmt::format("#define {}_WORKSPACE_BYTES {}\n\n#ifdef __cplusplus\nextern \"C\" {{\n#endif\n\n", upper_name(), workspace_bytes);
  out += fmt::format(
      "/* With memory of the caller's: {0}_WORKSPACE_BYTES of any alignment, whose contents need not be kept between calls. Any number\n"
      " * of threads may call it at once, each with memory of its own. */\n",
      upper_name());
  out += fmt::format("int {}_run_in(void *workspace{});\n\n", name, parameters(true));
  out += "/* The same in static memory: one thread at a time. */\n";
  out += fmt::format("int {}_run({});\n\n#ifdef __cplusplus\n}}\n#endif\n\n#endif\n", name, parameters(false));
  return out;
}

std::string Interface::run_function(int64_t workspace_bytes) const {
  std::string arguments;
  for (const auto* ports : {&inputs, &outputs})
    for (const Port& p : *ports) arguments += ", " + p.name;
  const std::string memory = workspace_bytes ? fmt::format("  static unsigned char workspace[{}_WORKSPACE_BYTES];\n", upper_name()) : "";
  return fmt::format("int {0}_run({1}) {{\n{2}  return {0}_run_in({3}{4});\n}}\n", name, parameters(false), memory,
                     workspace_bytes ? "workspace" : "0", arguments);
}

}  // namespace svengine::tool::emit
