/* plugin_consumer MODEL PLUGIN: the operators of examples/06_plugin in a program. MODEL computes
 * y[N, 6] = PeriodicDifference(x[N, 6], spacing 0.5). */
#include <svengine/operators.h>

#include <stdio.h>
#include <string.h>

static int failures = 0;

static void check(int good, const char* what) {
  if (good) return;
  printf("FAILED: %s: %s\n", what, svengine_last_error());
  ++failures;
}

static const char* nothing(const svengine_call* call, int64_t begin, int64_t end) {
  (void)call, (void)begin, (void)end;
  return NULL;
}

static void check_refusals(const char* plugin) {
  svengine_operator mine = {.size = sizeof mine, .domain = "example.fields", .name = "PeriodicDifference", .min_inputs = 1, .max_inputs = 1,
                            .min_outputs = 1, .max_outputs = 1, .compute = nothing};
  check(svengine_load_plugin(plugin) == SVENGINE_OK, "a second time is no error");
  check(svengine_register_operators(&mine, 1) == SVENGINE_INVALID_ARGUMENT && strstr(svengine_last_error(), "known already"), "a name is taken once");
  mine.name = "Mine";
  check(svengine_register_operators(&mine, 1) == SVENGINE_OK, "another name is free");
  check(svengine_register_operators(NULL, 1) == SVENGINE_INVALID_ARGUMENT, "null is an error");
  check(svengine_load_plugin(NULL) == SVENGINE_INVALID_ARGUMENT, "null is an error");
  check(svengine_load_plugin("no-such-file.so") == SVENGINE_INVALID_ARGUMENT && strstr(svengine_last_error(), "no-such-file.so"),
        "a missing file is an error");
}

static void check_numbers(const char* model) {
  const float x[6] = {0, 1, 4, 9, 16, 25}, seed[6] = {1, 0, 0, 0, 0, 0};
  const float y[6] = {-24, 4, 8, 12, 16, -16}, gradient[6] = {0, 1, 0, 0, 0, -1};
  const int64_t shape[2] = {1, 6};
  svengine_network* network = NULL;
  svengine_context* context = NULL;
  check(svengine_network_load(model, NULL, &network) == SVENGINE_OK, "load");
  check(svengine_context_create(network, NULL, &context) == SVENGINE_OK, "a context");
  if (failures) return;
  svengine_tensor in = svengine_dense(SVENGINE_FLOAT32, 2, shape, x), dy = svengine_dense(SVENGINE_FLOAT32, 2, shape, seed), out = {0}, dx = {0};
  check(svengine_run_vjp(context, &in, 1, &dy, &out, 1, &dx) == SVENGINE_OK, "a run with gradients");
  if (failures) return;
  for (int i = 0; i < 6; ++i) check(((const float*)out.data)[i] == y[i], "differences");
  for (int i = 0; i < 6; ++i) check(((const float*)dx.data)[i] == gradient[i], "their gradient");
  check(svengine_context_free(context) == SVENGINE_OK && svengine_network_free(network) == SVENGINE_OK, "free");
}

int main(int argc, char** argv) {
  svengine_network* network = NULL;
  if (argc != 3) return 2;
  check(svengine_network_load(argv[1], NULL, &network) == SVENGINE_UNIMPLEMENTED, "without the plug-in the operator is not known");
  check(strstr(svengine_last_error(), "PeriodicDifference of example.fields") != NULL, "and is named");
  check(svengine_load_plugin(argv[2]) == SVENGINE_OK, "the plug-in is loaded");
  if (failures) return 1;
  check_numbers(argv[1]);
  check_refusals(argv[2]);
  if (!failures) printf("svengine %s works for a plug-in\n", svengine_version());
  return failures != 0;
}
