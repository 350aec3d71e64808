// svengine.h, as C programs use it: layouts, derivatives, training, and what a wrong call gets.
#include <svengine/svengine.h>

#include <cmath>
#include <fstream>
#include <iterator>
#include <vector>

#include "tests/api/small_network.h"
#include "tests/support/temporary_directory.h"

namespace c_interface_test {
using svengine::tests::save_small_network;
using svengine::tests::TemporaryDirectory;

namespace {

/// A network and a context, freed at the end.
struct Loaded {
  svengine_network* network = nullptr;
  svengine_context* context = nullptr;
  explicit Loaded(const std::string& path, bool convert = false) {
    svengine_options options = svengine_options_default();
    options.convert = convert;
    if (svengine_network_load(path.c_str(), &options, &network) != SVENGINE_OK) FAIL(svengine_last_error());
    if (svengine_context_create(network, nullptr, &context) != SVENGINE_OK) FAIL(svengine_last_error());
  }
  ~Loaded() {
    CHECK(svengine_context_free(context) == SVENGINE_OK);
    CHECK(svengine_network_free(network) == SVENGINE_OK);
  }
};

std::string words() { return svengine_last_error(); }

void require_ok(svengine_status status) {
  if (status != SVENGINE_OK) FAIL(words());
}

template <class T>
std::vector<T> ramp(size_t n) {
  std::vector<T> out(n);
  for (size_t i = 0; i < n; ++i) out[i] = static_cast<T>(std::sin(0.7 * static_cast<double>(i) + 0.1));
  return out;
}

/// What the network makes of dense rows.
std::vector<float> results(svengine_context* context, const std::vector<float>& x) {
  const int64_t in[2] = {static_cast<int64_t>(x.size() / 4), 4};
  const svengine_tensor input = svengine_dense(SVENGINE_FLOAT32, 2, in, x.data());
  svengine_tensor output = {};
  require_ok(svengine_run(context, &input, 1, &output, 1));
  const auto* y = static_cast<const float*>(output.data);
  return {y, y + output.shape[0] * output.shape[1]};
}

}  // namespace

TEST_CASE("a network is described") {
  const TemporaryDirectory folder;
  const Loaded l(save_small_network(folder.path()));
  int32_t inputs = 0, outputs = 0;
  require_ok(svengine_network_counts(l.network, &inputs, &outputs));
  CHECK(inputs == 1);
  CHECK(outputs == 1);
  svengine_port port;
  require_ok(svengine_network_input(l.network, 0, &port));
  CHECK(std::string(port.name) == "x");
  CHECK(port.type == SVENGINE_FLOAT32);
  REQUIRE(port.rank == 2);
  CHECK(port.shape[0] == -1);
  CHECK(port.shape[1] == 4);
  CHECK(std::string(port.shape_names[1]).empty());
  CHECK(svengine_network_output(l.network, 1, &port) == SVENGINE_INVALID_ARGUMENT);
  CHECK(words() == "there is no output 1; the network has 1");
  CHECK(svengine_abi() == SVENGINE_ABI);
}

TEST_CASE("results go where the caller says, in whatever layout") {
  const TemporaryDirectory folder;
  const Loaded l(save_small_network(folder.path()));
  const std::vector<float> x = ramp<float>(5 * 4), y = results(l.context, x);
  const int64_t in[2] = {5, 4}, out[2] = {5, 3};
  const svengine_tensor dense = svengine_dense(SVENGINE_FLOAT32, 2, in, x.data());

  SECTION("dense, in place") {
    std::vector<float> got(15, -7);
    svengine_tensor place = svengine_dense(SVENGINE_FLOAT32, 2, out, got.data());
    require_ok(svengine_run(l.context, &dense, 1, &place, 1));
    CHECK(got == y);
    CHECK(place.data == got.data());
  }
  SECTION("column-major") {
    std::vector<float> columns(20), got(15);
    for (int i = 0; i < 5; ++i)
      for (int j = 0; j < 4; ++j) columns[static_cast<size_t>(j * 5 + i)] = x[static_cast<size_t>(i * 4 + j)];
    const int64_t strides[2] = {1, 5};
    svengine_tensor input = svengine_dense(SVENGINE_FLOAT32, 2, in, columns.data()), place = svengine_dense(SVENGINE_FLOAT32, 2, out, got.data());
    input.strides = place.strides = strides;
    require_ok(svengine_run(l.context, &input, 1, &place, 1));
    for (int i = 0; i < 5; ++i)
      for (int j = 0; j < 3; ++j) CHECK(got[static_cast<size_t>(j * 5 + i)] == y[static_cast<size_t>(i * 3 + j)]);
  }
  SECTION("backwards, and one row for all") {
    const int64_t backwards[2] = {-4, 1}, same[2] = {0, 1};
    svengine_tensor input = svengine_dense(SVENGINE_FLOAT32, 2, in, x.data() + 16), place = {};
    input.strides = backwards;
    require_ok(svengine_run(l.context, &input, 1, &place, 1));
    for (int i = 0; i < 5; ++i) CHECK(static_cast<float*>(place.data)[i * 3] == y[static_cast<size_t>((4 - i) * 3)]);
    input.data = const_cast<float*>(x.data());
    input.strides = same;
    require_ok(svengine_run(l.context, &input, 1, &place, 1));
    for (int i = 0; i < 5; ++i) CHECK(static_cast<float*>(place.data)[i * 3 + 2] == y[2]);
  }
  SECTION("active cells, counted from 1") {
    const int64_t cells[2] = {5, 2}, some[2] = {2, 4}, some_out[2] = {2, 3};
    std::vector<float> got(15, -7);
    svengine_tensor input = svengine_dense(SVENGINE_FLOAT32, 2, some, x.data()), place = svengine_dense(SVENGINE_FLOAT32, 2, some_out, got.data());
    input.rows = place.rows = cells;
    input.extent = place.extent = 5;
    input.first_row = place.first_row = 1;
    require_ok(svengine_run(l.context, &input, 1, &place, 1));
    for (size_t i = 0; i < 15; ++i) CHECK(got[i] == Approx(i / 3 == 1 || i / 3 == 4 ? y[i] : -7));
  }
}

TEST_CASE("what was filled in is given again, and bytes lie anywhere") {
  const TemporaryDirectory folder;
  const Loaded l(save_small_network(folder.path()));
  const std::vector<float> x = ramp<float>(5 * 4), y = results(l.context, x);
  const int64_t in[2] = {5, 4};
  const svengine_tensor dense = svengine_dense(SVENGINE_FLOAT32, 2, in, x.data());

  SECTION("other shapes, with the tensor that was filled in before") {
    svengine_tensor place = {};
    require_ok(svengine_run(l.context, &dense, 1, &place, 1));
    CHECK(place.shape[0] == 5);
    const int64_t two[2] = {2, 4};
    const svengine_tensor fewer = svengine_dense(SVENGINE_FLOAT32, 2, two, x.data());
    require_ok(svengine_run(l.context, &fewer, 1, &place, 1));
    REQUIRE(place.shape[0] == 2);
    for (size_t i = 0; i < 6; ++i) CHECK(static_cast<float*>(place.data)[i] == Approx(y[i]));
    const int64_t none[2] = {0, 4};
    const svengine_tensor empty = svengine_dense(SVENGINE_FLOAT32, 2, none, nullptr);
    require_ok(svengine_run(l.context, &empty, 1, &place, 1));
    CHECK(place.shape[0] == 0);
  }
  SECTION("out of the middle of a file") {
    std::vector<char> bytes(20 * sizeof(float) + 1);
    std::memcpy(bytes.data() + 1, x.data(), 20 * sizeof(float));
    const svengine_tensor input = svengine_dense(SVENGINE_FLOAT32, 2, in, bytes.data() + 1);
    svengine_tensor place = {};
    require_ok(svengine_run(l.context, &input, 1, &place, 1));
    for (size_t i = 0; i < 15; ++i) CHECK(static_cast<float*>(place.data)[i] == y[i]);
  }
}

TEST_CASE("floats are converted when that is asked for") {
  const TemporaryDirectory folder;
  const std::string path = save_small_network(folder.path());
  const Loaded strict(path), converting(path, true);
  const std::vector<float> x = ramp<float>(8);
  const std::vector<double> doubles(x.begin(), x.end());
  const int64_t in[2] = {2, 4}, out[2] = {2, 3};
  const svengine_tensor input = svengine_dense(SVENGINE_FLOAT64, 2, in, doubles.data());
  std::vector<double> got(6);
  svengine_tensor place = svengine_dense(SVENGINE_FLOAT64, 2, out, got.data());
  CHECK(svengine_run(strict.context, &input, 1, &place, 1) == SVENGINE_INVALID_ARGUMENT);
  CHECK(words().find("input 'x': needs float32[") == 0);
  CHECK(words().find("ask for conversion") != std::string::npos);
  require_ok(svengine_run(converting.context, &input, 1, &place, 1));
  const std::vector<float> y = results(strict.context, x);
  CHECK(got == std::vector<double>(y.begin(), y.end()));
}

TEST_CASE("a network comes from memory, too") {
  const TemporaryDirectory folder;
  const std::string path = save_small_network(folder.path());
  std::ifstream file(path, std::ios::binary);
  std::string bytes{std::istreambuf_iterator<char>(file), {}};
  svengine_network* network = nullptr;
  require_ok(svengine_network_load_memory(bytes.data(), bytes.size(), nullptr, &network));
  bytes.assign(bytes.size(), 'x');  // it was copied
  svengine_context* context = nullptr;
  require_ok(svengine_context_create(network, nullptr, &context));
  require_ok(svengine_network_free(network));  // the context goes on
  const Loaded l(path);
  const std::vector<float> x = ramp<float>(8);
  CHECK(results(context, x) == results(l.context, x));
  require_ok(svengine_context_free(context));
  CHECK(svengine_network_load_memory(bytes.data(), bytes.size(), nullptr, &network) == SVENGINE_INVALID_MODEL);
  CHECK(network == nullptr);
}

TEST_CASE("what the engine lacks is told apart from what is wrong") {
  const TemporaryDirectory folder;
  std::ifstream file(save_small_network(folder.path()), std::ios::binary);
  std::string bytes{std::istreambuf_iterator<char>(file), {}};
  for (size_t at; (at = bytes.find("Tanh")) != std::string::npos;) bytes.replace(at, 4, "Tank");  // no operator that there is
  const std::string path = folder.path() + "/tank.onnx";
  std::ofstream(path, std::ios::binary) << bytes;
  svengine_network* network = nullptr;
  CHECK(svengine_network_load_memory(bytes.data(), bytes.size(), nullptr, &network) == SVENGINE_UNIMPLEMENTED);
  CHECK(words().find("Tank of ai.onnx") != std::string::npos);
  svengine_trainer* trainer = nullptr;
  CHECK(svengine_trainer_load(path.c_str(), nullptr, &trainer) == SVENGINE_UNIMPLEMENTED);
  CHECK(svengine::Network::load(path).unimplemented());
  CHECK(svengine::nn::Trainer::load(path).unimplemented());
  CHECK_FALSE(svengine::Network::load("/nowhere/at/all.onnx").unimplemented());
  CHECK_FALSE(svengine::Network::load(path).context().unimplemented());
}

TEST_CASE("derivatives agree with differences, and with each other") {
  const TemporaryDirectory folder;
  const Loaded l(save_small_network(folder.path()));
  const std::vector<float> x = ramp<float>(8), u = ramp<float>(6), v = {0.5f, -1, 0.25f, 2, 1, -0.5f, 0.75f, -2};
  const int64_t in[2] = {2, 4}, out[2] = {2, 3};
  const svengine_tensor input = svengine_dense(SVENGINE_FLOAT32, 2, in, x.data()), weights = svengine_dense(SVENGINE_FLOAT32, 2, out, u.data()),
                        direction = svengine_dense(SVENGINE_FLOAT32, 2, in, v.data());
  svengine_tensor y = {}, dx = {}, dy = {};
  require_ok(svengine_run_vjp(l.context, &input, 1, &weights, &y, 1, &dx));
  const std::vector<float> want = results(l.context, x), gradient(static_cast<float*>(dx.data), static_cast<float*>(dx.data) + 8);
  for (size_t i = 0; i < 6; ++i) CHECK(static_cast<float*>(y.data)[i] == Approx(want[i]).epsilon(1e-5));
  require_ok(svengine_run_jvp(l.context, &input, 1, &direction, nullptr, 0, &dy));
  const std::vector<float> tangent(static_cast<float*>(dy.data), static_cast<float*>(dy.data) + 6);

  constexpr float kStep = 1e-2f;
  for (size_t i = 0; i < 8; ++i) {
    std::vector<float> up = x, down = x;
    up[i] += kStep, down[i] -= kStep;
    const std::vector<float> a = results(l.context, up), b = results(l.context, down);
    double slope = 0;
    for (size_t o = 0; o < 6; ++o) slope += u[o] * (a[o] - b[o]) / (2 * kStep);
    CHECK(gradient[i] == Approx(slope).margin(2e-3));
  }
  double by_gradient = 0, by_tangent = 0;
  for (size_t i = 0; i < 8; ++i) by_gradient += double{gradient[i]} * v[i];
  for (size_t o = 0; o < 6; ++o) by_tangent += double{tangent[o]} * u[o];
  CHECK(by_gradient == Approx(by_tangent).epsilon(1e-5));

  svengine_tensor nothing = {};
  require_ok(svengine_run_vjp(l.context, &input, 1, &nothing, nullptr, 0, &dx));
  for (int i = 0; i < 8; ++i) CHECK(static_cast<float*>(dx.data)[i] == 0);
  require_ok(svengine_run_jvp(l.context, &input, 1, &nothing, nullptr, 0, &dy));
  for (int i = 0; i < 6; ++i) CHECK(static_cast<float*>(dy.data)[i] == 0);
}

TEST_CASE("a network is trained, run, and saved") {
  const TemporaryDirectory folder;
  svengine_trainer_options options = svengine_trainer_options_default();
  options.threads = 1;
  svengine_trainer* trainer = nullptr;
  require_ok(svengine_trainer_load(save_small_network(folder.path()).c_str(), &options, &trainer));
  const std::vector<float> x = ramp<float>(64);
  std::vector<float> target(48);
  for (size_t i = 0; i < 48; ++i) target[i] = 0.5f * x[i / 3 * 4 + i % 3];
  const int64_t in[2] = {16, 4}, out[2] = {16, 3};
  const svengine_tensor input = svengine_dense(SVENGINE_FLOAT32, 2, in, x.data()), wanted = svengine_dense(SVENGINE_FLOAT32, 2, out, target.data());
  double first = 0, last = 0, held = 0;
  require_ok(svengine_trainer_step(trainer, &input, 1, &wanted, 0.01, &first));
  for (int i = 0; i < 100; ++i) require_ok(svengine_trainer_step(trainer, &input, 1, &wanted, 0.01, &last));
  CHECK(last < 0.1 * first);
  svengine_network* network = nullptr;
  require_ok(svengine_trainer_network(trainer, nullptr, &network));
  require_ok(svengine_trainer_evaluate(trainer, &input, 1, &wanted, &held));
  svengine_context* context = nullptr;
  require_ok(svengine_context_create(network, nullptr, &context));
  const std::vector<float> now = results(context, x);
  double loss = 0;
  for (size_t i = 0; i < 48; ++i) loss += (now[i] - target[i]) * (now[i] - target[i]) / 48;
  CHECK(loss == Approx(held).epsilon(1e-4));
  require_ok(svengine_trainer_step(trainer, &input, 1, &wanted, 0.1, nullptr));
  CHECK(results(context, x) == now);
  const std::string path = folder.path() + "/trained.onnx";
  require_ok(svengine_trainer_save(trainer, path.c_str()));
  const Loaded saved(path);
  CHECK(results(saved.context, x) != now);
  require_ok(svengine_context_free(context));
  require_ok(svengine_network_free(network));
  const svengine_tensor short_one = svengine_dense(SVENGINE_FLOAT32, 2, out, target.data());
  CHECK(svengine_trainer_step(trainer, &short_one, 1, &wanted, 0.1, nullptr) == SVENGINE_INVALID_ARGUMENT);
  CHECK(svengine_trainer_evaluate(trainer, &input, 1, &input, nullptr) == SVENGINE_INVALID_ARGUMENT);
  CHECK(svengine_trainer_step(trainer, nullptr, 0, &wanted, 0.1, nullptr) == SVENGINE_INVALID_ARGUMENT);
  CHECK(svengine_trainer_step(trainer, &input, INT32_MAX, &wanted, 0.1, nullptr) == SVENGINE_INVALID_ARGUMENT);
  CHECK(svengine_trainer_step(trainer, &input, 1, nullptr, 0.1, nullptr) == SVENGINE_INVALID_ARGUMENT);
  require_ok(svengine_trainer_free(trainer));
  CHECK(svengine_trainer_save(trainer, path.c_str()) == SVENGINE_INVALID_HANDLE);
  options.loss = "no such loss";
  CHECK(svengine_trainer_load(path.c_str(), &options, &trainer) == SVENGINE_INVALID_ARGUMENT);
  CHECK(words().find("no such loss") != std::string::npos);
  CHECK(svengine_trainer_load("/nowhere/at/all.onnx", nullptr, &trainer) == SVENGINE_INVALID_MODEL);
}

TEST_CASE("wrong calls are told, and the next right one works") {
  const TemporaryDirectory folder;
  const Loaded l(save_small_network(folder.path()));
  const std::vector<float> x = ramp<float>(8);
  const int64_t in[2] = {2, 4}, wide[2] = {2, 5}, out[2] = {2, 3}, three[3] = {1, 2, 4}, negative[2] = {-1, 4}, rows[2] = {0, 2};
  const svengine_tensor right = svengine_dense(SVENGINE_FLOAT32, 2, in, x.data());
  svengine_tensor place = {};
  const auto refused = [&](const svengine_tensor& input, const char* what) {
    svengine_tensor y = {};
    CHECK(svengine_run(l.context, &input, 1, &y, 1) == SVENGINE_INVALID_ARGUMENT);
    CAPTURE(words());
    CHECK(words().find(what) != std::string::npos);
    CHECK(svengine_run(l.context, &right, 1, &y, 1) == SVENGINE_OK);
  };
  refused(svengine_dense(SVENGINE_FLOAT32, 2, wide, x.data()), "dimension 1 is 5, not 4");
  refused(svengine_dense(SVENGINE_FLOAT32, 3, three, x.data()), "rank 3");
  refused(svengine_dense(SVENGINE_INT64, 2, in, x.data()), "needs float32");
  refused(svengine_dense(static_cast<svengine_type>(99), 2, in, x.data()), "no element type 99");
  refused(svengine_dense(SVENGINE_FLOAT32, 2, in, nullptr), "null pointer");
  refused(svengine_dense(SVENGINE_FLOAT32, 2, nullptr, x.data()), "rank 2");
  refused(svengine_dense(SVENGINE_FLOAT32, -1, in, x.data()), "rank -1");
  refused(svengine_dense(SVENGINE_FLOAT32, 2, negative, x.data()), "-1");
  svengine_tensor beyond = right;
  beyond.rows = rows;
  beyond.extent = 2;
  refused(beyond, "row 1 of the list is 2");
  const int64_t wraps[2] = {0, INT64_MAX};
  beyond.rows = wraps;
  beyond.first_row = -1;
  refused(beyond, "row 1 of the list is 9223372036854775807");
  std::vector<float> got(6);
  place = svengine_dense(SVENGINE_FLOAT32, 2, in, got.data());
  CHECK(svengine_run(l.context, &right, 1, &place, 1) == SVENGINE_INVALID_ARGUMENT);
  CHECK(words().find("the place given") != std::string::npos);
  const int64_t folded[2] = {1, 1};
  place = svengine_dense(SVENGINE_FLOAT32, 2, out, got.data());
  place.strides = folded;
  CHECK(svengine_run(l.context, &right, 1, &place, 1) == SVENGINE_INVALID_ARGUMENT);
  CHECK(words().find("lie on each other") != std::string::npos);
  place = {};
  for (const int32_t count : {2, INT32_MAX}) {  // of which no tensor is read
    CHECK(svengine_run(l.context, &right, count, &place, 1) == SVENGINE_INVALID_ARGUMENT);
    CHECK(svengine_run(l.context, &right, 1, &place, count) == SVENGINE_INVALID_ARGUMENT);
  }
  CHECK(svengine_run(l.context, nullptr, 1, &place, 1) == SVENGINE_INVALID_ARGUMENT);
  CHECK(svengine_run(l.context, &right, 1, nullptr, 1) == SVENGINE_INVALID_ARGUMENT);
  CHECK(svengine_run(l.context, &right, 1, &place, 0) == SVENGINE_INVALID_ARGUMENT);
  CHECK(svengine_run(l.context, &right, -1, &place, 1) == SVENGINE_INVALID_ARGUMENT);
  CHECK(svengine_run_vjp(l.context, nullptr, 0, nullptr, nullptr, 0, &place) == SVENGINE_INVALID_ARGUMENT);
  CHECK(svengine_run_jvp(l.context, &right, 1, nullptr, &place, 2, &place) == SVENGINE_INVALID_ARGUMENT);
  const std::vector<float> nan(8, NAN);
  const svengine_tensor field = svengine_dense(SVENGINE_FLOAT32, 2, in, nan.data());
  require_ok(svengine_run(l.context, &field, 1, &place, 1));
  CHECK(std::isnan(static_cast<float*>(place.data)[0]));
}

TEST_CASE("handles that are null, freed, or of another kind are errors") {
  const TemporaryDirectory folder;
  const std::string path = save_small_network(folder.path());
  svengine_network* network = nullptr;
  svengine_context* context = nullptr;
  require_ok(svengine_network_load(path.c_str(), nullptr, &network));
  require_ok(svengine_context_create(network, nullptr, &context));
  svengine_tensor y = {};
  CHECK(svengine_run(nullptr, nullptr, 0, &y, 1) == SVENGINE_INVALID_HANDLE);
  CHECK(words() == "the handle is null");
  CHECK(svengine_run(reinterpret_cast<svengine_context*>(network), nullptr, 0, &y, 1) == SVENGINE_INVALID_HANDLE);
  CHECK(svengine_run(reinterpret_cast<svengine_context*>(&y), nullptr, 0, &y, 1) == SVENGINE_INVALID_HANDLE);
  require_ok(svengine_context_free(context));
  CHECK(svengine_run(context, nullptr, 0, &y, 1) == SVENGINE_INVALID_HANDLE);
  CHECK(svengine_context_free(context) == SVENGINE_INVALID_HANDLE);
  svengine_context* another = nullptr;
  require_ok(svengine_context_create(network, nullptr, &another));  // in the freed one's place
  CHECK(svengine_context_free(context) == SVENGINE_INVALID_HANDLE);
  require_ok(svengine_context_free(another));
  require_ok(svengine_network_free(network));
  CHECK(svengine_network_free(network) == SVENGINE_INVALID_HANDLE);
  CHECK(svengine_context_create(network, nullptr, &another) == SVENGINE_INVALID_HANDLE);
  CHECK(another == nullptr);
  require_ok(svengine_network_free(nullptr));
  CHECK(svengine_network_load(nullptr, nullptr, &network) == SVENGINE_INVALID_ARGUMENT);
  CHECK(svengine_network_load(path.c_str(), nullptr, nullptr) == SVENGINE_INVALID_ARGUMENT);
  CHECK(svengine_network_load("/nowhere/at/all.onnx", nullptr, &network) == SVENGINE_INVALID_MODEL);
  CHECK(words().find("/nowhere/at/all.onnx") != std::string::npos);
  svengine_options options = svengine_options_default();
  options.kernels = "abacus";
  CHECK(svengine_network_load(path.c_str(), &options, &network) == SVENGINE_INVALID_ARGUMENT);
  options = {};
  CHECK(svengine_network_load(path.c_str(), &options, &network) == SVENGINE_INVALID_ARGUMENT);
  CHECK(words().find("begin with the function that gives the defaults") != std::string::npos);
}
}  // namespace c_interface_test
