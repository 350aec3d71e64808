#include "engine/ops/tensor/depth_common.h"

namespace svengine::ops {

Result<int64_t> block_size(const Attributes& attributes) {
  const int64_t b = attributes.get_int("blocksize");
  if (b < 1 || b > (1 << 20)) return error("blocksize is {}, needs 1 to 2^20", b);
  return b;
}

Status check_depth_mode(const Attributes& attributes) {
  const std::string mode = attributes.get_string("mode", "DCR");
  if (mode != "DCR" && mode != "CRD") return error("mode is '{}', needs DCR or CRD", mode);
  return {};
}

Result<Dim> divide(const Dim& d, int64_t by, const char* what) {
  if (by == 1) return d;
  if (!d.is_static()) return Dim();
  if (d.value() % by != 0) return error("{} {} do not divide by {}", d.value(), what, by);
  return Dim(d.value() / by);
}

}  // namespace svengine::ops
