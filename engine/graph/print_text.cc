#include <cmath>

#include "engine/graph/text.h"
#include "engine/graph/text_parts.h"

namespace svengine {
namespace {

std::string in_quotes(std::string_view s) {
  std::string out = "\"";
  for (const char c : s) {
    const auto byte = static_cast<unsigned char>(c);
    if (c == '"' || c == '\\') out += '\\', out += c;
    else if (byte < 0x20 || byte == 0x7f) out += fmt::format("\\x{:02x}", byte);
    else out += c;
  }
  return out + '"';
}

std::string print_name(std::string_view name) {
  bool bare = !name.empty();
  for (char c : name) bare = bare && text::is_name_char(c);
  return bare ? fmt::format("%{}", name) : '%' + in_quotes(name);
}

std::string print_symbol(const std::string& symbol) {
  bool bare = text::is_identifier_start(symbol[0]);
  for (char c : symbol) bare = bare && text::is_identifier_char(c);
  return bare ? symbol : in_quotes(symbol);
}

std::string print_type(const Type& type) {
  std::string out(name_of(type.dtype));
  if (type.element) {
    const std::string key = type.key == DType::undefined ? "" : fmt::format("{}, ", name_of(type.key));
    out += fmt::format("({}{})", key, print_type(*type.element));
  }
  if (!type.shape.has_rank()) return out + "[*]";
  out += '[';
  for (size_t i = 0; i < type.shape.dims().size(); ++i) {
    const Dim& d = type.shape[i];
    if (i) out += ", ";
    out += d.is_static() ? std::to_string(d.value()) : d.is_symbolic() ? print_symbol(d.symbol()) : "?";
  }
  out += ']';
  if (type.block) out += fmt::format("{{c{}}}", type.block);
  return out;
}

/// The shortest digits that give the same number back, recognisable as a real.
template <class T>
std::string print_real(T value) {
  std::string out = fmt::format("{}", value);
  return out.find_first_of(".en") == out.npos ? out + ".0" : out;
}

template <class T>
T element(const std::byte* data, int64_t i) {
  T value;
  std::memcpy(&value, data + static_cast<size_t>(i) * sizeof(T), sizeof(T));
  return value;
}

std::string print_element(DType type, const std::byte* data, int64_t i) {
  switch (type) {
    case DType::f32: return print_real(element<float>(data, i));
    case DType::f64: return print_real(element<double>(data, i));
    case DType::f16:
    case DType::bf16: return fmt::format("{:#06x}", element<uint16_t>(data, i));
    case DType::f8e4m3fn: case DType::f8e4m3fnuz: case DType::f8e5m2: case DType::f8e5m2fnuz: case DType::f8e8m0: case DType::f4e2m1:
      return fmt::format("{:#04x}", element<uint8_t>(data, i));
    case DType::i4: case DType::i2:
    case DType::i8: return std::to_string(element<int8_t>(data, i));
    case DType::u4: case DType::u2:
    case DType::u8:
    case DType::boolean: return std::to_string(element<uint8_t>(data, i));
    case DType::i16: return std::to_string(element<int16_t>(data, i));
    case DType::u16: return std::to_string(element<uint16_t>(data, i));
    case DType::i32: return std::to_string(element<int32_t>(data, i));
    case DType::u32: return std::to_string(element<uint32_t>(data, i));
    case DType::i64: return std::to_string(element<int64_t>(data, i));
    case DType::u64: return std::to_string(element<uint64_t>(data, i));
    default: break;
  }
  return "?";
}

uint64_t fnv1a(std::span<const std::byte> bytes) {
  uint64_t hash = 0xcbf29ce484222325;
  for (std::byte b : bytes) hash = (hash ^ static_cast<uint64_t>(b)) * 0x100000001b3;
  return hash;
}

std::string print_elements(const Tensor& t, const TextOptions& options) {
  if (t.count() > options.most_elements)
    return fmt::format("...{} elements, fnv1a {:016x}", t.count(), t.type() == DType::string ? 0 : fnv1a({t.raw(), t.byte_size()}));
  std::string out = "{";
  for (int64_t i = 0; i < t.count(); ++i) {
    if (i) out += ", ";
    out += t.type() == DType::string ? in_quotes(t.strings()[static_cast<size_t>(i)]) : print_element(t.type(), t.raw(), i);
  }
  return out + '}';
}

template <class T, class Print>
std::string print_list(const std::vector<T>& values, const char* when_empty, Print&& print) {
  if (values.empty()) return fmt::format("{}[]", when_empty);
  std::string out = "[";
  for (size_t i = 0; i < values.size(); ++i) {
    if (i) out += ", ";
    out += print(values[i]);
  }
  return out + ']';
}

std::string print_statements(const Graph& graph, const TextOptions& options, const std::string& indent);

struct AttributePrinter {
  const TextOptions& options;
  const std::string& indent;  // of the node's line

  std::string operator()(int64_t v) const { return std::to_string(v); }
  std::string operator()(float v) const { return print_real(v); }
  std::string operator()(const std::string& v) const { return in_quotes(v); }
  std::string operator()(const std::vector<int64_t>& v) const {
    return print_list(v, "ints", [](int64_t x) { return std::to_string(x); });
  }
  std::string operator()(const std::vector<float>& v) const {
    return print_list(v, "floats", [](float x) { return print_real(x); });
  }
  std::string operator()(const std::vector<std::string>& v) const {
    return print_list(v, "strings", [](const std::string& x) { return in_quotes(x); });
  }
  std::string operator()(const Subgraph& body) const {
    return fmt::format("graph {} {{\n{}{}}}", in_quotes(body->name), print_statements(*body, options, indent + "  "), indent);
  }
  std::string operator()(const Tensor& t) const {
    if (is_container(t.type())) {
      std::string out;
      for (const Tensor& item : t.items()) out += (out.empty() ? "" : ", ") + (*this)(item);
      return fmt::format("{}{{{}}}", name_of(t.type()), out);
    }
    return print_type({.dtype = t.type(), .shape = Shape::of(t.dims())}) + print_elements(t, options);
  }
};

std::string print_attributes(const Attributes& attributes, const TextOptions& options, const std::string& indent) {
  std::string out;
  for (const auto& [name, value] : attributes)
    out += fmt::format("{}{} = {}", out.empty() ? " {" : ", ", name, std::visit(AttributePrinter{options, indent}, value));
  return out.empty() ? out : out + '}';
}

std::string print_node(const Node& node, const TextOptions& options, const std::string& indent) {
  std::string out;
  for (const Value* v : node.outputs())
    out += fmt::format("{}{}: {}", out.empty() ? "" : ", ", print_name(v->name()), print_type(v->type));
  const std::string_view domain = node.op().domain;
  out += fmt::format(" = {}{}{}(", domain, domain.empty() ? "" : ".", node.op().name);
  for (size_t i = 0; i < node.inputs().size(); ++i)
    out += (i ? ", " : "") + (node.input(i) ? print_name(node.input(i)->name()) : std::string("-"));
  out += ')' + print_attributes(node.attributes, options, indent);
  if (node.name() != node.op().name) out += " @" + in_quotes(node.name());
  return out;
}

std::string print_statements(const Graph& graph, const TextOptions& options, const std::string& indent) {
  std::string out;
  for (const Value* v : graph.inputs()) out += fmt::format("{}input {}: {}\n", indent, print_name(v->name()), print_type(v->type));
  graph.for_each_value([&](Value& v) {
    if (v.is_constant())
      out += fmt::format("{}const {}: {} = {}\n", indent, print_name(v.name()), print_type(v.type), print_elements(v.constant(), options));
  });
  for (const auto& node : graph.nodes()) out += indent + print_node(*node, options, indent) + '\n';
  for (const Value* v : graph.outputs()) out += fmt::format("{}output {}\n", indent, print_name(v->name()));
  return out;
}

}  // namespace

std::string print_graph(const Graph& graph, const TextOptions& options) {
  return fmt::format("graph {}\n", in_quotes(graph.name)) + print_statements(graph, options, {});
}

}  // namespace svengine
