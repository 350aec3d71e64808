// Operators on maps: CastMap and DictVectorizer make a dense tensor of one, ZipMap a sequence of maps of one.
#include <cstdlib>
#include <map>

#include "engine/ops/element.h"
#include "engine/ops/host_tensor.h"
#include "engine/ops/ml/label_common.h"

namespace svengine::ops {
namespace {

Status require_map(const InferContext& c) {
  if (!c.has_input(0) || c.dtype(0) == DType::map || c.dtype(0) == DType::undefined) return {};
  return error("X is {}, needs a map", name_of(c.dtype(0)));
}

/// Keys and values of a map that is input 0.
struct MapParts {
  const Tensor &keys, &values;
};
Result<MapParts> map_parts(const EvaluateContext& c) {
  const std::vector<Tensor>& items = c.input(0).items();
  if (items.size() != 2 || items[0].count() != items[1].count() || is_container(items[1].type()))
    return error("the map does not hold as many plain values as keys");
  return MapParts{items[0], items[1]};
}

Result<DType> cast_map_type(const Attributes& a) {
  const std::string to = a.get_string("cast_to", "TO_FLOAT");
  if (to == "TO_FLOAT") return DType::f32;
  if (to == "TO_INT64") return DType::i64;
  if (to == "TO_STRING") return DType::string;
  return error("cast_to is '{}', needs TO_FLOAT, TO_INT64 or TO_STRING", to);
}

Status infer_cast_map(InferContext& c) {
  SV_TRY(require_map(c));
  SV_ASSIGN(const DType to, cast_map_type(c.attributes()));
  const std::string form = c.attributes().get_string("map_form", "DENSE");
  if (form != "DENSE" && form != "SPARSE") return error("map_form is '{}', needs DENSE or SPARSE", form);
  if (form == "SPARSE" && c.attributes().get_int("max_map", 1) < 1)
    return error("max_map is {}, needs 1 at least", c.attributes().get_int("max_map", 1));
  c.set(0, to, Shape{Dim(1), form == "SPARSE" ? Dim(c.attributes().get_int("max_map", 1)) : Dim()});
  return {};
}

/// A map's value as text or number.
std::string map_text(const Tensor& values, int64_t i) {
  if (values.type() == DType::string) return values.strings()[static_cast<size_t>(i)];
  return fmt::format("{}", static_cast<float>(number_at(values.type(), values.raw(), i)));
}
Result<double> map_number(const Tensor& values, int64_t i) {
  if (values.type() != DType::string) return number_at(values.type(), values.raw(), i);
  const std::string& text = values.strings()[static_cast<size_t>(i)];
  char* end = nullptr;
  const double number = std::strtod(text.c_str(), &end);
  if (text.empty() || *end) return error("'{}' is no number", text);
  return number;
}

/// The values in the order of their keys; a sparse form puts each at the place that its key names, among zeros (or empty
/// strings).
Status evaluate_cast_map(EvaluateContext& c) {
  SV_ASSIGN(const MapParts map, map_parts(c));
  SV_ASSIGN(const DType to, cast_map_type(c.attributes()));
  if (map.keys.type() != DType::i64) return error("the keys are {}, need int64", name_of(map.keys.type()));
  const bool sparse = c.attributes().get_string("map_form", "DENSE") == "SPARSE";
  std::map<int64_t, int64_t> order;
  for (int64_t i = 0; i < map.keys.count(); ++i) order.emplace(map.keys.data<int64_t>()[static_cast<size_t>(i)], i);
  const int64_t width = sparse ? c.attributes().get_int("max_map", 1) : static_cast<int64_t>(order.size());
  SV_TRY(check_room_for_strings(Dims{1, width}));  // more than the places or numbers take
  std::vector<int64_t> sources(static_cast<size_t>(width), -1);
  size_t next = 0;
  for (const auto& [key, i] : order) {
    if (sparse && (key < 0 || key >= width)) {
      if (key < 0) return error("key {} is negative, which the sparse form has no place for", key);
      continue;
    }
    sources[sparse ? static_cast<size_t>(key) : next++] = i;
  }
  if (to == DType::string) {
    std::vector<std::string> texts;
    for (const int64_t i : sources) texts.push_back(i < 0 ? "0" : map_text(map.values, i));
    c.set(0, Tensor::of_strings({1, width}, std::move(texts)));
    return {};
  }
  SV_ASSIGN(MutableTensor out, Tensor::allocate(to, {1, width}));
  for (size_t k = 0; k < sources.size(); ++k) {
    double number = 0;
    if (sources[k] >= 0) {
      SV_ASSIGN(number, map_number(map.values, sources[k]));
    }
    if (to == DType::f32)
      out.data<float>()[k] = static_cast<float>(number);
    else
      std::memcpy(&out.data<int64_t>()[k], scalar_of(DType::i64, number).raw(), sizeof(int64_t));
  }
  c.set(0, std::move(out));
  return {};
}

/// The place of element i of a tensor of the keys' type; -1: it is none of them.
int64_t label_place(const LabelTable& places, const Tensor& keys, int64_t i) {
  if (keys.type() == DType::string) return places.find(keys.strings()[static_cast<size_t>(i)]);
  return places.find(keys.type(), keys.raw(), i);
}

/// The keys that a row has places for.
struct Vocabulary {
  DType type;
  LabelTable places;
  std::vector<int64_t> first_equal;  // of every place, the first one of an equal key
};

Result<Vocabulary> vocabulary(const Attributes& a) {
  SV_ASSIGN(const Tensor keys, one_label_list(a, "string_vocabulary", "int64_vocabulary"));
  Vocabulary v{keys.type(), LabelTable(keys, EqualKeys::first), {}};
  for (int64_t i = 0; i < keys.count(); ++i) v.first_equal.push_back(label_place(v.places, keys, i));
  return v;
}

Status infer_dict_vectorizer(InferContext& c) {
  SV_TRY(require_map(c));
  SV_ASSIGN(const auto words, table_of<vocabulary>(c.attributes()));
  const DType type = c.type(0).element ? c.type(0).element->dtype : DType::undefined;
  c.set(0, type, Shape{Dim(1), Dim(static_cast<int64_t>(words->first_equal.size()))});
  return {};
}

/// The values of a vocabulary's keys, zero (or "") where the map has none.
Status evaluate_dict_vectorizer(EvaluateContext& c) {
  SV_ASSIGN(const MapParts map, map_parts(c));
  SV_ASSIGN(const auto words, table_of<vocabulary>(c.attributes()));
  if (map.keys.type() != words->type)
    return error("the map's keys are {}, the vocabulary's {}", name_of(map.keys.type()), name_of(words->type));
  const size_t count = words->first_equal.size();
  std::vector<int64_t> sources(count, -1);  // of first equal keys
  for (int64_t i = map.keys.count(); i-- > 0;) {  // the first of equal keys of the map counts
    const int64_t place = label_place(words->places, map.keys, i);
    if (place >= 0) sources[static_cast<size_t>(place)] = i;
  }
  const Dims dims{1, static_cast<int64_t>(count)};
  const DType type = map.values.type();
  if (type == DType::string) {
    std::vector<std::string> texts(count);
    for (size_t k = 0; k < count; ++k)
      if (const int64_t from = sources[static_cast<size_t>(words->first_equal[k])]; from >= 0)
        texts[k] = map.values.strings()[static_cast<size_t>(from)];
    c.set(0, Tensor::of_strings(dims, std::move(texts)));
    return {};
  }
  SV_ASSIGN(MutableTensor numbers, Tensor::allocate(type, dims));
  std::memset(numbers.raw(), 0, numbers.byte_size());
  for (size_t k = 0; k < count; ++k)
    if (const int64_t from = sources[static_cast<size_t>(words->first_equal[k])]; from >= 0)
      std::memcpy(numbers.raw() + k * size_of(type), map.values.raw() + static_cast<size_t>(from) * size_of(type), size_of(type));
  c.set(0, std::move(numbers));
  return {};
}

Result<Tensor> zip_labels(const Attributes& a) { return one_label_list(a, "classlabels_strings", "classlabels_int64s"); }

Status infer_zip_map(InferContext& c) {
  SV_TRY(require_dtype(c, 0, {DType::f32}));
  SV_TRY(row_dim(c));
  SV_ASSIGN(const auto labels, table_of<zip_labels>(c.attributes()));
  if (c.shape(0).has_rank() && known_different(c.shape(0).back(), labels->count()))
    return error("{} class labels for {} scores", labels->count(), c.shape(0).back().value());
  Type map{DType::map, Shape(std::vector<Dim>{})};
  map.key = labels->type();
  map.element = std::make_shared<const Type>(Type{DType::f32, Shape(std::vector<Dim>{})});
  Type out{DType::sequence, Shape(std::vector<Dim>{})};
  out.element = std::make_shared<const Type>(std::move(map));
  c.set(0, std::move(out));
  return {};
}

/// Of each row a map from labels to its scores. Labels and scores are shared, not copied.
Status evaluate_zip_map(EvaluateContext& c) {
  const Tensor& x = c.input(0);
  SV_ASSIGN(const Rows rows, feature_rows(x.dims()));
  SV_ASSIGN(const auto labels, table_of<zip_labels>(c.attributes()));
  if (labels->count() != rows.features) return error("{} class labels for {} scores", labels->count(), rows.features);
  std::vector<Tensor> maps;
  for (int64_t r = 0; r < rows.count; ++r) {
    Tensor scores = Tensor::wrap(DType::f32, {rows.features}, x.data<float>().data() + r * rows.features, x.owner());
    maps.push_back(Tensor::of_items(DType::map, {*labels, std::move(scores)}));
  }
  c.set(0, Tensor::of_items(DType::sequence, std::move(maps)));
  return {};
}

}  // namespace

OpDef define_cast_map() {
  return {
      .name = "CastMap",
      .domain = kMlDomain,
      .until = kNewestMlOpset,
      .inputs = "X",
      .attributes = {{"cast_to", AttributeKind::kString, false, "TO_FLOAT"},
                     {"map_form", AttributeKind::kString, false, "DENSE"},
                     {"max_map", AttributeKind::kInt, false, 1}},
      .infer = infer_cast_map,
      .evaluate = evaluate_cast_map,
  };
}

OpDef define_dict_vectorizer() {
  return {
      .name = "DictVectorizer",
      .domain = kMlDomain,
      .until = kNewestMlOpset,
      .inputs = "X",
      .attributes = {ml_strings("string_vocabulary"), ml_ints("int64_vocabulary")},
      .infer = infer_dict_vectorizer,
      .evaluate = evaluate_dict_vectorizer,
  };
}

OpDef define_zip_map() {
  return {
      .name = "ZipMap",
      .domain = kMlDomain,
      .until = kNewestMlOpset,
      .inputs = "X",
      .attributes = {ml_strings("classlabels_strings"), ml_ints("classlabels_int64s")},
      .infer = infer_zip_map,
      .evaluate = evaluate_zip_map,
  };
}

}  // namespace svengine::ops
