/* QEMU plugin: writes how often every translated block of the program ran, to the file given as out=FILE, a line a block:
 *
 *   ADDRESS EXECUTIONS WORD WORD ...      all but the executions in hexadecimal; the words are the block's instructions
 *
 * Counters are added to without locks: run the program with one thread.
 */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../tests/costs/qemu_plugin.h"

QEMU_PLUGIN_EXPORT int qemu_plugin_version = 1;

struct block {
  struct block* next;
  uint64_t address, executions;
  size_t count;
  uint32_t words[];
};
static struct block* blocks;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER; /* translation may happen in any thread */
static FILE* out;

static void on_translate(qemu_plugin_id_t id, struct qemu_plugin_tb* tb) {
  (void)id;
  const size_t count = qemu_plugin_tb_n_insns(tb);
  struct block* b = calloc(1, sizeof *b + count * sizeof *b->words);
  if (!b) {
    fprintf(stderr, "block_count: out of memory\n");
    exit(1);
  }
  b->address = qemu_plugin_tb_vaddr(tb);
  b->count = count;
  for (size_t i = 0; i < count; i++)
    memcpy(&b->words[i], qemu_plugin_insn_data(qemu_plugin_tb_get_insn(tb, i)), sizeof b->words[i]);
  pthread_mutex_lock(&lock);
  b->next = blocks;
  blocks = b;
  pthread_mutex_unlock(&lock);
  qemu_plugin_register_vcpu_tb_exec_inline(tb, QEMU_PLUGIN_INLINE_ADD_U64, &b->executions, 1);
}

static void on_exit_write(qemu_plugin_id_t id, void* unused) {
  (void)id, (void)unused;
  for (const struct block* b = blocks; b; b = b->next) {
    if (!b->executions) continue;
    fprintf(out, "%llx %llu", (unsigned long long)b->address, (unsigned long long)b->executions);
    for (size_t i = 0; i < b->count; i++) fprintf(out, " %08x", b->words[i]);
    fputc('\n', out);
  }
  if (fclose(out)) perror("block_count");
}

int qemu_plugin_install(qemu_plugin_id_t id, const qemu_info_t* info, int argc, char** argv) {
  (void)info;
  for (int i = 0; i < argc; i++)
    if (!strncmp(argv[i], "out=", 4)) out = fopen(argv[i] + 4, "w");
  if (!out) {
    fprintf(stderr, "block_count: out=FILE is missing or cannot be written\n");
    return 1;
  }
  qemu_plugin_register_vcpu_tb_trans_cb(id, on_translate);
  qemu_plugin_register_atexit_cb(id, on_exit_write, NULL);
  return 0;
}
