// com.microsoft.MurmurHash3: the 32-bit hash of that name of each string or number, by its bytes.
#include <bit>
#include <cstring>

#include "engine/graph/evaluate_context.h"
#include "engine/ops/microsoft/microsoft_common.h"

namespace svengine::ops {
namespace {

constexpr DTypeSet kHashedTypes{DType::i32, DType::u32, DType::i64, DType::u64, DType::f32, DType::f64, DType::string};

DType hash_type(const Attributes& attributes) { return attributes.get_int("positive", 1) == 1 ? DType::u32 : DType::i32; }

Status infer_murmur_hash(InferContext& c) {
  SV_TRY(require_dtype(c, 0, kHashedTypes));
  c.set(0, hash_type(c.attributes()), c.shape(0));
  return {};
}

uint32_t scrambled(uint32_t block) { return std::rotl(block * 0xcc9e2d51u, 15) * 0x1b873593u; }

/// Four bytes at a time, the first lowest; what is left over at the end is one block that is not mixed further.
uint32_t murmur_hash3(std::string_view bytes, uint32_t seed) {
  const auto block = [&](size_t begin, size_t count) {
    uint32_t value = 0;
    for (size_t i = 0; i < count; ++i) value |= static_cast<uint32_t>(static_cast<unsigned char>(bytes[begin + i])) << 8 * i;
    return value;
  };
  uint32_t h = seed;
  const size_t whole = bytes.size() / 4 * 4;
  for (size_t i = 0; i < whole; i += 4) h = std::rotl(h ^ scrambled(block(i, 4)), 13) * 5 + 0xe6546b64u;
  h ^= scrambled(block(whole, bytes.size() - whole)) ^ static_cast<uint32_t>(bytes.size());
  h = (h ^ h >> 16) * 0x85ebca6bu;
  h = (h ^ h >> 13) * 0xc2b2ae35u;
  return h ^ h >> 16;
}

Status evaluate_murmur_hash(EvaluateContext& c) {
  const Tensor& x = c.input(0);
  const auto seed = static_cast<uint32_t>(c.attributes().get_int("seed", 0));
  SV_ASSIGN(MutableTensor hashes, Tensor::allocate(hash_type(c.attributes()), x.dims()));
  for (int64_t i = 0; i < hashes.count(); ++i) {
    std::string_view bytes;
    if (x.type() == DType::string) {
      bytes = x.strings()[static_cast<size_t>(i)];
    } else {
      const size_t size = size_of(x.type());
      bytes = {reinterpret_cast<const char*>(x.raw()) + static_cast<size_t>(i) * size, size};
    }
    const uint32_t hash = murmur_hash3(bytes, seed);
    std::memcpy(hashes.raw() + i * 4, &hash, sizeof hash);
  }
  c.set(0, std::move(hashes));
  return {};
}

}  // namespace

OpDef define_microsoft_murmur_hash3() {
  return {
      .name = "MurmurHash3",
      .domain = kMicrosoftDomain,
      .until = 1,
      .inputs = "X",
      .attributes = {{"seed", AttributeKind::kInt, false, 0}, {"positive", AttributeKind::kInt, false, 1}},
      .infer = infer_murmur_hash,
      .evaluate = evaluate_murmur_hash,
      .types = {{"T", kHashedTypes, {0}}},
      .samples = "(int32[2, 3] -99 to 99) {positive = 0}"
                 "(float64[5]) {seed = 7}",
  };
}

}  // namespace svengine::ops
