// Local response norm: vectors along the image, the window of channels added up anew for every channel, so that no
// error accumulates along a running sum. bias + ... is raised to -beta as exp(-beta log).
#include "engine/kernels/sve/math/math.h"
#include "engine/kernels/sve/norm/channel.h"
#include "engine/kernels/sve/reduction_loops.h"
#include "engine/kernels/sve/tasks.h"

namespace svengine::kernels::SVENGINE_KERNEL_SET {

namespace {

TaskPartition response_cut(const LocalResponseArgs& args) { return TaskPartition(args.batch * args.channels, args.spatial); }

void response_plane(const LocalResponseArgs& args, int64_t plane) {
  const int64_t c = plane % args.channels, image = (plane - c) * args.spatial;
  const int64_t first = larger(0, c - (args.size - 1) / 2);
  const int64_t last = smaller(args.channels - 1, c + args.size / 2);  // ceil((size - 1) / 2) = floor(size / 2)
  const float* window = args.x + image + first * args.spatial;
  const float* x = args.x + plane * args.spatial;
  float* y = args.y + plane * args.spatial;
  const vf factor = vdup(args.alpha / float(args.size)), bias = vdup(args.bias), power = vdup(-args.beta);
  for_each_vector<4>(args.spatial, [&](int64_t i, vb p) SVENGINE_INLINE_LAMBDA {
    vf squares = vdup(0.0f);
    for (int64_t k = 0; k <= last - first; ++k) {
      const vf v = svld1(p, window + k * args.spatial + i);
      squares = vfma(v, v, squares);
    }
    const vf base = vfma(squares, factor, bias);
    svst1(p, y + i, vmul(svld1(p, x + i), vexp(vmul(power, vlog(base)))));
  });
}

}  // namespace

int64_t local_response_tasks(const LocalResponseArgs& args) noexcept { return response_cut(args).tasks(); }

void local_response_run(const LocalResponseArgs& args, int64_t begin, int64_t end, void*) noexcept {
  const TaskPartition partition = response_cut(args);
  for (int64_t plane = partition.begin(begin); plane < partition.begin(end); ++plane) response_plane(args, plane);
}

}  // namespace svengine::kernels::SVENGINE_KERNEL_SET
