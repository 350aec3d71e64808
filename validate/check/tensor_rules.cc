// Tensors in the file: a type, dimensions, and data that fit both. Values of weights are in weight_rules.cc.
#include <algorithm>
#include <bit>

#include "validate/check/context.h"
#include "validate/check/external_rules.h"
#include "validate/check/tensor_data.h"

namespace svengine::validate {
namespace {

using onnx::TensorRecord;

constexpr int64_t kString = 8, kBool = 9;
// Longer lists of numbers are counted, but not read one by one: decoding makes up to eight bytes of one.
constexpr size_t kMostDecoded = size_t{8} << 20;

class TensorRules {
 public:
  explicit TensorRules(Context& context) : c_(context), external_(context) {}

  void check(const std::string& where, const onnx_proto::TensorProto& proto) {
    const Result<TensorRecord> record = c_.file.record(proto);
    if (!record.ok()) {
      c_.found.add("tensor-data", where, record.error().message());
    } else if (!element_bits(record->data_type)) {
      c_.found.add("tensor-type", where,
                   record->data_type == 0 ? "has no element type" : fmt::format("element type {} is none of ONNX's", record->data_type));
    } else if (const Status dims = check_dims(record->dims); !dims.ok()) {
      c_.found.add("tensor-dims", where, dims.error().message());
    } else if (record->segmented) {
      c_.found.add("tensor-segment", where, "is cut into segments");
    } else if (record->external) {
      check_external(where, *record);
    } else {
      check_fields(where, proto, *record);
    }
  }

 private:
  static std::string described(const TensorRecord& r) {
    return fmt::format("a {} tensor of shape {}", element_name(r.data_type), to_string(r.dims));
  }

  void check_external(const std::string& where, const TensorRecord& r) {
    if (r.typed || !r.raw.empty())
      c_.found.add("tensor-fields", where, "has data both in the model and in an external file");
    else if (r.data_type == kString)
      c_.found.add("tensor-fields", where, "strings are kept in string_data, not in an external file");
    else
      external_.check(where, r, data_bytes(r.data_type, r.dims));
  }

  void check_fields(const std::string& where, const onnx_proto::TensorProto& proto, const TensorRecord& r) {
    const int fields = std::popcount(r.typed) + (r.raw.empty() ? 0 : 1);
    const uint32_t wanted = data_field(r.data_type);
    const bool empty = element_count(r.dims) == 0;
    if (fields > 1) {
      c_.found.add("tensor-fields", where, "has data in two fields");
    } else if (fields == 0 && !empty) {
      c_.found.add("tensor-fields", where, fmt::format("has no data for {}", described(r)));
    } else if (!r.raw.empty() && r.data_type == kString) {
      c_.found.add("tensor-fields", where, "strings are kept in string_data, not in raw_data");
    } else if (r.typed & ~(1u << wanted)) {
      const auto there = static_cast<uint32_t>(std::countr_zero(r.typed));
      c_.found.add("tensor-fields", where,
                   fmt::format("has data in {}; {} keeps them in {} or raw_data", field_name(there), described(r), field_name(wanted)));
    } else if (!r.raw.empty()) {
      check_raw(where, r);
    } else if (r.typed) {
      check_typed(where, proto, r, wanted);
    }
  }

  void check_raw(const std::string& where, const TensorRecord& r) {
    if (const size_t need = data_bytes(r.data_type, r.dims); r.raw.size() != need) {
      c_.found.add("tensor-data", where, fmt::format("raw_data has {} bytes, {} needs {}", r.raw.size(), described(r), need));
    } else if (r.data_type == kBool) {
      const auto odd = std::count_if(r.raw.begin(), r.raw.end(), [](std::byte b) { return static_cast<uint8_t>(b) > 1; });
      if (odd) c_.found.add("tensor-bool", where, fmt::format("{} of {} bytes are neither 0 nor 1", odd, r.raw.size()));
    }
  }

  void check_typed(const std::string& where, const onnx_proto::TensorProto& proto, const TensorRecord& r, uint32_t field) {
    const bool known = onnx::dtype_from_onnx(r.data_type).ok();
    if (known && r.message.size() <= kMostDecoded) {
      if (const Result<Tensor> tensor = c_.file.tensor(proto); !tensor.ok()) c_.found.add("tensor-data", where, tensor.error().message());
      return;
    }
    const Result<size_t> count = count_entries(r, field);
    const int bits = *element_bits(r.data_type);
    // Packed elements come as a byte, or as four of them, in an entry; complex numbers are two entries.
    const auto elements = static_cast<size_t>(element_count(r.dims));
    const size_t need = bits < 6 ? data_bytes(r.data_type, r.dims) : r.data_type == 14 || r.data_type == 15 ? 2 * elements : elements;
    if (!count.ok())
      c_.found.add("tensor-data", where, count.error().message());
    else if (*count != need && !(bits < 6 && *count == (need + 3) / 4))
      c_.found.add("tensor-data", where, fmt::format("{} has {} entries, {} needs {}", field_name(field), *count, described(r), need));
  }

  Context& c_;
  ExternalRules external_;
};

}  // namespace

void check_tensors(Context& c) {
  TensorRules rules(c);
  const auto check = [&](const std::string& where, const onnx_proto::TensorProto& tensor) { rules.check(where, tensor); };
  for_each_tensor(c, check, [&](const std::string& where, const onnx_proto::SparseTensorProto& sparse) {
    if (sparse.has_values()) rules.check(where, sparse.values());
    if (sparse.has_indices()) rules.check(where + ": indices", sparse.indices());
  });
}

}  // namespace svengine::validate
