#include <algorithm>
#include <charconv>
#include <unordered_map>

#include "engine/base/narrow_float.h"
#include "engine/graph/text.h"
#include "engine/graph/text_parts.h"
#include "engine/graph/verify.h"

namespace svengine {
namespace {

using text::Cursor;

bool is_number_char(char c) { return text::is_identifier_char(c) || c == '+' || c == '-'; }

template <class T>
std::optional<T> number(std::string_view token, int base = 10) {
  T value{};
  std::from_chars_result result;
  if constexpr (std::is_floating_point_v<T>) result = std::from_chars(token.data(), token.data() + token.size(), value);
  else result = std::from_chars(token.data(), token.data() + token.size(), value, base);
  if (token.empty() || result.ec != std::errc() || result.ptr != token.data() + token.size()) return std::nullopt;
  return value;
}

/// Parses one element and appends its bytes.
template <class T>
bool append(std::string_view token, std::vector<std::byte>& bytes, int base = 10) {
  const std::optional<T> value = number<T>(token, base);
  if (!value) return false;
  const auto* raw = reinterpret_cast<const std::byte*>(&*value);
  bytes.insert(bytes.end(), raw, raw + sizeof(T));
  return true;
}

/// Is it a byte that this type has in memory?
bool unpacked_is_same(DType type, std::byte byte) {
  const auto bits = static_cast<uint8_t>(byte);
  return unpacked(type, bits) == bits;
}

bool append_element(DType type, std::string_view token, std::vector<std::byte>& bytes) {
  switch (type) {
    case DType::f32: return append<float>(token, bytes);
    case DType::f64: return append<double>(token, bytes);
    case DType::f16:
    case DType::bf16: return token.starts_with("0x") && append<uint16_t>(token.substr(2), bytes, 16);
    case DType::f8e4m3fn: case DType::f8e4m3fnuz: case DType::f8e5m2: case DType::f8e5m2fnuz: case DType::f8e8m0: case DType::f4e2m1:
      return token.starts_with("0x") && append<uint8_t>(token.substr(2), bytes, 16) && unpacked_is_same(type, bytes.back());
    case DType::u4: case DType::u2: return append<uint8_t>(token, bytes) && unpacked_is_same(type, bytes.back());
    case DType::i4: case DType::i2: return append<int8_t>(token, bytes) && unpacked_is_same(type, bytes.back());
    case DType::i8: return append<int8_t>(token, bytes);
    case DType::boolean: return (token == "0" || token == "1") && append<uint8_t>(token, bytes);
    case DType::u8: return append<uint8_t>(token, bytes);
    case DType::i16: return append<int16_t>(token, bytes);
    case DType::u16: return append<uint16_t>(token, bytes);
    case DType::i32: return append<int32_t>(token, bytes);
    case DType::u32: return append<uint32_t>(token, bytes);
    case DType::i64: return append<int64_t>(token, bytes);
    case DType::u64: return append<uint64_t>(token, bytes);
    default: break;
  }
  return false;
}

class Parser {
 public:
  Parser(std::string_view text, const OpRegistry& ops) : cursor_(text), ops_(ops) {}

  Result<Graph> run() {
    if (!cursor_.take_word("graph")) return cursor_.fail("expected 'graph \"name\"'");
    SV_ASSIGN(graph_.name, string("after 'graph'"));
    while (!cursor_.at_end()) SV_TRY(statement());
    SV_TRY(verify(graph_));
    return std::move(graph_);
  }

 private:
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
    if (cursor_.take('[')) return list();
    const std::string_view token = cursor_.run_of(is_number_char);
    if (const std::optional<DType> dtype = dtype_from_name(token)) {
      SV_ASSIGN(const Shape shape, this->shape());
      SV_ASSIGN(Tensor tensor, elements({*dtype, shape, 0}));
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

  /// The rest of a list that is not empty. The first element decides its kind.
  Result<Attribute> list() {
    std::vector<int64_t> integers;
    std::vector<float> reals;
    std::vector<std::string> texts;
    do {
      if (cursor_.peek() == '"') {
        SV_ASSIGN(std::string value, string(""));
        texts.push_back(std::move(value));
        continue;
      }
      const std::string_view token = cursor_.run_of(is_number_char);
      if (const auto integer = number<int64_t>(token)) integers.push_back(*integer);
      else if (const auto real = number<float>(token)) reals.push_back(*real);
      else return cursor_.fail(fmt::format("'{}' is no number", token));
    } while (cursor_.take(','));
    SV_TRY(cursor_.expect(']', "after the list"));
    if (int{integers.empty()} + int{reals.empty()} + int{texts.empty()} != 2)
      return cursor_.fail("a list is of one kind of element");
    if (!integers.empty()) return Attribute(std::move(integers));
    if (!reals.empty()) return Attribute(std::move(reals));
    return Attribute(std::move(texts));
  }

  Result<Type> type() {
    Type out;
    const std::string_view name = cursor_.run_of(text::is_identifier_char);
    const std::optional<DType> dtype = dtype_from_name(name);
    if (!dtype && name != name_of(DType::undefined)) return cursor_.fail(fmt::format("'{}' is no element type", name));
    out.dtype = dtype.value_or(DType::undefined);
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
    if (!dims || size_of(type.dtype) == 0) return cursor_.fail("a constant has an element type and a shape of numbers");
    SV_TRY(check_dims(*dims));
    if (cursor_.peek() == '.')
      return cursor_.fail("this constant was printed by its digest only: print the graph with more elements");
    std::vector<std::byte> bytes;
    SV_TRY(cursor_.expect('{', "before the elements"));
    while (!cursor_.take('}')) {
      if (!bytes.empty()) SV_TRY(cursor_.expect(',', "between elements"));
      const std::string_view token = cursor_.run_of(is_number_char);
      if (!append_element(type.dtype, token, bytes))
        return cursor_.fail(fmt::format("'{}' is no {}", token, name_of(type.dtype)));
    }
    const size_t wanted = static_cast<size_t>(element_count(*dims)), given = bytes.size() / size_of(type.dtype);
    if (given != wanted) return cursor_.fail(fmt::format("{} elements for the shape {}", given, to_string(*dims)));
    SV_ASSIGN(MutableTensor out, Tensor::allocate(type.dtype, *dims));
    if (!bytes.empty()) std::memcpy(out.raw(), bytes.data(), bytes.size());
    return out;
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

  Cursor cursor_;
  const OpRegistry& ops_;
  Graph graph_;
  std::unordered_map<std::string, Value*> values_;
};

}  // namespace

Result<Graph> parse_graph(std::string_view text, const OpRegistry& ops) { return Parser(text, ops).run(); }

}  // namespace svengine
