// OneHotEncoder: a one at the place of each element among the categories. An element that is none of them gives zeros, or where
// `zeros` is 0 an error.
#include "engine/ops/element_step.h"
#include "engine/ops/ml/label_common.h"

namespace svengine::ops {
namespace {

struct HotCategories {
  DType type;
  int64_t count;
  LabelTable places;
};

Result<HotCategories> hot_categories(const Attributes& a) {
  SV_ASSIGN(const Tensor categories, one_label_list(a, "cats_strings", "cats_int64s"));
  return HotCategories{categories.type(), categories.count(), LabelTable(categories, EqualKeys::first)};
}

Status infer_one_hot_encoder(InferContext& c) {
  SV_ASSIGN(const auto categories, table_of<hot_categories>(c.attributes()));
  SV_TRY(require_dtype(c, 0, categories->type == DType::string ? DTypeSet{DType::string} : kFeatureTypes));
  Shape out = c.shape(0);
  if (out.has_rank()) {
    std::vector<Dim> dims = out.dims();
    dims.emplace_back(categories->count);
    out = Shape(std::move(dims));
  }
  c.set(0, DType::f32, std::move(out));
  return {};
}

/// Numbers are categories by their whole part.
Status lower_one_hot_encoder(LowerContext& c) {
  SV_ASSIGN(const auto categories, table_of<hot_categories>(c.attributes()));
  const int64_t width = categories->count, count = element_count(c.in_dims(0));
  const bool zeros = c.attributes().get_int("zeros", 1) != 0;
  with_feature_type(c.in_type(0).dtype, [&]<class T>() {
    c.emit("one_hot_encoder", ceil_div(count, kElementsOfTask),
           [=, x = c.in(0), y = c.out()](const Run& run, int64_t begin, int64_t end) -> const char* {
             for (int64_t i = begin * kElementsOfTask; i < std::min(count, end * kElementsOfTask); ++i) {
               float* row = run.get<float>(y) + i * width;
               std::fill_n(row, width, 0.0f);
               const auto value = static_cast<double>(run.get<const T>(x)[i]);
               const bool whole = value >= -0x1p62 && value <= 0x1p62;
               const int64_t place = whole ? categories->places.find(static_cast<int64_t>(run.get<const T>(x)[i])) : -1;
               if (place >= 0)
                 row[place] = 1;
               else if (!zeros)
                 return "an element is none of the categories (attribute zeros is 0)";
             }
             return nullptr;
           });
  });
  return {};
}

Status evaluate_one_hot_encoder(EvaluateContext& c) {
  const Tensor& x = c.input(0);
  SV_ASSIGN(const auto categories, table_of<hot_categories>(c.attributes()));
  const int64_t width = categories->count;
  Dims dims = x.dims();
  dims.push_back(width);
  SV_ASSIGN(MutableTensor out, Tensor::allocate(DType::f32, std::move(dims)));
  std::fill(out.data<float>().begin(), out.data<float>().end(), 0.0f);
  for (int64_t i = 0; i < x.count(); ++i) {
    const int64_t place = categories->places.find(x.strings()[static_cast<size_t>(i)]);
    if (place >= 0)
      out.data<float>()[static_cast<size_t>(i * width + place)] = 1;
    else if (c.attributes().get_int("zeros", 1) == 0)
      return error("element {} is none of the categories (attribute zeros is 0)", i);
  }
  c.set(0, std::move(out));
  return {};
}

}  // namespace

OpDef define_one_hot_encoder() {
  return {
      .name = "OneHotEncoder",
      .domain = kMlDomain,
      .until = kNewestMlOpset,
      .inputs = "X",
      .attributes = {ml_ints("cats_int64s"), ml_strings("cats_strings"), {"zeros", AttributeKind::kInt, false, 1}},
      .infer = infer_one_hot_encoder,
      .lower = lower_one_hot_encoder,
      .evaluate = evaluate_one_hot_encoder,
      .samples = "(int64[3, 7] -3 to 5) {cats_int64s = [1, 3, -2]}"
                 "(float32[5] -3 to 5) {cats_int64s = [1, 3, -2]}"
                 "(int32[2, 0]) {cats_int64s = [1, 3, -2]}"
                 "(float64[] -3 to 5) {cats_int64s = [1, 3, -2]}",
  };
}

}  // namespace svengine::ops
