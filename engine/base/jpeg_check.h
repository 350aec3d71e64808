// What stb's decoder of JPEG does not look at before it writes (stb_image 2.27; 2.28 does): a table of Huffman codes of more than 256
// symbols goes over the end of its arrays.
#pragma once
#include <cstddef>
#include <span>

namespace svengine {

/// False where a table of Huffman codes (DHT), of those that a decoder comes to, has more symbols than there are bytes. Segments are walked
/// as the decoder does, so that an image in a picture's metadata is not taken for a part of it.
bool has_good_huffman_tables(std::span<const std::byte> jpeg);

}  // namespace svengine
