// One node of any operator: a sample of it (OpDef::samples) with changes, those of tests/hostile and free ones. A typed error, or
// results of
// the inferred types: tests/hostile/attempt.h looks.
//
//   operator (2 bytes, a hash of its name, so that new operators change few inputs) sample (1) change.. : kind (1) and what it takes
#include <map>
#include <unordered_map>

#include "engine/base/hash.h"
#include "engine/ops/registry.h"
#include "engine/ops/samples.h"
#include "fuzz/support.h"
#include "fuzz/under_limits.h"
#include "tests/hostile/attempt.h"

namespace svengine::fuzz {
namespace {

using tests::Change;
using tests::Relative;
using tests::RelativeInput;

constexpr int64_t kMostBytes = int64_t{1} << 18;  // of a plan that is run: the reference's kernels are slow, and slower under sanitizers
constexpr int kMostChanges = 6;

/// The one whose hash comes next.
const OpDef& operator_of(uint16_t key) {
  static const std::map<uint64_t, const OpDef*> by_hash = [] {
    std::map<uint64_t, const OpDef*> ops;
    for (const OpDef& op : all_ops().all())
      if (!op.samples.empty()) ops.emplace(hash64(fmt::format("{}.{}", op.domain, op.name)) >> 48, &op);
    return ops;
  }();
  const auto next = by_hash.lower_bound(key);
  return *(next == by_hash.end() ? by_hash.begin() : next)->second;
}

const std::vector<Change>& listed_changes(const OpDef& op, size_t sample) {
  static std::unordered_map<const Sample*, std::vector<Change>> lists;
  const Sample& of = samples_of(op)[sample];
  const auto found = lists.find(&of);
  return found != lists.end() ? found->second : lists.emplace(&of, tests::changes_of(op, of)).first->second;
}

Dims shape_from(Reader& in) {
  Dims dims(in.below(6));
  for (int64_t& d : dims) d = in.take<uint8_t>() % 8;
  return dims;
}

DType type_from(Reader& in) {
  constexpr DType kTypes[] = {DType::f32, DType::f64,  DType::f16,      DType::bf16, DType::u8, DType::i8,    DType::i16,
                              DType::u16, DType::i32,  DType::u32,      DType::i64,  DType::u64, DType::boolean, DType::f8e4m3fn,
                              DType::u4,  DType::i4};
  return kTypes[in.below(std::size(kTypes))];
}

/// Elements as bytes: anything that a file may hold.
Tensor value_from(Reader& in, DType type, const Dims& dims) {
  const Result<MutableTensor> allocated = Tensor::allocate(type, dims);
  if (!allocated.ok() || allocated->byte_size() > 4096) return {};
  MutableTensor t = *allocated;
  if (t.byte_size()) std::memset(t.raw(), 0, t.byte_size());
  if (type == DType::i64) {
    for (int64_t& e : t.data<int64_t>()) e = in.integer();
    return t;
  }
  const Bytes given = in.take_bytes(t.byte_size());
  if (!given.empty()) std::memcpy(t.raw(), given.data(), given.size());
  if (type == DType::boolean)
    for (uint8_t& e : std::span(reinterpret_cast<uint8_t*>(t.raw()), t.byte_size())) e &= 1;
  if (type == DType::u4)
    for (uint8_t& e : std::span(reinterpret_cast<uint8_t*>(t.raw()), t.byte_size())) e &= 15;
  if (type == DType::i4)
    for (int8_t& e : std::span(reinterpret_cast<int8_t*>(t.raw()), t.byte_size())) e = static_cast<int8_t>((e & 15) - 8);
  return t;
}

void change_attribute(Reader& in, const OpDef& op, Relative& r) {
  if (op.attributes.empty()) return;
  const AttributeDef& def = op.attributes[in.below(op.attributes.size())];
  switch (def.kind) {
    case AttributeKind::kInt: return r.attributes.set(def.name, in.integer());
    case AttributeKind::kFloat: return r.attributes.set(def.name, std::bit_cast<float>(in.take<uint32_t>()));
    case AttributeKind::kInts: {
      std::vector<int64_t> list(in.below(9));
      for (int64_t& e : list) e = in.integer();
      return r.attributes.set(def.name, std::move(list));
    }
    case AttributeKind::kTensor: {
      const DType type = type_from(in);
      const Dims dims = shape_from(in);
      if (Tensor t = value_from(in, type, dims); t.defined()) r.attributes.set(def.name, std::move(t));
      return;
    }
    default: return;  // words, lists of reals and bodies are among the listed changes
  }
}

void change_input(Reader& in, Relative& r) {
  if (r.inputs.empty()) return;
  RelativeInput& input = r.inputs[in.below(r.inputs.size())];
  if (is_handle(input.dtype)) return;
  switch (in.below(4)) {
    case 0: input.dtype = type_from(in); break;
    case 1: input.dims = shape_from(in); break;
    case 2:
      if (!input.dims.empty()) input.dims[in.below(input.dims.size())] = in.integer();
      break;
    case 3: input.constant = in.take<uint8_t>() % 2; break;
  }
  input.declared = Shape::of(input.dims);
  input.value = {};
  if (check_dims(input.dims).ok() && element_count(input.dims) <= 64) input.value = value_from(in, input.dtype, input.dims);
  input.constant = input.constant && input.value.defined();
}

/// The node, for a finding: "f32[2x3] as [?x3], constant i64[1]; 2 outputs; axis=1".
std::string describe(const Relative& r) {
  std::string text;
  for (const RelativeInput& in : r.inputs) {
    if (!text.empty()) text += ", ";
    text += in.absent ? "absent"
                      : fmt::format("{}{}[{}] as {}", in.constant ? "constant " : "", name_of(in.dtype), to_string(in.dims), to_string(in.declared));
  }
  text += fmt::format("; {} outputs", r.outputs);
  for (const auto& [name, value] : r.attributes) {
    text += "; " + name;
    if (const auto* number = std::get_if<int64_t>(&value)) text += fmt::format("={}", *number);
    if (const auto* list = std::get_if<std::vector<int64_t>>(&value)) text += fmt::format("={}", to_string(*list));
  }
  return text;
}

}  // namespace

void fuzz_operator(Bytes bytes) {
  Reader in(bytes);
  const OpDef& op = operator_of(in.take<uint16_t>());
  const size_t sample = in.below(samples_of(op).size());
  Relative relative = tests::relative_of(samples_of(op)[sample]);
  const UnderLimits limits;
  for (int i = 0; i < kMostChanges && !in.empty(); ++i) {
    const size_t kind = in.below(4);
    if (kind == 0) change_attribute(in, op, relative);
    if (kind == 1) change_input(in, relative);
    if (kind < 2) continue;
    const std::vector<Change>& changes = listed_changes(op, sample);
    changes[in.take<uint16_t>() % changes.size()].apply(relative);
  }
  tests::AttemptCount count;
  const std::string wrong = tests::attempt(op, relative, fuzzed_kernels(), count, kMostBytes);
  if (!wrong.empty()) finding(fmt::format("{}, sample {}: {} ({})", op.name, sample, wrong, describe(relative)));
}

}  // namespace svengine::fuzz
