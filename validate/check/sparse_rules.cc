// Sparse tensors: one value for every index, indices in range and ascending.
#include "validate/check/context.h"

namespace svengine::validate {
namespace {

class SparseRules {
 public:
  explicit SparseRules(Context& context) : c_(context) {}

  void check(const std::string& where, const onnx_proto::SparseTensorProto& sparse) {
    if (!sparse.has_values()) {
      c_.found.add("sparse-tensor", where, "has no values");
      return;
    }
    const Dims dims(sparse.dims().begin(), sparse.dims().end());
    if (dims.empty()) c_.found.add("sparse-tensor", where, "has no dimensions");
    for (const int64_t d : dims) {
      if (d > 0) continue;
      c_.found.add("sparse-tensor", where, fmt::format("dimension {} is not positive", d));
      return;
    }
    if (const Status fits = check_dims(dims); !fits.ok()) {
      c_.found.add("sparse-tensor", where, fits.error().message());
      return;
    }
    const Result<onnx::TensorRecord> values = c_.file.record(sparse.values());
    if (!values.ok() || dims.empty()) return;  // said already
    if (values->dims.size() != 1)
      c_.found.add("sparse-tensor", where, fmt::format("its values have shape {}, need rank 1", to_string(values->dims)));
    else if (sparse.has_indices())
      check_indices(where, sparse.indices(), dims, values->dims[0]);
    else if (values->dims[0] != 0)
      c_.found.add("sparse-tensor", where, "has values but no indices");
  }

 private:
  void check_indices(const std::string& where, const onnx_proto::TensorProto& proto, const Dims& dims, int64_t count) {
    const Result<onnx::TensorRecord> record = c_.file.record(proto);
    if (!record.ok()) return;
    const auto rank = static_cast<int64_t>(dims.size());
    const bool flat = record->dims == Dims{count};
    if (record->data_type != static_cast<int64_t>(DType::i64) || (!flat && record->dims != Dims{count, rank})) {
      c_.found.add("sparse-tensor", where,
                   fmt::format("indices have element type {} and shape {}; {} values of a tensor of rank {} need int64 and {} or {}x{}",
                               record->data_type, to_string(record->dims), count, rank, count, count, rank));
      return;
    }
    const Result<Tensor> indices = c_.file.tensor(proto);
    if (indices.ok()) check_order(where, indices->as_int64s(), dims, flat ? 1 : dims.size());
  }

  /// `each`: numbers of one index.
  void check_order(const std::string& where, const std::vector<int64_t>& indices, const Dims& dims, size_t each) {
    const int64_t all = element_count(dims);
    int64_t before = -1;
    for (size_t i = 0; i + each <= indices.size(); i += each) {
      int64_t place = each == 1 && dims.size() != 1 ? indices[i] : 0;
      bool inside = true;
      if (each == dims.size()) {
        for (size_t d = 0; d < each && inside; ++d) {
          inside = indices[i + d] >= 0 && indices[i + d] < dims[d];
          if (inside) place = place * dims[d] + indices[i + d];
        }
      }
      if (!inside || place < 0 || place >= all) {
        c_.found.add("sparse-order", where, fmt::format("index {} is outside a tensor of shape {}", i / each, to_string(dims)));
        return;
      }
      if (place <= before) {
        c_.found.add("sparse-order", where, fmt::format("index {} is not behind the one before it", i / each));
        return;
      }
      before = place;
    }
  }

  Context& c_;
};

}  // namespace

void check_sparse_tensors(Context& c) {
  SparseRules rules(c);
  for_each_tensor(
      c, [](const auto&, const auto&) {},
      [&](const std::string& where, const onnx_proto::SparseTensorProto& sparse) { rules.check(where, sparse); });
}

}  // namespace svengine::validate
