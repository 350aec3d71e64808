#include "importers/idx/idx.h"

#include <algorithm>
#include <cstring>
#include <vector>

#include "engine/base/memory.h"
#include "importers/io/inflate.h"

namespace svengine {
namespace {

using Bytes = std::span<const std::byte>;

constexpr size_t kMostRank = 8;
constexpr size_t kMostHeader = 4 + 4 * kMostRank;

struct Header {
  DType type = DType::undefined;
  Dims dims;
  size_t size = 0;  // of the header
};

DType type_from_code(uint8_t code) {
  switch (code) {
    case 0x08: return DType::u8;
    case 0x09: return DType::i8;
    case 0x0b: return DType::i16;
    case 0x0c: return DType::i32;
    case 0x0d: return DType::f32;
    case 0x0e: return DType::f64;
    default: return DType::undefined;
  }
}

Result<Header> parse_header(Bytes bytes) {
  const auto byte = [&](size_t i) { return static_cast<uint8_t>(bytes[i]); };
  if (bytes.size() < 4 || byte(0) || byte(1)) return error("is not an IDX file: it does not begin with two zero bytes");
  Header header;
  header.type = type_from_code(byte(2));
  const size_t rank = byte(3);
  if (header.type == DType::undefined) return error("is not an IDX file: element type {:#04x} does not exist", byte(2));
  if (rank > kMostRank) return error("has {} dimensions; IDX files here have at most {}", rank, kMostRank);
  header.size = 4 + 4 * rank;
  if (bytes.size() < header.size) return error("is cut off in its header");
  for (size_t i = 0; i < rank; ++i) {
    uint32_t dim = 0;
    for (size_t b = 0; b < 4; ++b) dim = dim << 8 | byte(4 + 4 * i + b);
    header.dims.push_back(dim);
  }
  SV_TRY(check_dims(header.dims));
  return header;
}

size_t body_size(const Header& header) { return static_cast<size_t>(element_count(header.dims)) * size_of(header.type); }

void to_little_endian(MutableTensor& tensor) {
  const size_t size = size_of(tensor.type());
  if (size == 1) return;
  std::byte* const end = tensor.raw() + tensor.byte_size();
  for (std::byte* p = tensor.raw(); p < end; p += size) std::reverse(p, p + size);
}

Result<Tensor> parse_gzipped(Bytes bytes) {
  SV_ASSIGN(const std::vector<std::byte> front, inflate_front(Deflated::gzip, bytes, kMostHeader));
  SV_ASSIGN(const Header header, parse_header(front));
  const size_t size = body_size(header);
  if (size / kMostInflation > bytes.size())
    return error("shape {} needs {} bytes, which {} compressed ones cannot hold", to_string(header.dims), size, bytes.size());
  std::vector<std::byte> whole(header.size + size);
  SV_TRY(inflate_exactly(Deflated::gzip, bytes, whole));
  return parse_idx(whole);
}

}  // namespace

Result<Tensor> parse_idx(Bytes bytes) {
  SV_ASSIGN(const Header header, parse_header(bytes));
  const Bytes body = bytes.subspan(header.size);
  if (body.size() != body_size(header))
    return error("has {} bytes of elements, shape {} of {} needs {}", body.size(), to_string(header.dims),
                 name_of(header.type), body_size(header));
  SV_ASSIGN(MutableTensor tensor, Tensor::allocate(header.type, header.dims));
  if (!body.empty()) std::memcpy(tensor.raw(), body.data(), body.size());
  to_little_endian(tensor);
  return tensor;
}

Result<Tensor> load_idx(const std::string& path) {
  SV_ASSIGN(const auto file, MappedFile::open(path));
  const Bytes bytes = file->bytes();
  const bool gzipped = bytes.size() > 2 && bytes[0] == std::byte{0x1f} && bytes[1] == std::byte{0x8b};
  Result<Tensor> tensor = gzipped ? parse_gzipped(bytes) : parse_idx(bytes);
  if (!tensor.ok()) return std::move(tensor).error().in(path);
  return tensor;
}

}  // namespace svengine
