#include "engine/base/dtype.h"

#include "engine/base/dtype_set.h"

namespace svengine {
namespace {

struct Row {
  DType type;
  size_t size;
  std::string_view name;
};

constexpr Row kRows[] = {
    {DType::f32, 4, "float32"}, {DType::u8, 1, "uint8"},    {DType::i8, 1, "int8"},      {DType::u16, 2, "uint16"},
    {DType::i16, 2, "int16"},   {DType::i32, 4, "int32"},   {DType::i64, 8, "int64"},    {DType::string, 0, "string"},
    {DType::boolean, 1, "bool"}, {DType::f16, 2, "float16"}, {DType::f64, 8, "float64"},  {DType::u32, 4, "uint32"},
    {DType::u64, 8, "uint64"},  {DType::bf16, 2, "bfloat16"},
    {DType::f8e4m3fn, 1, "float8_e4m3fn"}, {DType::f8e4m3fnuz, 1, "float8_e4m3fnuz"}, {DType::f8e5m2, 1, "float8_e5m2"},
    {DType::f8e5m2fnuz, 1, "float8_e5m2fnuz"}, {DType::f8e8m0, 1, "float8_e8m0"}, {DType::f4e2m1, 1, "float4_e2m1"},
    {DType::u4, 1, "uint4"},    {DType::i4, 1, "int4"},     {DType::u2, 1, "uint2"},     {DType::i2, 1, "int2"},
    {DType::sequence, 0, "sequence"}, {DType::optional, 0, "optional"}, {DType::map, 0, "map"},
    {DType::undefined, 0, "undefined"},
};

const Row& row(DType type) {
  for (const Row& r : kRows)
    if (r.type == type) return r;
  return kRows[std::size(kRows) - 1];
}

}  // namespace

size_t size_of(DType type) { return row(type).size; }
std::string_view name_of(DType type) { return row(type).name; }

std::optional<DType> dtype_from_name(std::string_view name) {
  if (name == "float") return DType::f32;
  if (name == "double") return DType::f64;
  if (name == "half") return DType::f16;
  for (const Row& r : kRows)
    if (r.name == name && r.type != DType::undefined) return r.type;
  return std::nullopt;
}

std::optional<DType> dtype_from_number(int64_t number) {
  for (const Row& r : kRows)
    if (static_cast<int64_t>(r.type) == number && number != 0 && !is_container(r.type)) return r.type;
  return std::nullopt;
}

bool is_float(DType type) {
  return type == DType::f32 || type == DType::f64 || type == DType::f16 || type == DType::bf16;
}

bool is_integer(DType type) {
  switch (type) {
    case DType::u8: case DType::i8: case DType::u16: case DType::i16:
    case DType::i32: case DType::i64: case DType::u32: case DType::u64: return true;
    default: return false;
  }
}

std::string to_string(DTypeSet types) {
  std::string out;
  DType last = DType::undefined;
  for (int i = 1; i < 32; ++i) {
    const auto t = static_cast<DType>(i);
    if (!types.has(t)) continue;
    if (last != DType::undefined) out.append(out.empty() ? "" : ", ").append(name_of(last));
    last = t;
  }
  return out.append(out.empty() ? "" : " or ").append(name_of(last));
}

}  // namespace svengine
