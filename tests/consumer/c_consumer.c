/* c_consumer MODEL: what a C program does with the library. MODEL computes y[N, 3] = x[N, 3] + (1, 2, 3). */
#include <svengine/svengine.h>

#include <stdio.h>
#include <string.h>

static int failures = 0;

static void check(int good, const char* what) {
  if (good) return;
  printf("FAILED: %s: %s\n", what, svengine_last_error());
  ++failures;
}

static void check_errors(const char* model) {
  svengine_network* network = NULL;
  svengine_context* context = NULL;
  check(svengine_network_load("no-such-file.onnx", NULL, &network) == SVENGINE_INVALID_MODEL && !network, "a missing file is an error");
  check(strstr(svengine_last_error(), "no-such-file.onnx") != NULL, "that names it");
  check(svengine_network_load(model, NULL, NULL) == SVENGINE_INVALID_ARGUMENT, "nowhere to put a network is an error");
  check(svengine_context_create(NULL, NULL, &context) == SVENGINE_INVALID_HANDLE && !context, "a context of nothing is an error");
  check(svengine_run(NULL, NULL, 0, NULL, 0) == SVENGINE_INVALID_HANDLE, "a run of nothing is an error");
}

static void check_ports(const svengine_network* network) {
  int32_t inputs = 0, outputs = 0;
  svengine_port port;
  check(svengine_network_counts(network, &inputs, &outputs) == SVENGINE_OK && inputs == 1 && outputs == 1, "one input, one output");
  check(svengine_network_input(network, 0, &port) == SVENGINE_OK, "the input is described");
  check(strcmp(port.name, "x") == 0 && port.type == SVENGINE_FLOAT32 && port.rank == 2, "by name, type and rank");
  check(port.shape[0] == -1 && port.shape[1] == 3 && strcmp(port.shape_names[0], "N") == 0, "and shape");
  check(svengine_network_input(network, 1, &port) == SVENGINE_INVALID_ARGUMENT, "there is no other");
}

static void check_runs(svengine_context* context) {
  const float x[6] = {0, 0, 0, 1, 1, 1};
  float y[6] = {0};
  const int64_t shape[2] = {2, 3}, wrong[2] = {2, 2};
  svengine_tensor in = svengine_dense(SVENGINE_FLOAT32, 2, shape, x);
  svengine_tensor out = svengine_dense(SVENGINE_FLOAT32, 2, shape, y);
  svengine_tensor given = {0};
  check(svengine_run(context, &in, 1, &out, 1) == SVENGINE_OK, "a run");
  check(y[0] == 1 && y[2] == 3 && y[5] == 4, "into memory of ours");
  check(svengine_run(context, &in, 1, &given, 1) == SVENGINE_OK && given.rank == 2 && given.shape[0] == 2, "a run");
  check(given.data && ((const float*)given.data)[4] == 3, "into memory of the context");
  in.shape = wrong;
  check(svengine_run(context, &in, 1, &out, 1) == SVENGINE_INVALID_ARGUMENT, "a wrong shape is an error");
}

int main(int argc, char** argv) {
  svengine_network* network = NULL;
  svengine_context* context = NULL;
  if (argc != 2) return 2;
  check(svengine_abi() == SVENGINE_ABI, "library and header are of one number");
  check(svengine_network_load(argv[1], NULL, &network) == SVENGINE_OK, "load");
  check(svengine_context_create(network, NULL, &context) == SVENGINE_OK, "a context");
  if (failures) return 1;
  check_ports(network);
  check_runs(context);
  check_errors(argv[1]);
  check(svengine_network_free(network) == SVENGINE_OK, "free the network");
  check_runs(context);
  check(svengine_context_free(context) == SVENGINE_OK, "free the context");
  check(svengine_context_free(context) == SVENGINE_INVALID_HANDLE, "once");
  if (failures == 0) printf("svengine %s works for C\n", svengine_version());
  return failures != 0;
}
