#include "tests/differential/way.h"

namespace svengine::differential {

std::string Way::name() const {
  return fmt::format("{}, {}, {} threads{}", kernels->name, optimize ? "optimised" : "not optimised", threads,
                     recompute == Recompute::none ? "" : ", recomputing");
}

Result<std::unique_ptr<Session>> session_for(const RandomGraph& random, const Way& way) {
  return session_for(random.graph.clone(), way, random.loose);
}

Result<std::unique_ptr<Session>> session_for(Graph graph, const Way& way, bool loose) {
  SessionOptions options;
  options.topology = parse_topology(fmt::format("1x{}", way.threads)).value();
  options.kernels = way.kernels;
  options.flush_denormals = false;  // node by node, nothing is flushed either
  options.exact_convolution = !loose;
  options.optimize = way.optimize;
  options.recompute = way.recompute;
  return Session::create(std::move(graph), options);
}

}  // namespace svengine::differential
