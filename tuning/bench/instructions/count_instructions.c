// A plugin for qemu-user that counts the instructions a program executes, in all and by function.
//
//   qemu-aarch64 -plugin ./count_instructions.so,out=FILE PROGRAM
//   qemu-aarch64 -plugin ./count_instructions.so,out=FILE,trace=TEXT+TEXT PROGRAM
//
// FILE gets a line "COUNT<tab>NAME" for each function, the largest first; NAME is `-` in libraries, whose symbols qemu does not
// have. Each translated block counts how often it begins; a block that a signal interrupts counts as a whole. With `trace` it
// gets a line "ADDRESS COUNT" instead each time that a block begins in a function whose name has one of the texts in it.
//
// Debian has no package with qemu-plugin.h, so the functions that are used are declared here. QEMU_PLUGIN_API is the version of
// the interface: 1 up to qemu 8, 2 from 9 on.
#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef uint64_t plugin_id;
struct qemu_plugin_tb;
struct qemu_plugin_insn;
enum { no_registers = 0 };  // a callback that reads none

void qemu_plugin_register_vcpu_tb_trans_cb(plugin_id id, void (*translated)(plugin_id, struct qemu_plugin_tb*));
void qemu_plugin_register_vcpu_tb_exec_cb(struct qemu_plugin_tb* block, void (*begins)(unsigned processor, void* counter),
                                          int registers, void* counter);
void qemu_plugin_register_atexit_cb(plugin_id id, void (*ends)(plugin_id, void*), void* unused);
size_t qemu_plugin_tb_n_insns(const struct qemu_plugin_tb* block);
struct qemu_plugin_insn* qemu_plugin_tb_get_insn(const struct qemu_plugin_tb* block, size_t index);
uint64_t qemu_plugin_tb_vaddr(const struct qemu_plugin_tb* block);
const char* qemu_plugin_insn_symbol(const struct qemu_plugin_insn* instruction);

__attribute__((visibility("default"))) int qemu_plugin_version = QEMU_PLUGIN_API;

struct Counter {
  struct Counter* next;
  uint64_t begun, instructions, address;
  char name[];
};

static struct Counter* counters;  // a list that only grows; threads translate at the same time
static const char *out_name, *traced;
static FILE* trace;

static void count_block(unsigned processor, void* counter) {
  (void)processor;
  __atomic_fetch_add(&((struct Counter*)counter)->begun, 1, __ATOMIC_RELAXED);
}

static void trace_block(unsigned processor, void* block) {
  (void)processor;
  const struct Counter* const counter = block;
  fprintf(trace, "%" PRIx64 " %" PRIu64 "\n", counter->address, counter->instructions);
}

static bool is_traced(const char* name) {
  char texts[256];
  snprintf(texts, sizeof texts, "%s", traced);
  char* rest = NULL;
  for (const char* text = strtok_r(texts, "+", &rest); text != NULL; text = strtok_r(NULL, "+", &rest))
    if (strstr(name, text) != NULL) return true;
  return false;
}

static void add_counter(plugin_id id, struct qemu_plugin_tb* block) {
  (void)id;
  const char* name = qemu_plugin_insn_symbol(qemu_plugin_tb_get_insn(block, 0));
  if (name == NULL || *name == '\0') name = "-";
  if (traced != NULL && !is_traced(name)) return;
  struct Counter* const counter = malloc(sizeof *counter + strlen(name) + 1);
  if (counter == NULL) abort();
  counter->begun = 0;
  counter->instructions = qemu_plugin_tb_n_insns(block);
  counter->address = qemu_plugin_tb_vaddr(block);
  strcpy(counter->name, name);
  counter->next = __atomic_load_n(&counters, __ATOMIC_RELAXED);
  while (!__atomic_compare_exchange_n(&counters, &counter->next, counter, true, __ATOMIC_RELEASE, __ATOMIC_RELAXED)) {
  }
  qemu_plugin_register_vcpu_tb_exec_cb(block, traced != NULL ? trace_block : count_block, no_registers, counter);
}

static int by_name(const void* a, const void* b) {
  return strcmp((*(struct Counter* const*)a)->name, (*(struct Counter* const*)b)->name);
}
static int by_count(const void* a, const void* b) {
  const uint64_t x = (*(struct Counter* const*)a)->begun, y = (*(struct Counter* const*)b)->begun;
  return (x < y) - (x > y);
}

static void write_counts(plugin_id id, void* unused) {
  (void)id;
  (void)unused;
  size_t count = 0, functions = 0;
  for (const struct Counter* c = counters; c != NULL; c = c->next) ++count;
  struct Counter** const all = calloc(count + 1, sizeof *all);
  FILE* const out = fopen(out_name, "w");
  if (all == NULL || out == NULL) {
    perror(out_name);
    exit(1);
  }
  count = 0;
  for (struct Counter* c = counters; c != NULL; c = c->next) {
    c->begun *= c->instructions;
    all[count++] = c;
  }
  qsort(all, count, sizeof *all, by_name);
  for (size_t i = 0; i < count; ++i) {
    if (functions > 0 && strcmp(all[functions - 1]->name, all[i]->name) == 0)
      all[functions - 1]->begun += all[i]->begun;
    else
      all[functions++] = all[i];
  }
  qsort(all, functions, sizeof *all, by_count);
  for (size_t i = 0; i < functions; ++i)
    if (all[i]->begun > 0) fprintf(out, "%" PRIu64 "\t%s\n", all[i]->begun, all[i]->name);
  if (fclose(out) != 0) perror(out_name);
}

static void close_trace(plugin_id id, void* unused) {
  (void)id;
  (void)unused;
  if (fclose(trace) != 0) perror(out_name);
}

__attribute__((visibility("default"))) int qemu_plugin_install(plugin_id id, const void* machine, int count, char** words) {
  (void)machine;
  for (int i = 0; i < count; ++i) {
    if (strncmp(words[i], "out=", 4) == 0) out_name = strdup(words[i] + 4);
    if (strncmp(words[i], "trace=", 6) == 0) traced = strdup(words[i] + 6);
  }
  if (out_name == NULL || (traced != NULL && (trace = fopen(out_name, "w")) == NULL)) {
    fputs("count_instructions: give out=FILE, which can be written\n", stderr);
    return 1;
  }
  qemu_plugin_register_vcpu_tb_trans_cb(id, add_counter);
  qemu_plugin_register_atexit_cb(id, traced != NULL ? close_trace : write_counts, NULL);
  return 0;
}
