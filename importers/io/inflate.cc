#include "importers/io/inflate.h"

#include <zlib.h>

#include <algorithm>

namespace svengine {
namespace {

constexpr int kWindowBits = 15;

class Inflater {
 public:
  Inflater(Deflated kind, std::span<const std::byte> in) : in_(in) {
    ready_ = inflateInit2(&stream_, kind == Deflated::gzip ? kWindowBits + 16 : -kWindowBits) == Z_OK;
  }
  ~Inflater() {
    if (ready_) inflateEnd(&stream_);
  }
  Inflater(const Inflater&) = delete;
  Inflater& operator=(const Inflater&) = delete;

  /// Fills `out` as far as the content reaches. The number of bytes written.
  Result<size_t> read(std::span<std::byte> out) {
    if (!ready_) return error("no memory to unpack it");
    size_t done = 0;
    while (!ended_ && done < out.size()) {
      feed();
      const auto room = static_cast<uInt>(std::min<size_t>(out.size() - done, kMostAtOnce));
      stream_.next_out = reinterpret_cast<Bytef*>(out.data() + done);
      stream_.avail_out = room;
      const int result = inflate(&stream_, Z_NO_FLUSH);
      done += room - stream_.avail_out;
      if (result == Z_STREAM_END) ended_ = true;
      else if (result != Z_OK) return error("the compressed data is damaged or cut off");
    }
    return done;
  }

 private:
  static constexpr size_t kMostAtOnce = size_t{1} << 30;  // zlib counts in 32 bits

  void feed() {
    if (stream_.avail_in) return;
    const size_t n = std::min(in_.size(), kMostAtOnce);
    stream_.next_in = const_cast<Bytef*>(reinterpret_cast<const Bytef*>(in_.data()));
    stream_.avail_in = static_cast<uInt>(n);
    in_ = in_.subspan(n);
  }

  z_stream stream_{};
  std::span<const std::byte> in_;
  bool ready_ = false;
  bool ended_ = false;
};

}  // namespace

Status inflate_exactly(Deflated kind, std::span<const std::byte> in, std::span<std::byte> out) {
  Inflater inflater(kind, in);
  SV_ASSIGN(const size_t have, inflater.read(out));
  if (have < out.size()) return error("unpacks to {} bytes, {} are needed", have, out.size());
  std::byte more[1];
  SV_ASSIGN(const size_t rest, inflater.read(more));
  if (rest) return error("unpacks to more than the {} bytes that are needed", out.size());
  return {};
}

Result<std::vector<std::byte>> inflate_front(Deflated kind, std::span<const std::byte> in, size_t count) {
  std::vector<std::byte> out(count);
  Inflater inflater(kind, in);
  SV_ASSIGN(const size_t have, inflater.read(out));
  out.resize(have);
  return out;
}

}  // namespace svengine
