// What a product's types and operands are under numpy.matmul's rules: product_common.h.
#include "engine/ops/broadcast.h"
#include "engine/ops/infer_util.h"
#include "engine/ops/nn/product_common.h"

namespace svengine::ops {

Result<Shape> matmul_shape(const Shape& a, const Shape& b, bool transpose_a, bool transpose_b) {
  if (!a.has_rank() || !b.has_rank()) return Shape();
  if (a.rank() == 0 || b.rank() == 0) return error("a product needs operands of rank 1 or more, got {} and {}", to_string(a), to_string(b));
  std::vector<Dim> da = a.dims(), db = b.dims();
  if (da.size() == 1) da.insert(da.begin(), Dim(1));
  else if (transpose_a) std::swap(da[da.size() - 1], da[da.size() - 2]);
  if (db.size() == 1) db.push_back(Dim(1));
  else if (transpose_b) std::swap(db[db.size() - 1], db[db.size() - 2]);
  if (known_different(da.back(), db[db.size() - 2]))
    return error("inner dimensions differ: {} by {} ({} columns, {} rows)", to_string(a), to_string(b), da.back().value(),
                 db[db.size() - 2].value());
  SV_ASSIGN(Shape batch, broadcast(Shape(std::vector<Dim>(da.begin(), da.end() - 2)), Shape(std::vector<Dim>(db.begin(), db.end() - 2))));
  std::vector<Dim> out = batch.dims();
  if (a.rank() > 1) out.push_back(da[da.size() - 2]);
  if (b.rank() > 1) out.push_back(db.back());
  return Shape(std::move(out));
}

Product matmul_of(LowerContext& c, bool transpose_a, bool transpose_b) {
  Dims a = c.in_dims(0), b = c.in_dims(1);
  transpose_a = transpose_a && a.size() > 1, transpose_b = transpose_b && b.size() > 1;
  if (a.size() == 1) a.insert(a.begin(), 1);
  if (b.size() == 1) b.push_back(1);
  Product p;
  p.type = c.in_type(0).dtype;
  const int64_t ra = a[a.size() - 2], ca = a.back(), rb = b[b.size() - 2], cb = b.back();
  p.m = transpose_a ? ca : ra;
  p.k = transpose_a ? ra : ca;
  p.n = transpose_b ? rb : cb;
  const Dims batch_a(a.begin(), a.end() - 2), batch_b(b.begin(), b.end() - 2);
  p.batch = *broadcast(Shape::of(batch_a), Shape::of(batch_b))->concrete();
  p.a = {{}, ca, transpose_a, broadcast_strides(batch_a, p.batch), c.constant(0) ? 0 : -1};
  p.b = {{}, cb, transpose_b, broadcast_strides(batch_b, p.batch), c.constant(1) ? 1 : -1};
  for (int64_t& s : p.a.batch_strides) s *= ra * ca;
  for (int64_t& s : p.b.batch_strides) s *= rb * cb;
  if (p.a.constant_input < 0) p.a.buffer = c.in(0);
  if (p.b.constant_input < 0) p.b.buffer = c.in(1);
  p.c = c.out();
  p.ldc = p.n;
  int64_t stride = p.m * p.n;
  p.c_strides.resize(p.batch.size());
  for (size_t i = p.batch.size(); i-- > 0; stride *= p.batch[i]) p.c_strides[i] = stride;
  return p;
}

Cost matmul_cost(const Node& node) {
  Cost cost;
  for (const Value* v : node.inputs())
    if (v) cost.bytes += stored_bytes(v->type);
  cost.bytes += stored_bytes(node.output()->type);
  const Shape& a = node.input(0)->type.shape;
  const bool transposed = node.attributes.get_int("transA") || node.attributes.get_int("transpose_a");
  if (!a.has_rank() || a.rank() == 0) return cost;
  const Dim& k = a[static_cast<size_t>(a.rank() == 1 ? 0 : a.rank() - (transposed ? 2 : 1))];
  cost.flops = stored_bytes(node.output()->type) / 4 * 2.0 * static_cast<double>(k.is_static() ? k.value() : 1);
  return cost;
}

}  // namespace svengine::ops
