/* QEMU plugin: writes how many guest instructions had run at every mark of the program (see kernel_costs.cc), a number
 * a line, to the file given as out=FILE. Counts are exact for a program with one thread: every translated block adds
 * its length when it is entered, and a system call always ends a block.
 */
#include <stdio.h>
#include <string.h>

#include "qemu_plugin.h"

QEMU_PLUGIN_EXPORT int qemu_plugin_version = 1;

enum { MARK = 0x535645 };
static volatile uint64_t executed;
static FILE* out;

static void on_translate(qemu_plugin_id_t id, struct qemu_plugin_tb* tb) {
  (void)id;
  qemu_plugin_register_vcpu_tb_exec_inline(tb, QEMU_PLUGIN_INLINE_ADD_U64, (void*)&executed,
                                           qemu_plugin_tb_n_insns(tb));
}

static void on_system_call(qemu_plugin_id_t id, unsigned int vcpu, int64_t number, uint64_t a1, uint64_t a2,
                           uint64_t a3, uint64_t a4, uint64_t a5, uint64_t a6, uint64_t a7, uint64_t a8) {
  (void)id, (void)vcpu, (void)a1, (void)a2, (void)a3, (void)a4, (void)a5, (void)a6, (void)a7, (void)a8;
  if (number == MARK) fprintf(out, "%llu\n", (unsigned long long)executed);
}

static void on_exit_close(qemu_plugin_id_t id, void* unused) {
  (void)id, (void)unused;
  fclose(out);
}

int qemu_plugin_install(qemu_plugin_id_t id, const qemu_info_t* info, int argc, char** argv) {
  (void)info;
  for (int i = 0; i < argc; i++)
    if (!strncmp(argv[i], "out=", 4)) out = fopen(argv[i] + 4, "w");
  if (!out) {
    fprintf(stderr, "instruction_count: out=FILE is missing or cannot be written\n");
    return 1;
  }
  qemu_plugin_register_vcpu_tb_trans_cb(id, on_translate);
  qemu_plugin_register_vcpu_syscall_cb(id, on_system_call);
  qemu_plugin_register_atexit_cb(id, on_exit_close, NULL);
  return 0;
}
