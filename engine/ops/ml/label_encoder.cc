// LabelEncoder: each element looked up among keys and replaced by the value there, or by a default. CategoryMapper: strings to
// integers and back, by two parallel lists.
#include <cstring>

#include "engine/ops/element_step.h"
#include "engine/ops/ml/label_common.h"

namespace svengine::ops {
namespace {

constexpr DTypeSet kLabelTypes{DType::string, DType::i64, DType::f32, DType::i32, DType::i16, DType::f64};

/// Keys, and values as a tensor; the default is a tensor of one element, of the values' type.
struct LabelMap {
  LabelTable places;
  DType key_type;
  Tensor values, otherwise;

  const std::string& text(int64_t place) const { return place < 0 ? otherwise.strings()[0] : values.strings()[static_cast<size_t>(place)]; }
};

/// The first form has a list of classes: an element that is a string becomes its place there, an integer the string at that
/// place.
Status canonicalize_label_encoder(CanonicalizeContext& c) {
  const auto* classes = c.attributes().get<std::vector<std::string>>("classes_strings");
  if (!classes || !c.node().input(0)) return {};
  std::vector<int64_t> numbers;
  for (size_t i = 0; i < classes->size(); ++i) numbers.push_back(static_cast<int64_t>(i));
  const bool to_number = c.node().input(0)->type.dtype == DType::string;
  const Attribute names = *classes;
  c.attributes().erase("classes_strings");
  c.attributes().set(to_number ? "keys_strings" : "values_strings", names);
  c.attributes().set(to_number ? "values_int64s" : "keys_int64s", std::move(numbers));
  return {};
}

Result<LabelMap> make_map(Tensor keys, Tensor values, Tensor otherwise) {
  if (!keys.defined() || !values.defined()) return error("needs keys and values");
  if (keys.count() != values.count()) return error("{} keys, {} values, need as many", keys.count(), values.count());
  if (otherwise.count() != 1 || otherwise.type() != values.type())
    return error("the default is {}[{}], needs one element of {}", name_of(otherwise.type()),
                 svengine::to_string(otherwise.dims()), name_of(values.type()));
  for (Tensor* t : {&keys, &values, &otherwise})
    if (!t->is_aligned()) {
      SV_ASSIGN(*t, t->aligned_copy());
    }
  LabelTable places(keys, EqualKeys::last);
  return LabelMap{std::move(places), keys.type(), std::move(values), std::move(otherwise)};
}

/// Of one kind each; more than one would leave open which counts.
Status check_one_list(const Attributes& a, const char* what) {
  std::string given;
  for (const char* kind : {"tensor", "strings", "int64s", "floats"})
    if (const std::string name = fmt::format("{}_{}", what, kind); a.has(name)) given += (given.empty() ? "" : ", ") + name;
  if (given.find(',') != given.npos) return error("has {}, needs one of them", given);
  return {};
}

Result<LabelMap> encoder_map(const Attributes& a) {
  SV_TRY(check_one_list(a, "keys"));
  SV_TRY(check_one_list(a, "values"));
  Tensor keys = label_list(a, {"keys_tensor", "keys_strings", "keys_int64s", "keys_floats"});
  Tensor values = label_list(a, {"values_tensor", "values_strings", "values_int64s", "values_floats"});
  Tensor otherwise = label_list(a, {"default_tensor"});
  if (otherwise.defined() && otherwise.dims().size() != 1) return error("default_tensor is of rank {}, needs 1", otherwise.dims().size());
  if (!otherwise.defined() && values.defined()) {
    switch (values.type()) {
      case DType::string:
        otherwise = Tensor::of_strings({}, {a.get_string("default_string", "_Unused")});
        break;
      case DType::i64:
        otherwise = Tensor::scalar(a.get_int("default_int64", -1));
        break;
      case DType::i32:
        otherwise = Tensor::scalar(static_cast<int32_t>(a.get_int("default_int64", -1)));
        break;
      case DType::f64:
        otherwise = Tensor::scalar(static_cast<double>(a.get_float("default_float", -0.0f)));
        break;
      case DType::f32:
        otherwise = Tensor::scalar(a.get_float("default_float", -0.0f));
        break;
      default: {
        const int16_t minus_one = -1;
        SV_ASSIGN(MutableTensor t, Tensor::allocate(DType::i16, {}));
        std::memcpy(t.raw(), &minus_one, 2);
        otherwise = std::move(t);
      }
    }
  }
  return make_map(std::move(keys), std::move(values), std::move(otherwise));
}

Status infer_lookup(InferContext& c, const LabelMap& map) {
  SV_TRY(require_dtype(c, 0, kLabelTypes));
  if (!kLabelTypes.has(map.values.type()))
    return error("values are {}, need {}", name_of(map.values.type()), to_string(kLabelTypes));
  if (c.dtype(0) != DType::undefined && c.dtype(0) != map.key_type)
    return error("X is {}, the keys are {}", name_of(c.dtype(0)), name_of(map.key_type));
  c.set(0, map.values.type(), c.shape(0));
  return {};
}

Status infer_label_encoder(InferContext& c) {
  SV_ASSIGN(const auto map, table_of<encoder_map>(c.attributes()));
  return infer_lookup(c, *map);
}

/// Calls visit(i, place) for every element of an input of the keys' type.
template <class Visit>
void for_each_place(const LabelTable& places, DType type, const void* x, int64_t begin, int64_t end, Visit visit) {
  const auto all = [&]<class T>(const T* elements) {
    for (int64_t i = begin; i < end; ++i) {
      if constexpr (std::is_same_v<T, std::string>)
        visit(i, places.find(elements[i]));
      else if constexpr (std::is_floating_point_v<T>)
        visit(i, places.find_real(static_cast<double>(elements[i])));
      else
        visit(i, places.find(label_bits(elements[i])));
    }
  };
  switch (type) {
    case DType::string: return all(static_cast<const std::string*>(x));
    case DType::i64: return all(static_cast<const int64_t*>(x));
    case DType::i32: return all(static_cast<const int32_t*>(x));
    case DType::i16: return all(static_cast<const int16_t*>(x));
    case DType::f64: return all(static_cast<const double*>(x));
    default: return all(static_cast<const float*>(x));  // kLabelTypes has no other
  }
}

/// y[i] = the value that x[i] has as a key, elements of either type by their bytes.
template <class T>
void look_up_elements(const LabelMap& map, const void* x, T* y, int64_t begin, int64_t end) {
  const T* values = reinterpret_cast<const T*>(map.values.raw());
  const T otherwise = *reinterpret_cast<const T*>(map.otherwise.raw());
  for_each_place(map.places, map.key_type, x, begin, end, [=](int64_t i, int64_t place) { y[i] = place < 0 ? otherwise : values[place]; });
}

void look_up_numbers(const LabelMap& map, const void* x, void* y, int64_t begin, int64_t end) {
  switch (size_of(map.values.type())) {
    case 2: return look_up_elements(map, x, static_cast<uint16_t*>(y), begin, end);
    case 4: return look_up_elements(map, x, static_cast<uint32_t*>(y), begin, end);
    default: return look_up_elements(map, x, static_cast<uint64_t*>(y), begin, end);  // kLabelTypes has no other
  }
}

/// Only where neither keys nor values are strings.
Status lower_label_encoder(LowerContext& c) {
  SV_ASSIGN(const auto map, table_of<encoder_map>(c.attributes()));
  emit_elements(c, "label_encoder", element_count(c.in_dims(0)), [=, x = c.in(0), y = c.out()](const Run& run, int64_t begin, int64_t end) {
    look_up_numbers(*map, run.get<const void>(x), run.get<void>(y), begin, end);
  });
  return {};
}

Status evaluate_lookup(EvaluateContext& c, const LabelMap& map) {
  const Tensor& x = c.input(0);
  if (map.values.type() == DType::string) {
    std::vector<std::string> texts;
    texts.reserve(static_cast<size_t>(x.count()));
    for_each_place(map.places, x.type(), x.raw(), 0, x.count(), [&](int64_t, int64_t place) { texts.push_back(map.text(place)); });
    c.set(0, Tensor::of_strings(x.dims(), std::move(texts)));
    return {};
  }
  SV_ASSIGN(MutableTensor numbers, Tensor::allocate(map.values.type(), x.dims()));
  look_up_numbers(map, x.raw(), numbers.raw(), 0, x.count());
  c.set(0, std::move(numbers));
  return {};
}

Status evaluate_label_encoder(EvaluateContext& c) {
  SV_ASSIGN(const auto map, table_of<encoder_map>(c.attributes()));
  return evaluate_lookup(c, *map);
}

Result<LabelMap> map_to_numbers(const Attributes& a) {
  return make_map(label_list(a, {"cats_strings"}), label_list(a, {"cats_int64s"}), Tensor::scalar(a.get_int("default_int64", -1)));
}
Result<LabelMap> map_to_texts(const Attributes& a) {
  return make_map(label_list(a, {"cats_int64s"}), label_list(a, {"cats_strings"}),
                  Tensor::of_strings({}, {a.get_string("default_string", "_Unused")}));
}

Result<std::shared_ptr<const LabelMap>> category_map(const Attributes& a, bool from_text) {
  return from_text ? table_of<map_to_numbers>(a) : table_of<map_to_texts>(a);
}

Status infer_category_mapper(InferContext& c) {
  SV_TRY(require_dtype(c, 0, {DType::string, DType::i64}));
  SV_ASSIGN(const auto map, category_map(c.attributes(), c.dtype(0) == DType::string));
  return infer_lookup(c, *map);
}

Status evaluate_category_mapper(EvaluateContext& c) {
  SV_ASSIGN(const auto map, category_map(c.attributes(), c.input(0).type() == DType::string));
  return evaluate_lookup(c, *map);
}

}  // namespace

OpDef define_label_encoder() {
  return {
      .name = "LabelEncoder",
      .domain = kMlDomain,
      .until = kNewestMlOpset,
      .inputs = "X",
      .attributes = {ml_strings("classes_strings"),
                     ml_tensor("keys_tensor"),
                     ml_strings("keys_strings"),
                     ml_ints("keys_int64s"),
                     ml_floats("keys_floats"),
                     ml_tensor("values_tensor"),
                     ml_strings("values_strings"),
                     ml_ints("values_int64s"),
                     ml_floats("values_floats"),
                     ml_tensor("default_tensor"),
                     {"default_string", AttributeKind::kString, false, "_Unused"},
                     {"default_int64", AttributeKind::kInt, false, -1},
                     {"default_float", AttributeKind::kFloat, false, -0.0f}},
      .canonicalize = canonicalize_label_encoder,
      .infer = infer_label_encoder,
      .lower = lower_label_encoder,
      .evaluate = evaluate_label_encoder,
      .samples = "(int64[3, 7] 0 to 6) {keys_tensor = int64[3]{1, 2, 4}, values_tensor = float32[3]{0.5, 1.5, 2.5}, "
                 "default_tensor = float32[1]{-1.0}}"
                 "(int32[5] 0 to 6) {keys_tensor = int32[3]{1, 2, 2}, values_tensor = float64[3]{0.5, 1.5, 2.5}, "
                 "default_tensor = float64[1]{-1.0}}"
                 "(float64[0, 2]) {keys_tensor = float64[1]{1.0}, values_tensor = int64[1]{3}, default_tensor = int64[1]{9}}"
                 "(float32[4]{1.0, nan, -0.0, 3.0}) {keys_floats = [nan, 0.0, 1.0], values_int64s = [5, 6, 7]}",
  };
}

OpDef define_category_mapper() {
  return {
      .name = "CategoryMapper",
      .domain = kMlDomain,
      .until = kNewestMlOpset,
      .inputs = "X",
      .attributes = {ml_strings("cats_strings"),
                     ml_ints("cats_int64s"),
                     {"default_string", AttributeKind::kString, false, "_Unused"},
                     {"default_int64", AttributeKind::kInt, false, -1}},
      .infer = infer_category_mapper,
      .evaluate = evaluate_category_mapper,
  };
}

}  // namespace svengine::ops
