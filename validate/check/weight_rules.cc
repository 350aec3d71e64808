// Values of weights: numbers that are none, infinite or subnormal, and tensors that are there twice.
#include <array>
#include <cstring>
#include <map>
#include <tuple>

#include "engine/base/hash.h"
#include "engine/base/memory.h"
#include "importers/io/names.h"
#include "validate/check/context.h"
#include "validate/check/tensor_data.h"

namespace svengine::validate {
namespace {

struct OddCounts {
  int64_t nan = 0, infinity = 0, subnormal = 0;
};

/// Of floating-point numbers whose exponent has the bits of kExponent and whose fraction has those below. Any alignment.
template <class Bits, Bits kExponent>
OddCounts count_odd(const std::byte* data, int64_t count) {
  constexpr Bits kFraction = static_cast<Bits>((kExponent & static_cast<Bits>(~kExponent + 1u)) - 1u);
  OddCounts out;
  for (int64_t i = 0; i < count; ++i) {
    Bits bits;
    std::memcpy(&bits, data + static_cast<size_t>(i) * sizeof bits, sizeof bits);
    const bool fraction = (bits & kFraction) != 0, top = (bits & kExponent) == kExponent, bottom = (bits & kExponent) == 0;
    out.nan += top && fraction, out.infinity += top && !fraction, out.subnormal += bottom && fraction;
  }
  return out;
}

OddCounts count_odd(const Tensor& t) {
  switch (t.type()) {
    case DType::f32:
      return count_odd<uint32_t, 0x7f800000u>(t.raw(), t.count());
    case DType::f64:
      return count_odd<uint64_t, 0x7ff0000000000000u>(t.raw(), t.count());
    case DType::f16:
      return count_odd<uint16_t, 0x7c00>(t.raw(), t.count());
    case DType::bf16:
      return count_odd<uint16_t, 0x7f80>(t.raw(), t.count());
    default:
      return {};
  }
}

class WeightRules {
 public:
  explicit WeightRules(Context& context) : c_(context) {}

  void check(const std::string& where, const onnx_proto::TensorProto& proto) {
    const Result<onnx::TensorRecord> record = c_.file.record(proto);
    if (!record.ok() || !may_read(where, *record)) return;
    const Result<Tensor> tensor = c_.file.tensor(proto);
    if (!tensor.ok() || size_of(tensor->type()) == 0) return;  // said already; strings
    const OddCounts odd = count_odd(*tensor);
    const int64_t count = tensor->count();
    if (odd.nan) c_.found.add("weight-nan", where, fmt::format("{} of {} numbers are NaN", odd.nan, count));
    if (odd.infinity) c_.found.add("weight-infinity", where, fmt::format("{} of {} numbers are infinite", odd.infinity, count));
    if (odd.subnormal) c_.found.add("weight-subnormal", where, fmt::format("{} of {} numbers are subnormal", odd.subnormal, count));
    note_bytes(where, *tensor, place_of(*record));
    release_pages(tensor->owner(), {tensor->raw(), tensor->byte_size()});
  }

 private:
  /// Data in the model are read once. Any number of tensors may name the same bytes of an external file: twice its size is enough.
  bool may_read(const std::string& where, const onnx::TensorRecord& record) {
    if (!record.external || !c_.file.external()) return true;
    for (const auto& [key, value] : record.external_data) {
      if (key != "location" || !onnx::check_location(value).ok()) continue;
      const auto file = c_.file.external()->open(value);
      if (!file.ok() || !check_dims(record.dims).ok()) return false;
      size_t& used = used_[std::string(value)];
      used += data_bytes(record.data_type, record.dims);
      if (used <= 2 * (*file)->bytes().size()) return true;
      if (c_.found.count_of(RuleName("weights-unread").rule()) == 0)
        c_.found.add("weights-unread", where,
                     fmt::format("tensors name more than twice the {} bytes of '{}': not all were read", (*file)->bytes().size(),
                                 printable(value, 100)));
      return false;
    }
    return false;
  }

  /// Where data outside the model lie, as the model says it; empty: in it. (Addresses tell nothing: small tensors are copies that come and go.)
  static std::string place_of(const onnx::TensorRecord& record) {
    std::string location, offset = "0";
    for (const auto& [key, value] : record.external_data) {
      if (key == "location") location = value;
      if (key == "offset") offset = value;
    }
    return record.external ? location + ':' + offset : std::string();
  }

  void note_bytes(const std::string& where, const Tensor& tensor, const std::string& place) {
    constexpr size_t kLeast = 1024;
    if (tensor.byte_size() < kLeast || where.find("initializer") == std::string::npos) return;
    const Hash128 hash = hash_of({tensor.raw(), tensor.byte_size()});
    const auto [first, is_new] = seen_.try_emplace(std::tuple(hash.high, hash.low, tensor.byte_size()), where, place);
    if (!is_new && (place.empty() || first->second.second != place))
      c_.found.add("weight-duplicate", where, fmt::format("has the same {} bytes as {}", tensor.byte_size(), first->second.first));
  }

  Context& c_;
  std::map<std::string, size_t> used_;  // of external files
  std::map<std::tuple<uint64_t, uint64_t, size_t>, std::pair<std::string, std::string>> seen_;  // where, and its place
};

}  // namespace

void check_weights(Context& c) {
  WeightRules rules(c);
  for_each_tensor(
      c, [&](const std::string& where, const onnx_proto::TensorProto& tensor) { rules.check(where, tensor); },
      [&](const std::string& where, const onnx_proto::SparseTensorProto& sparse) { rules.check(where, sparse.values()); });
}

}  // namespace svengine::validate
