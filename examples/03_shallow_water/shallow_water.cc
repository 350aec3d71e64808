// Waves of shallow water in a basin with an island; at every step a network gives the drag of the bottom at the wet cells:
//
//     shallow_water_cpp DRAG.onnx [NX NY STEPS]
//
// The same as shallow_water.f90, with the same column-major fields: cell (x, y) is element x + nx * y. Every thread of OpenMP has a context of
// the one network and calls it for its part of the list of wet cells; the fields are read and the rates written where they are. At the end
// the run is repeated with the formula that the network has learnt, and the surfaces are compared.
#include <omp.h>
#include <svengine/svengine.hpp>

#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <numeric>

namespace {

constexpr double kGravity = 9.81, kSpacing = 500, kTimeStep = 12, kPi = 3.14159265358979324;
using Field = std::vector<double>;

struct Basin {
  int64_t nx, ny, count = nx * ny;
  std::vector<int64_t> wet;  // numbers of the wet cells, from 0
  std::vector<char> open_u, open_v;
  Field bed, surface, u, v, state, drag;

  Basin(int64_t width, int64_t height) : nx(width), ny(height) {
    for (Field* field : {&bed, &surface, &u, &v, &drag}) field->resize(static_cast<size_t>(count));
    state.resize(static_cast<size_t>(3 * count));
    open_u.resize(static_cast<size_t>(count));
    open_v.resize(static_cast<size_t>(count));
    for (int64_t y = 0; y < ny; ++y)
      for (int64_t x = 0; x < nx; ++x) {
        bed[at(x, y)] =
            9 + 3 * std::sin(2 * kPi * static_cast<double>(x + 1) / width_of()) * std::cos(2 * kPi * static_cast<double>(y + 1) / height_of());
        if (is_wet(x, y)) wet.push_back(x + nx * y);
        open_u[at(x, y)] = x + 1 < nx && is_wet(x, y) && is_wet(x + 1, y);  // the face between (x, y) and (x + 1, y)
        open_v[at(x, y)] = y + 1 < ny && is_wet(x, y) && is_wet(x, y + 1);
      }
  }

  size_t at(int64_t x, int64_t y) const { return static_cast<size_t>(x + nx * y); }
  double width_of() const { return static_cast<double>(nx); }
  double height_of() const { return static_cast<double>(ny); }
  bool is_wet(int64_t x, int64_t y) const {
    return std::hypot(static_cast<double>(x + 1) - 0.6 * width_of(), static_cast<double>(y + 1) - 0.5 * height_of()) > 0.12 * height_of();
  }

  /// A hill of water at rest.
  void start() {
    for (Field* field : {&u, &v, &drag}) std::fill(field->begin(), field->end(), 0.0);
    for (int64_t y = 0; y < ny; ++y)
      for (int64_t x = 0; x < nx; ++x) {
        const double dx = static_cast<double>(x + 1) - 0.25 * width_of(), dy = static_cast<double>(y + 1) - 0.4 * height_of();
        surface[at(x, y)] = std::exp(-(dx * dx + dy * dy) / std::pow(0.1 * height_of(), 2));
      }
  }

  /// What the network sees: depth in tens of metres, velocities at the centres of cells.
  void observe() {
#pragma omp parallel for
    for (int64_t y = 0; y < ny; ++y)
      for (int64_t x = 0; x < nx; ++x) {
        const size_t c = at(x, y), n = static_cast<size_t>(count);
        state[c] = (bed[c] + surface[c]) / 10;
        state[c + n] = (u[c] + u[at(std::max<int64_t>(x - 1, 0), y)]) / 2;
        state[c + 2 * n] = (v[c] + v[at(x, std::max<int64_t>(y - 1, 0))]) / 2;
      }
  }

  void drag_by_formula() {
    const size_t n = static_cast<size_t>(count);
    for (size_t c = 0; c < n; ++c)
      drag[c] = 1000 * kGravity * 0.03 * 0.03 * std::hypot(state[c + n], state[c + 2 * n]) / std::pow(10 * state[c], 4.0 / 3);
  }

  /// Velocities by the slope of the surface and, implicitly, the drag; then the surface by what flows through the faces.
  void advance() {
    const double slope = kGravity * kTimeStep / kSpacing;
    const size_t above = static_cast<size_t>(nx);
#pragma omp parallel for
    for (int64_t y = 0; y < ny; ++y)
      for (size_t c = at(0, y); c < at(0, y + 1); ++c) {
        if (open_u[c]) u[c] = (u[c] - slope * (surface[c + 1] - surface[c])) / (1 + kTimeStep * (drag[c] + drag[c + 1]) / 2000);
        if (open_v[c]) v[c] = (v[c] - slope * (surface[c + above] - surface[c])) / (1 + kTimeStep * (drag[c] + drag[c + above]) / 2000);
      }
#pragma omp parallel for
    for (int64_t y = 0; y < ny; ++y)
      for (int64_t x = 0; x < nx; ++x) {
        const size_t c = at(x, y);
        double flow = 0;
        if (open_u[c]) flow += u[c] * (bed[c] + bed[c + 1]) / 2;
        if (open_v[c]) flow += v[c] * (bed[c] + bed[c + above]) / 2;
        if (x > 0) flow -= u[c - 1] * (bed[c - 1] + bed[c]) / 2;
        if (y > 0) flow -= v[c - above] * (bed[c - above] + bed[c]) / 2;
        surface[c] -= kTimeStep / kSpacing * flow;
      }
  }
};

/// Every thread calls the network for its part of the wet cells. False: a call has failed, and said why.
bool call_network(Basin& basin, std::vector<svengine::Context>& contexts) {
  bool good = true;
#pragma omp parallel reduction(&& : good)
  {
    const int64_t thread = omp_get_thread_num(), threads = omp_get_num_threads(), wet = static_cast<int64_t>(basin.wet.size());
    const int64_t first = wet * thread / threads, rows = wet * (thread + 1) / threads - first;
    const svengine::RowList list = {basin.wet.data() + first, basin.count, 0};
    std::vector<svengine::MutableTensorView> rates = {
        {svengine::ElementType::float64, {rows, 1}, basin.drag.data(), {1, basin.count}, list}};
    svengine::Context& context = contexts[static_cast<size_t>(thread)];
    good = context.run({{svengine::ElementType::float64, {rows, 3}, basin.state.data(), {1, basin.count}, list}}, rates);
    if (!good) std::fprintf(stderr, "%s\n", context.error().c_str());
  }
  return good;
}

/// The surface after all steps; empty after a failure.
Field simulate(Basin& basin, int steps, std::vector<svengine::Context>* contexts) {
  basin.start();
  const double began = omp_get_wtime();
  for (int step = 0; step < steps; ++step) {
    basin.observe();
    if (!contexts) basin.drag_by_formula();
    else if (!call_network(basin, *contexts)) return {};
    basin.advance();
  }
  std::printf("by network: %s   ms a step: %8.3f\n", contexts ? "T" : "F", (omp_get_wtime() - began) * 1000 / steps);
  return basin.surface;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 2) return std::fprintf(stderr, "shallow_water_cpp DRAG.onnx [NX NY STEPS]\n"), 2;
  const bool sized = argc > 4;
  Basin basin(sized ? std::atoi(argv[2]) : 200, sized ? std::atoi(argv[3]) : 150);
  const int steps = sized ? std::atoi(argv[4]) : 400;

  svengine::NetworkOptions options;
  options.convert = true;  // the network is float32, the fields are not
  const svengine::Network network = svengine::Network::load(argv[1], options);
  if (!network) return std::fprintf(stderr, "%s\n", network.error().c_str()), 1;
  std::vector<svengine::Context> contexts;
  for (int i = 0; i < omp_get_max_threads(); ++i) contexts.push_back(network.context());

  const Field by_network = simulate(basin, steps, &contexts);
  if (by_network.empty()) return 1;
  const Field by_formula = simulate(basin, steps, nullptr);
  double difference = 0, norm = 0, volume = 0;
  for (size_t c = 0; c < by_formula.size(); ++c) {
    difference += std::pow(by_network[c] - by_formula[c], 2);
    norm += std::pow(by_formula[c], 2);
    volume += by_network[c] - by_formula[c];
  }
  std::printf("change of the volume:        %9.2e\n", std::fabs(volume) / std::accumulate(basin.bed.begin(), basin.bed.end(), 0.0));
  const double error = std::sqrt(difference / norm);
  std::printf("difference from the formula: %7.3f %%\n", 100 * error);
  return error < 0.1 ? 0 : 1;
}
