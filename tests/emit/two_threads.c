/* Two threads call net_run_in at once, RUNS times, each with memory of its own, and get what one thread gets alone. */
#include "net.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static float expected[NET_LOGITS_ELEMENTS], image[NET_IMAGE_ELEMENTS];

static void *call(void *workspace) {
  float logits[NET_LOGITS_ELEMENTS];
  for (int i = 0; i < RUNS; ++i) {
    if (net_run_in(workspace, image, logits) != 0) return workspace;
    if (memcmp(logits, expected, sizeof logits) != 0) return workspace;
  }
  return NULL;
}

int main(void) {
  pthread_t threads[2];
  void *failed, *memory[2];
  int bad = 0;
  for (int i = 0; i < NET_IMAGE_ELEMENTS; ++i) image[i] = (float)(i % 17) / 17;
  if (net_run(image, expected) != 0) return 1;
  for (int t = 0; t < 2; ++t) {
    memory[t] = malloc(NET_WORKSPACE_BYTES + 1);
    if (!memory[t] || pthread_create(&threads[t], NULL, call, (char *)memory[t] + t) != 0) return 1; /* of any alignment */
  }
  for (int t = 0; t < 2; ++t) {
    pthread_join(threads[t], &failed);
    bad |= failed != NULL;
    free(memory[t]);
  }
  puts(bad ? "other results" : "the same");
  return bad;
}
