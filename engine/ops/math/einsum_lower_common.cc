// Einstein sums as steps. Operands are combined from left to right. A pair of float32 or float64 operands is a batch of matrix products,
//
//     labels of both that are kept  batch      of A alone  m
//     labels of both, summed        k          of B alone  n          result [batch..., m..., n...]
//
// after copies where an operand's memory is not [batch, m, k] or [batch, k, m] by strides, and so are those of integers of 32 and 64 bits.
// All else is sums of the elements of one operand, or of products of two: einsum_sums_common.h.
#include <algorithm>

#include "engine/ops/infer_util.h"
#include "engine/ops/math/einsum_common.h"
#include "engine/ops/math/einsum_sums_common.h"
#include "engine/ops/nn/product_common.h"
#include "engine/ops/tensor/copy_common.h"
#include "engine/ops/wide/wide.h"

namespace svengine::ops {
namespace {

using Labels = std::vector<int>;

/// Operands of which pairs are products of matrices: integers by the loops of wide/.
constexpr DTypeSet kEinsumProducts = kProductTypes | DTypeSet{DType::i32, DType::u32, DType::i64, DType::u64};

bool has(const Labels& labels, int label) { return std::find(labels.begin(), labels.end(), label) != labels.end(); }

/// An operand: its labels, each once, with strides in elements.
struct Factor {
  Buffer buffer;
  Labels labels;
  std::vector<int64_t> strides;
  int constant_input = -1;  // where it is an input as it stands, and known

  int64_t stride(int label) const {
    const auto at = std::find(labels.begin(), labels.end(), label);
    return at == labels.end() ? 0 : strides[static_cast<size_t>(at - labels.begin())];
  }
};

class EinsumLowering {
 public:
  EinsumLowering(LowerContext& c, EinsumEquation equation, std::vector<Shape> shapes)
      : c_(c), equation_(std::move(equation)), shapes_(std::move(shapes)), type_(c.in_type(0).dtype) {}

  Status run() {
    Factor result = operand(0);
    for (size_t i = 1; i < equation_.terms.size(); ++i) {
      SV_ASSIGN(result, combine(std::move(result), operand(i), i + 1));
    }
    if (written_) return {};
    return sums(result, nullptr, equation_.output, c_.out());
  }

 private:
  int64_t size(int label) const { return einsum_size(equation_, shapes_, label).value().value(); }
  Dims sizes(const Labels& labels) const {
    Dims dims;
    for (const int label : labels) dims.push_back(size(label));
    return dims;
  }
  int64_t count(const Labels& labels) const { return element_count(sizes(labels)); }

  Factor operand(size_t i) const {
    Factor f{.buffer = {}, .labels = {}, .strides = {}, .constant_input = c_.constant(i) ? static_cast<int>(i) : -1};
    const Dims dims = *shapes_[i].concrete();
    const std::vector<int64_t> strides = strides_of(dims);
    for (size_t k = 0; k < dims.size(); ++k) {
      const int label = equation_.terms[i][k];
      const int64_t stride = dims[k] == 1 ? 0 : strides[k];
      const auto at = std::find(f.labels.begin(), f.labels.end(), label);
      if (at == f.labels.end()) {
        f.labels.push_back(label);
        f.strides.push_back(stride);
      } else {
        f.strides[static_cast<size_t>(at - f.labels.begin())] += stride;
      }
    }
    if (f.constant_input < 0) f.buffer = c_.in(i);
    return f;
  }
  /// Where a factor is, for steps that want it as it stands.
  Buffer place(const Factor& f) { return f.constant_input >= 0 ? c_.in(static_cast<size_t>(f.constant_input)) : f.buffer; }

  Factor dense(Labels labels, Buffer buffer) const { return {buffer, labels, strides_of(sizes(labels)), -1}; }
  Buffer room(const Labels& labels) {
    return c_.temporary(std::max<int64_t>(1, count(labels)) * static_cast<int64_t>(size_of(type_)));
  }

  bool is_needed(int label, size_t next) const {
    if (has(equation_.output, label)) return true;
    return std::any_of(equation_.terms.begin() + static_cast<int64_t>(next), equation_.terms.end(),
                       [label](const Labels& term) { return has(term, label); });
  }

  /// a times b, over the labels that the output and the operands from `next` on do not have summed.
  Result<Factor> combine(Factor a, Factor b, size_t next) {
    const bool products = kEinsumProducts.has(type_);
    if (products) {
      SV_ASSIGN(a, without_own_sums(std::move(a), b, next));
      SV_ASSIGN(b, without_own_sums(std::move(b), a, next));
    }
    Labels batch, k;
    for (const int label : a.labels)
      if (has(b.labels, label)) (is_needed(label, next) ? batch : k).push_back(label);
    const Labels m = beyond(a.labels, b.labels), n = beyond(b.labels, a.labels);
    const bool last = next == equation_.terms.size();
    if (products && count(k) > 1 && count(m) * count(n) > kFewResults && count(k) * count(m) * count(n) >= kLeastProduct) {
      if (last && !takes_rows(m, n) && takes_rows(n, m))
        return product(b, a, batch, n, m, k, last);
      return product(a, b, batch, m, n, k, last);
    }
    Labels kept;
    for (const Labels* group : {static_cast<const Labels*>(&a.labels), &n})
      for (const int label : *group)
        if (is_needed(label, next)) kept.push_back(label);
    if (last) kept = equation_.output;
    const Buffer out = last ? c_.out() : room(kept);
    SV_TRY(sums(a, &b, kept, out));
    written_ = last;
    return dense(kept, out);
  }

  static Labels beyond(const Labels& labels, const Labels& others) {
    Labels rest;
    for (const int label : labels)
      if (!has(others, label)) rest.push_back(label);
    return rest;
  }
  static Labels joined(const Labels& a, const Labels& b, const Labels& c) {
    Labels all(a);
    all.insert(all.end(), b.begin(), b.end());
    all.insert(all.end(), c.begin(), c.end());
    return all;
  }

  /// Labels that only this operand has and nothing needs are summed first.
  Result<Factor> without_own_sums(Factor f, const Factor& other, size_t next) {
    Labels kept;
    for (const int label : f.labels)
      if (has(other.labels, label) || is_needed(label, next)) kept.push_back(label);
    if (kept.size() == f.labels.size()) return f;
    const Buffer out = room(kept);
    SV_TRY(sums(f, nullptr, kept, out));
    return dense(kept, out);
  }

  Status sums(const Factor& a, const Factor* b, const Labels& kept, Buffer out) {
    EinsumSums loop;
    Labels summed = beyond(a.labels, kept);
    if (b)
      for (const int label : beyond(b->labels, kept))
        if (!has(summed, label)) summed.push_back(label);
    loop.kept = sizes(kept), loop.summed = sizes(summed);
    for (const int label : kept) loop.a_kept.push_back(a.stride(label)), loop.b_kept.push_back(b ? b->stride(label) : 0);
    for (const int label : summed) loop.a_summed.push_back(a.stride(label)), loop.b_summed.push_back(b ? b->stride(label) : 0);
    return emit_einsum_sums(c_, type_, std::move(loop), place(a), b ? place(*b) : Buffer{}, out);
  }

  /// Labels as one dimension: their stride, or -1 where there is none.
  int64_t merged(const Factor& f, const Labels& labels) const {
    int64_t stride = -1, expected = -1;
    for (size_t i = labels.size(); i-- > 0;) {
      const int64_t n = size(labels[i]), s = f.stride(labels[i]);
      if (n == 1) continue;
      if (expected >= 0 && s != expected) return -1;
      if (stride < 0) stride = s;
      expected = s * n;
    }
    return stride < 0 ? 1 : stride;
  }

  /// [batch..., outer..., inner...] as an operand of a product, copied where strides do not allow it. The elements of an operand
  /// that is not transposed lie along `inner`.
  ProductOperand as_matrix(Factor f, const Labels& batch, const Labels& outer, const Labels& inner) {
    for (int attempt = 0;; ++attempt) {
      const int64_t rows = merged(f, outer), columns = merged(f, inner);
      const bool one_row = count(outer) == 1, one_column = count(inner) == 1;
      ProductOperand p;
      for (const int label : batch) p.batch_strides.push_back(f.stride(label));
      if (rows > 0 && (columns == 1 || one_column)) p.ld = one_row ? count(inner) : rows;
      if (!p.ld && columns > 0 && (rows == 1 || one_row)) p.ld = columns, p.transposed = true;
      if (p.ld || attempt > 0) {
        p.constant_input = f.constant_input;
        if (f.constant_input < 0) p.buffer = f.buffer;
        return p;
      }
      const Labels order = joined(batch, outer, inner);
      Factor copy = dense(order, room(order));
      CopyView view{.dims = sizes(order), .in_strides = {}, .out_strides = copy.strides};
      for (const int label : order) view.in_strides.push_back(f.stride(label));
      emit_copies(c_, "einsum_order", size_of(type_), {{place(f), copy.buffer, std::move(view)}});
      f = std::move(copy);
    }
  }

  /// Whether rows of n, one for every index of m, lie in the output as a product can write them.
  bool takes_rows(const Labels& m, const Labels& n) const {
    const Factor target = dense(equation_.output, {});
    return merged(target, m) > 0 && merged(target, n) == 1;
  }

  /// The output itself, where it takes a product's rows, else a factor [batch..., m..., n...].
  Result<Factor> product(const Factor& a, const Factor& b, const Labels& batch, const Labels& m, const Labels& n, const Labels& k,
                         bool last) {
    const Labels order = joined(batch, m, n);
    Product p;
    p.type = type_;
    p.batch = sizes(batch);
    p.m = count(m), p.n = count(n), p.k = count(k);
    p.a = as_matrix(a, batch, m, k);
    if (p.a.constant_input >= 0) p.a.buffer = c_.in(static_cast<size_t>(p.a.constant_input)), p.a.constant_input = -1;
    p.b = as_matrix(b, batch, n, k);
    p.b.transposed = !p.b.transposed;  // its rows are of n here, of k there
    written_ = last && takes_rows(m, n);
    const Factor result = written_ ? dense(equation_.output, c_.out()) : dense(order, room(order));
    p.c = result.buffer;
    p.ldc = p.m > 1 ? merged(result, m) : p.n;
    for (const int label : batch) p.c_strides.push_back(result.stride(label));
    if (kProductTypes.has(type_)) emit_product(c_, std::move(p));
    else wide::emit_product(c_, std::move(p), 1, 0);
    return result;
  }

  static constexpr int64_t kFewResults = 4;      // of a matrix, with which panels would be nearly empty: dot products
  static constexpr int64_t kLeastProduct = 256;  // multiply-adds below which packing a matrix costs more than a loop

  LowerContext& c_;
  EinsumEquation equation_;
  std::vector<Shape> shapes_;
  DType type_;
  bool written_ = false;  // the output is complete
};

}  // namespace

Status lower_einsum(LowerContext& c) {
  std::vector<int64_t> ranks;
  std::vector<Shape> shapes;
  for (size_t i = 0; i < c.input_count(); ++i) {
    shapes.push_back(c.in_type(i).shape);
    ranks.push_back(shapes.back().rank());
  }
  SV_ASSIGN(EinsumEquation equation, einsum_equation(c.attributes().get_string("equation"), ranks));
  return EinsumLowering(c, std::move(equation), std::move(shapes)).run();
}

}  // namespace svengine::ops
