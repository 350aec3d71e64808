// Options of svengine.h: what a program asks for, and what one asks for that knows fewer of them than the library.
#include <svengine/svengine.h>

#include <cstddef>
#include <vector>

#include "tests/api/small_network.h"
#include "tests/support/temporary_directory.h"

namespace c_options_test {
using svengine::tests::save_noise_network;
using svengine::tests::TemporaryDirectory;

namespace {

void require_ok(svengine_status status) {
  if (status != SVENGINE_OK) FAIL(svengine_last_error());
}

/// What two calls draw of the network at `path`.
std::vector<float> draws(const std::string& path, const svengine_options& options) {
  svengine_network* network = nullptr;
  svengine_context* context = nullptr;
  require_ok(svengine_network_load(path.c_str(), &options, &network));
  require_ok(svengine_context_create(network, nullptr, &context));
  const std::vector<float> zeros(5);
  const int64_t shape[1] = {5};
  const svengine_tensor x = svengine_dense(SVENGINE_FLOAT32, 1, shape, zeros.data());
  std::vector<float> out;
  for (int run = 0; run < 2; ++run) {
    svengine_tensor y = {};
    require_ok(svengine_run(context, &x, 1, &y, 1));
    out.insert(out.end(), static_cast<const float*>(y.data), static_cast<const float*>(y.data) + 5);
  }
  require_ok(svengine_context_free(context));
  require_ok(svengine_network_free(network));
  return out;
}

}  // namespace

TEST_CASE("a seed repeats what nodes draw that have none, and a program that does not know of it has none") {
  const TemporaryDirectory folder;
  const std::string path = save_noise_network(folder.path());
  svengine_options options = svengine_options_default();
  options.seeded = 1;
  options.seed = 7;
  const std::vector<float> drawn = draws(path, options);
  CHECK(draws(path, options) == drawn);
  CHECK(std::vector(drawn.begin(), drawn.begin() + 5) != std::vector(drawn.begin() + 5, drawn.end()));
  options.size = offsetof(svengine_options, seeded);  // a program that was compiled before there were seeds
  CHECK(draws(path, options) != drawn);
  options.size -= 4;  // half a pointer is no options
  svengine_network* network = nullptr;
  CHECK(svengine_network_load(path.c_str(), &options, &network) == SVENGINE_INVALID_ARGUMENT);
}
}  // namespace c_options_test
