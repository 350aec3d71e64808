#include "engine/base/jpeg_check.h"

#include <cstdint>

namespace svengine {
namespace {

class Segments {
 public:
  explicit Segments(std::span<const std::byte> bytes) : bytes_(bytes) {}

  bool at_end() const { return at_ >= bytes_.size(); }
  size_t at() const { return at_; }
  /// 0 behind the end, as the decoder has it.
  int byte() { return at_ < bytes_.size() ? static_cast<int>(bytes_[at_++]) : (++at_, 0); }
  void skip_to(size_t at) { at_ = at; }

  /// Behind the next 0xff, or several, to the marker there: 0 in data that a scan has compressed.
  int next_marker() {
    while (!at_end() && byte() != 0xff) {
    }
    int marker = 0xff;
    while (!at_end() && marker == 0xff) marker = byte();
    return marker;
  }

 private:
  std::span<const std::byte> bytes_;
  size_t at_ = 0;
};

constexpr int kEnd = 0xd9, kHuffmanTables = 0xc4;

/// Markers without a length: 0 is no marker, the others are restarts and the image's beginning.
bool stands_alone(int marker) { return marker <= 1 || (marker >= 0xd0 && marker <= 0xd8) || marker == 0xff; }

bool are_good_tables(Segments& s, size_t end) {
  while (s.at() < end) {
    s.byte();  // class and number
    int symbols = 0;
    for (int length = 0; length < 16; ++length) symbols += s.byte();
    if (symbols > 256) return false;
    s.skip_to(s.at() + static_cast<size_t>(symbols));
  }
  return true;
}

}  // namespace

bool has_good_huffman_tables(std::span<const std::byte> jpeg) {
  Segments s(jpeg);
  while (!s.at_end()) {
    const int marker = s.next_marker();
    if (marker == kEnd) return true;
    if (stands_alone(marker)) continue;
    const size_t begin = s.at();
    const int high = s.byte(), length = high * 256 + s.byte();
    const size_t end = begin + static_cast<size_t>(length);
    if (marker == kHuffmanTables && !are_good_tables(s, end)) return false;
    s.skip_to(end);
  }
  return true;
}

}  // namespace svengine
