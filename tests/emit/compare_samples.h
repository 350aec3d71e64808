/* What write_samples makes of the operators' samples, for compare_samples.c. */
#include <stddef.h>

struct port {
  size_t count, size;
  char kind; /* f, d: real numbers of 4 and 8 bytes; i: others */
};

enum { most_ports = 64 };

struct sample {
  const char *name;
  int (*run)(void *workspace, void **in, void **out);
  size_t workspace;
  int inputs, outputs;
  double rtol, atol;
  struct port ports[most_ports]; /* inputs, then outputs */
};

extern const struct sample samples[];
extern const int sample_count;
