#include "importers/npy/npy.h"

#include <algorithm>
#include <bit>
#include <cstring>
#include <iterator>

#include "engine/base/file.h"
#include "engine/base/memory.h"
#include "importers/npy/npy_header.h"

namespace svengine {
namespace {

static_assert(std::endian::native == std::endian::little);

void swap_bytes(MutableTensor& tensor) {
  const size_t size = size_of(tensor.type());
  std::byte* const end = tensor.raw() + tensor.byte_size();
  for (std::byte* p = tensor.raw(); p < end; p += size) std::reverse(p, p + size);
}

/// The elements of `from`, which lie with the first index running fastest, in row-major order.
///   coordinates (i0, i1, .., ir) are at  i0 + d0 (i1 + d1 (.. ir))  in `from`
void copy_transposed(const std::byte* from, MutableTensor& to) {
  const Dims& dims = to.dims();
  const size_t size = size_of(to.type());
  Dims index(dims.size(), 0), stride(dims.size(), 1);
  for (size_t d = 1; d < dims.size(); ++d) stride[d] = stride[d - 1] * dims[d - 1];
  std::byte* out = to.raw();
  int64_t at = 0;
  for (int64_t i = 0; i < to.count(); ++i) {
    std::memcpy(out, from + static_cast<size_t>(at) * size, size);
    out += size;
    for (size_t d = dims.size(); d-- > 0;) {
      at += stride[d];
      if (++index[d] < dims[d]) break;
      at -= stride[d] * dims[d];
      index[d] = 0;
    }
  }
}

bool is_aligned(const std::byte* data, DType type) { return reinterpret_cast<uintptr_t>(data) % size_of(type) == 0; }

const char* descr_of(DType type) {
  switch (type) {
    case DType::boolean: return "|b1";
    case DType::i8: return "|i1";
    case DType::u8: return "|u1";
    case DType::i16: return "<i2";
    case DType::u16: return "<u2";
    case DType::i32: return "<i4";
    case DType::u32: return "<u4";
    case DType::i64: return "<i8";
    case DType::u64: return "<u8";
    case DType::f16: return "<f2";
    case DType::f32: return "<f4";
    case DType::f64: return "<f8";
    default: return nullptr;
  }
}

}  // namespace

Result<Tensor> parse_npy(std::span<const std::byte> bytes, const std::shared_ptr<const void>& owner) {
  SV_ASSIGN(const NpyHeader header, parse_npy_header(bytes));
  const std::span<const std::byte> data = bytes.subspan(header.data_offset);
  const size_t size = static_cast<size_t>(element_count(header.dims)) * size_of(header.type);
  if (data.size() < size)
    return error("is cut off: {} bytes of elements, shape {} of {} needs {}", data.size(), to_string(header.dims),
                 name_of(header.type), size);
  if (data.size() > size)
    return error("has {} bytes more than shape {} of {} needs", data.size() - size, to_string(header.dims), name_of(header.type));
  Tensor in_place = Tensor::wrap(header.type, header.dims, data.data(), owner);
  const bool swapped = header.big_endian && size_of(header.type) > 1;
  const bool transposed = header.fortran_order && header.dims.size() > 1;
  const bool as_it_is = !swapped && !transposed && header.type != DType::boolean;
  if (as_it_is && owner && is_aligned(data.data(), header.type)) return in_place;
  SV_ASSIGN(MutableTensor tensor, Tensor::allocate(header.type, header.dims));
  if (transposed) copy_transposed(data.data(), tensor);
  else if (size) std::memcpy(tensor.raw(), data.data(), size);
  if (swapped) swap_bytes(tensor);
  if (header.type == DType::boolean)
    for (uint8_t& b : tensor.data<uint8_t>()) b = b != 0;
  return tensor;
}

Result<Tensor> load_npy(const std::string& path) {
  SV_ASSIGN(const auto file, MappedFile::open(path));
  Result<Tensor> tensor = parse_npy(file->bytes(), file);
  if (!tensor.ok()) return std::move(tensor).error().in(path);
  return tensor;
}

Status save_npy(const Tensor& tensor, const std::string& path) {
  const char* descr = descr_of(tensor.type());
  if (!descr) return error("{}: NumPy has no type {}", path, name_of(tensor.type()));
  std::string shape;
  for (int64_t d : tensor.dims()) shape += fmt::format("{}, ", d);
  if (shape.size() > 2 && tensor.dims().size() > 1) shape.resize(shape.size() - 2);  // (3, ) but (3, 4)
  std::string dict = fmt::format("{{'descr': '{}', 'fortran_order': False, 'shape': ({}), }}", descr, shape);
  constexpr size_t kPreamble = 10, kAlignment = 64;
  dict.resize(round_up(kPreamble + dict.size() + 1, kAlignment) - kPreamble, ' ');
  dict.back() = '\n';
  std::string head = "\x93NUMPY";
  head += {'\x01', '\x00', static_cast<char>(dict.size() & 0xff), static_cast<char>(dict.size() >> 8)};
  SV_ASSIGN(AtomicFile file, AtomicFile::create(path));
  SV_TRY(file.write(head + dict));
  SV_TRY(file.write({tensor.raw(), tensor.byte_size()}));
  return file.finish();
}

}  // namespace svengine
