/* compare_samples FILE [OUTPUTS]: runs every sample on the inputs in the file and compares with the outputs there, or writes what it gets to
   OUTPUTS. Outputs and workspace hold NaN before a call, and bytes behind them that no call may change; a second call in the same workspace must
   give the same bits. */
#include "compare_samples.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { guard = 64 };

static void *memory_of(size_t bytes) {
  unsigned char *memory = malloc(bytes + guard);
  if (!memory) exit(2);
  memset(memory, 0xff, bytes + guard);
  return memory;
}

static int is_guarded(const void *memory, size_t bytes) {
  for (size_t i = 0; i < guard; ++i)
    if (((const unsigned char *)memory)[bytes + i] != 0xff) return 0;
  return 1;
}

static int differs(const struct sample *s, const struct port *p, const void *got, const void *expected) {
  if (p->kind == 'i') return memcmp(got, expected, p->count * p->size) != 0;
  for (size_t i = 0; i < p->count; ++i) {
    const double a = p->kind == 'f' ? (double)((const float *)got)[i] : ((const double *)got)[i];
    const double b = p->kind == 'f' ? (double)((const float *)expected)[i] : ((const double *)expected)[i];
    if (a == b || (a != a && b != b)) continue;
    if (fabs(a - b) <= s->atol + s->rtol * fabs(b)) continue;
    printf("  element %lu is %.9g, expected %.9g\n", (unsigned long)i, a, b);
    return 1;
  }
  return 0;
}

static int compare(const struct sample *s, FILE *file, FILE *written) {
  void *in[most_ports], *out[most_ports], *again[most_ports], *expected[most_ports], *workspace = memory_of(s->workspace);
  const struct port *outs = s->ports + s->inputs;
  int bad = 0;
  for (int i = 0; i < s->inputs + s->outputs; ++i) {
    const size_t bytes = s->ports[i].count * s->ports[i].size;
    void *memory = memory_of(bytes);
    if (fread(memory, 1, bytes, file) != bytes) exit(2);
    if (i < s->inputs) in[i] = memory;
    else expected[i - s->inputs] = memory, out[i - s->inputs] = memory_of(bytes), again[i - s->inputs] = memory_of(bytes);
  }
  if (s->run(workspace, in, out) != 0 || s->run(workspace, in, again) != 0) bad = printf("  gives back an error\n");
  if (!is_guarded(workspace, s->workspace)) bad = printf("  writes behind the workspace\n");
  for (int i = 0; i < s->outputs; ++i) {
    const size_t bytes = outs[i].count * outs[i].size;
    if (!is_guarded(out[i], bytes)) bad = printf("  writes behind output %d\n", i);
    if (memcmp(out[i], again[i], bytes) != 0) bad = printf("  output %d is other bits the second time\n", i);
    if (written) fwrite(out[i], 1, bytes, written);
    else if (differs(s, &outs[i], out[i], expected[i])) bad = printf("  output %d differs\n", i);
    free(out[i]), free(again[i]), free(expected[i]);
  }
  for (int i = 0; i < s->inputs; ++i) free(in[i]);
  free(workspace);
  if (bad) printf("%s\n", s->name);
  return bad != 0;
}

int main(int argc, char **argv) {
  FILE *file = argc >= 2 ? fopen(argv[1], "rb") : NULL, *written = argc == 3 ? fopen(argv[2], "wb") : NULL;
  int bad = 0;
  if (!file || (argc == 3 && !written)) return 2;
  for (int i = 0; i < sample_count; ++i) bad += compare(&samples[i], file, written);
  if (getc(file) != EOF) bad += printf("the file holds more than the samples\n") > 0;
  fclose(file);
  if (written && fclose(written) != 0) return 2;
  printf("%d of %d samples differ\n", bad, sample_count);
  return bad != 0;
}
