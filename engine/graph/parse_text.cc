#include <algorithm>
#include <unordered_map>

#include "engine/graph/samples.h"
#include "engine/graph/text.h"
#include "engine/graph/text_parts.h"
#include "engine/graph/verify.h"

namespace svengine {
namespace {

using text::append_element;
using text::Cursor;
using text::is_number_char;
using text::number;

class Parser {
 public:
  Parser(Cursor& cursor, const OpRegistry& ops, int depth = 0) : cursor_(cursor), ops_(ops), depth_(depth) {}

  Result<Graph> run() {
    if (!cursor_.take_word("graph")) return cursor_.fail("expected 'graph \"name\"'");
    return rest_of_graph();
  }

  /// Behind the word 'graph'; a body stands in braces.
  Result<Graph> rest_of_graph() {
    if (depth_ > kMostNested) return cursor_.fail(fmt::format("bodies are nested more than {} deep", kMostNested));
    SV_ASSIGN(graph_.name, string("after 'graph'"));
    const bool is_body = depth_ > 0;
    if (is_body) SV_TRY(cursor_.expect('{', "before a body"));
    while (is_body ? !cursor_.take('}') : !cursor_.at_end()) SV_TRY(statement());
    // What is in a branch that is never taken need not be right.
    if (!is_body) SV_TRY(verify(graph_));
    return std::move(graph_);
  }

  Result<std::vector<Sample>> samples() {
    std::vector<Sample> out;
    while (!cursor_.at_end()) {
      SV_ASSIGN(Sample one, sample());
      out.push_back(std::move(one));
    }
    return out;
  }

 private:
  Result<Sample> sample() {
    Sample out;
    SV_TRY(cursor_.expect('(', "before a sample's inputs"));
    while (!cursor_.take(')')) {
      if (!out.inputs.empty()) SV_TRY(cursor_.expect(',', "between inputs"));
      SV_ASSIGN(SampleInput input, sample_input());
      out.inputs.push_back(std::move(input));
    }
    SV_ASSIGN(const Attributes attributes, this->attributes());
    for (const auto& [name, value] : attributes) out.attributes.emplace_back(name, value);
    if (const auto outputs = number<int>(cursor_.run_of(text::is_digit))) out.outputs = *outputs;
    return out;
  }

  Result<SampleInput> sample_input() {
    if (cursor_.take('-')) return SampleInput{DType::undefined, {}};
    const std::optional<DType> dtype = dtype_from_name(cursor_.run_of(text::is_identifier_char));
    if (!dtype) return cursor_.fail("expected the type of an input");
    if (is_container(*dtype)) {
      SV_ASSIGN(Tensor held, tensor(*dtype));
      return SampleInput{*dtype, held.dims(), 0, 0, held};
    }
    SV_ASSIGN(const Shape shape, this->shape());
    const std::optional<Dims> dims = shape.concrete();
    if (!dims) return cursor_.fail("a sample's dimensions are numbers");
    if (cursor_.peek() == '{') {
      SV_ASSIGN(Tensor value, elements({*dtype, shape, 0}));
      return SampleInput{*dtype, *dims, 0, 0, std::move(value)};
    }
    const std::string_view low = cursor_.run_of(is_number_char);
    if (low.empty()) return SampleInput{*dtype, *dims};
    if (!cursor_.take_word("to")) return cursor_.fail("values are from one number 'to' another");
    const auto from = number<double>(low), to = number<double>(cursor_.run_of(is_number_char));
    if (!from || !to) return cursor_.fail("values are from one number 'to' another");
    return SampleInput{*dtype, *dims, *from, *to};
  }

  Status statement() {
    if (cursor_.take_word("input")) return input();
    if (cursor_.take_word("const")) return constant();
    if (cursor_.take_word("output")) {
      SV_ASSIGN(Value * value, known_value());
      graph_.add_output(value);
      return {};
    }
    if (cursor_.peek() == '%') return node();
    return cursor_.fail("expected input, const, output or a value");
  }

  Status input() {
    SV_ASSIGN(std::string name, new_name());
    SV_TRY(cursor_.expect(':', "before the type"));
    SV_ASSIGN(Type type, this->type());
    values_[name] = graph_.add_input(name, std::move(type));
    return {};
  }

  Status constant() {
    SV_ASSIGN(std::string name, new_name());
    SV_TRY(cursor_.expect(':', "before the type"));
    SV_ASSIGN(const Type type, this->type());
    SV_TRY(cursor_.expect('=', "before the elements"));
    SV_ASSIGN(Tensor tensor, elements(type));
    values_[name] = graph_.add_constant(name, std::move(tensor));
    values_[name]->type.block = type.block;
    return {};
  }

  Status node() {
    std::vector<std::string> names;
    std::vector<Type> types;
    do {
      SV_ASSIGN(std::string name, new_name());
      if (std::find(names.begin(), names.end(), name) != names.end()) return cursor_.fail("the name is taken");
      SV_TRY(cursor_.expect(':', "before the type"));
      SV_ASSIGN(Type type, this->type());
      names.push_back(std::move(name));
      types.push_back(std::move(type));
    } while (cursor_.take(','));
    SV_TRY(cursor_.expect('=', "before the operator"));
    SV_ASSIGN(const OpDef* op, this->op());
    SV_ASSIGN(std::vector<Value*> inputs, this->inputs());
    SV_ASSIGN(Attributes attributes, this->attributes());
    std::string node_name;
    if (cursor_.take('@')) {
      SV_ASSIGN(node_name, string("after '@'"));
    }
    const Node* node = graph_.add_node(*op, node_name, std::move(inputs), names.size(), std::move(attributes), nullptr, names);
    for (size_t i = 0; i < names.size(); ++i) {
      node->output(i)->type = std::move(types[i]);
      values_[names[i]] = node->output(i);
    }
    return {};
  }

  Result<const OpDef*> op() {
    const std::string_view full = cursor_.run_of(text::is_identifier_char);
    const size_t dot = full.rfind('.');
    const std::string_view domain = dot == full.npos ? "" : full.substr(0, dot);
    const OpDef* op = ops_.find(domain, full.substr(dot == full.npos ? 0 : dot + 1));
    if (!op) return cursor_.fail(fmt::format("'{}' is no operator", full));
    return op;
  }

  Result<std::vector<Value*>> inputs() {
    std::vector<Value*> out;
    SV_TRY(cursor_.expect('(', "before the operator's inputs"));
    if (cursor_.take(')')) return out;
    do {
      if (cursor_.take('-')) {
        out.push_back(nullptr);
        continue;
      }
      SV_ASSIGN(Value * value, known_value());
      out.push_back(value);
    } while (cursor_.take(','));
    SV_TRY(cursor_.expect(')', "after the operator's inputs"));
    return out;
  }

  Result<Attributes> attributes() {
    Attributes out;
    if (!cursor_.take('{')) return out;
    do {
      const std::string name(cursor_.run_of(text::is_identifier_char));
      if (name.empty() || out.has(name)) return cursor_.fail("expected the name of another attribute");
      SV_TRY(cursor_.expect('=', "after the attribute's name"));
      SV_ASSIGN(Attribute value, attribute());
      out.set(name, std::move(value));
    } while (cursor_.take(','));
    SV_TRY(cursor_.expect('}', "after the attributes"));
    return out;
  }

  Result<Attribute> attribute() {
    if (cursor_.peek() == '"') {
      SV_ASSIGN(std::string value, string(""));
      return Attribute(std::move(value));
    }
    if (cursor_.take('[')) return text::rest_of_list(cursor_);
    if (cursor_.take_word("graph")) {
      SV_ASSIGN(Graph body, Parser(cursor_, ops_, depth_ + 1).rest_of_graph());
      return Attribute(Subgraph(std::make_shared<const Graph>(std::move(body))));
    }
    const std::string_view token = cursor_.run_of(is_number_char);
    if (const std::optional<DType> dtype = dtype_from_name(token)) {
      SV_ASSIGN(Tensor tensor, this->tensor(*dtype));
      return Attribute(std::move(tensor));
    }
    if (cursor_.take('[')) {
      SV_TRY(cursor_.expect(']', "of an empty list"));
      if (token == "ints") return Attribute(std::vector<int64_t>());
      if (token == "floats") return Attribute(std::vector<float>());
      if (token == "strings") return Attribute(std::vector<std::string>());
      return cursor_.fail("an empty list is ints[], floats[] or strings[]");
    }
    if (const auto integer = number<int64_t>(token)) return Attribute(*integer);
    if (const auto real = number<float>(token)) return Attribute(*real);
    return cursor_.fail(fmt::format("'{}' is no attribute value", token));
  }

  /// Behind the name of its type: shape and elements, or what a sequence or optional holds.
  Result<Tensor> tensor(DType dtype) {
    if (!is_container(dtype)) {
      SV_ASSIGN(const Shape shape, this->shape());
      return elements({dtype, shape, 0});
    }
    if (++held_depth_ > kMostNested || dtype == DType::map) return cursor_.fail("a map, or nested too deep");
    std::vector<Tensor> items;
    SV_TRY(cursor_.expect('{', "before what it holds"));
    while (!cursor_.take('}')) {
      if (!items.empty()) SV_TRY(cursor_.expect(',', "between items"));
      const std::optional<DType> of = dtype_from_name(cursor_.run_of(text::is_identifier_char));
      if (!of) return cursor_.fail("expected the type of an item");
      SV_ASSIGN(Tensor item, tensor(*of));
      items.push_back(std::move(item));
    }
    --held_depth_;
    if (dtype == DType::optional && items.size() > 1) return cursor_.fail("an optional holds one value at most");
    return Tensor::of_items(dtype, std::move(items));
  }

  Result<Type> type() {
    Type out;
    const std::string_view name = cursor_.run_of(text::is_identifier_char);
    const std::optional<DType> dtype = dtype_from_name(name);
    if (!dtype && name != name_of(DType::undefined)) return cursor_.fail(fmt::format("'{}' is no element type", name));
    out.dtype = dtype.value_or(DType::undefined);
    if (cursor_.take('(')) SV_TRY(held(out));
    SV_ASSIGN(out.shape, shape());
    if (cursor_.take('{')) {
      const std::string_view token = cursor_.run_of(text::is_identifier_char);
      const auto block = token.starts_with('c') ? number<int>(token.substr(1)) : std::nullopt;
      if (!block || *block <= 0) return cursor_.fail("a blocked layout is {c16}, or with another number of channels");
      out.block = *block;
      SV_TRY(cursor_.expect('}', "after the layout"));
    }
    return out;
  }

  /// What a sequence or optional holds, or a map: its keys' type and its values'.
  Status held(Type& out) {
    if (!is_container(out.dtype)) return cursor_.fail(fmt::format("{} holds no other type", name_of(out.dtype)));
    if (++held_depth_ > kMostNested) return cursor_.fail(fmt::format("types are nested more than {} deep", kMostNested));
    if (out.dtype == DType::map) {
      const std::optional<DType> key = dtype_from_name(cursor_.run_of(text::is_identifier_char));
      if (!key) return cursor_.fail("expected the type of a map's keys");
      out.key = *key;
      SV_TRY(cursor_.expect(',', "behind the type of the keys"));
    }
    SV_ASSIGN(Type element, type());
    out.element = std::make_shared<const Type>(std::move(element));
    --held_depth_;
    return cursor_.expect(')', "after the type that is held");
  }

  Result<Shape> shape() {
    SV_TRY(cursor_.expect('[', "before the shape"));
    if (cursor_.take('*')) {
      SV_TRY(cursor_.expect(']', "after the shape"));
      return Shape();
    }
    std::vector<Dim> dims;
    if (cursor_.take(']')) return Shape(dims);
    do {
      SV_ASSIGN(Dim d, dim());
      dims.push_back(std::move(d));
    } while (cursor_.take(','));
    SV_TRY(cursor_.expect(']', "after the shape"));
    return Shape(std::move(dims));
  }

  Result<Dim> dim() {
    if (cursor_.take('?')) return Dim();
    if (cursor_.peek() == '"') {
      SV_ASSIGN(std::string symbol, string(""));
      if (symbol.empty()) return cursor_.fail("a dimension has an empty name");
      return Dim(std::move(symbol));
    }
    const std::string_view token = cursor_.run_of(text::is_identifier_char);
    if (const auto size = number<int64_t>(token)) return Dim(*size);
    if (token.empty() || !text::is_identifier_start(token[0])) return cursor_.fail("a dimension is a number, a name or '?'");
    return Dim(std::string(token));
  }

  Result<Tensor> elements(const Type& type) {
    const std::optional<Dims> dims = type.shape.concrete();
    if (dims && type.dtype == DType::string) return strings(*dims);
    if (!dims || size_of(type.dtype) == 0) return cursor_.fail("a constant has an element type and a shape of numbers");
    SV_TRY(check_dims(*dims));
    if (cursor_.peek() == '.')
      return cursor_.fail("this constant was printed by its digest only: print the graph with more elements");
    std::vector<std::byte> bytes;
    SV_TRY(cursor_.expect('{', "before the elements"));
    while (!cursor_.take('}')) {
      if (!bytes.empty()) SV_TRY(cursor_.expect(',', "between elements"));
      const std::string_view token = cursor_.run_of(is_number_char);
      if (token == "...") {
        if (!text::continue_progression(type.dtype, static_cast<size_t>(element_count(*dims)), bytes))
          return cursor_.fail("'...' goes on as two numbers before it do");
        continue;
      }
      if (!append_element(type.dtype, token, bytes))
        return cursor_.fail(fmt::format("'{}' is no {}", token, name_of(type.dtype)));
    }
    const size_t wanted = static_cast<size_t>(element_count(*dims)), given = bytes.size() / size_of(type.dtype);
    if (given != wanted) return cursor_.fail(fmt::format("{} elements for the shape {}", given, to_string(*dims)));
    SV_ASSIGN(MutableTensor out, Tensor::allocate(type.dtype, *dims));
    if (!bytes.empty()) std::memcpy(out.raw(), bytes.data(), bytes.size());
    return out;
  }

  Result<Tensor> strings(const Dims& dims) {
    SV_TRY(check_dims(dims));
    std::vector<std::string> out;
    SV_TRY(cursor_.expect('{', "before the strings"));
    while (!cursor_.take('}')) {
      if (!out.empty()) SV_TRY(cursor_.expect(',', "between strings"));
      SV_ASSIGN(std::string one, string("as an element"));
      out.push_back(std::move(one));
    }
    if (static_cast<int64_t>(out.size()) != element_count(dims))
      return cursor_.fail(fmt::format("{} elements for the shape {}", out.size(), to_string(dims)));
    return Tensor::of_strings(dims, std::move(out));
  }

  Result<std::string> string(std::string_view where) {
    SV_ASSIGN(std::optional<std::string> out, cursor_.quoted());
    if (!out) return cursor_.fail(fmt::format("expected a quoted string {}", where));
    return std::move(*out);
  }

  Result<std::string> name() {
    SV_TRY(cursor_.expect('%', "before a value's name"));
    SV_ASSIGN(std::optional<std::string> quoted, cursor_.quoted());
    std::string out = quoted ? std::move(*quoted) : std::string(cursor_.run_of(text::is_name_char));
    if (out.empty()) return cursor_.fail("a value's name is empty");
    return out;
  }

  Result<std::string> new_name() {
    SV_ASSIGN(std::string out, name());
    if (values_.count(out)) return cursor_.fail(fmt::format("the name '{}' is taken", out));
    return out;
  }

  Result<Value*> known_value() {
    SV_ASSIGN(const std::string wanted, name());
    const auto it = values_.find(wanted);
    if (it == values_.end()) return cursor_.fail(fmt::format("no value is called '{}' up to here", wanted));
    return it->second;
  }

  static constexpr int kMostNested = 16;
  Cursor& cursor_;
  const OpRegistry& ops_;
  int depth_;  // in how many bodies
  int held_depth_ = 0;
  Graph graph_;
  std::unordered_map<std::string, Value*> values_;
};

}  // namespace

Result<std::vector<Sample>> parse_samples(std::string_view text, const OpRegistry& ops) {
  Cursor cursor(text);
  return Parser(cursor, ops).samples();
}

Result<Graph> parse_graph(std::string_view text, const OpRegistry& ops) {
  Cursor cursor(text);
  return Parser(cursor, ops).run();
}

}  // namespace svengine
