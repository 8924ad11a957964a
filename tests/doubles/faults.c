// Makes system calls of the program that it is preloaded into fail, or ends or stops the program at one of them.
//
//   FAULTS='pwrite64:error=EIO:when=3+ linkat,renameat:signal=KILL:when=2 fsync' LD_PRELOAD=faults.so program
//
// A rule names calls; those of all threads and of all names count together. What happens at a call:
//   error=EIO     it fails and is not made
//   retval=4096   it returns this and is not made
//   signal=KILL   the process gets this signal before the call, SIGSTOP after it
// `when` says at which: 3 the third, 3+ this and every later one, 3+2 this and every second one after it; without it, every one.
// A rule without any of these counts. Each call of a rule makes a line in the file FAULTS_LOG, with its first argument and
// result. A write of 8 bytes is none: threads wake each other by it, as often as it happens.
//
// The kernel turns these calls into SIGSYS (seccomp), whose handler decides, and makes the call by libc's syscall(), which the
// filter lets pass. So calls are caught wherever they are made, also inside liburing. Filters outlive exec, handlers do not: what
// the program starts is ended by calls of a rule that come before its own copy of this library is loaded, such as pread64.
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <ucontext.h>
#include <unistd.h>

#if defined __x86_64__
#define RESULT(context) (context)->uc_mcontext.gregs[REG_RAX]
#define ARGUMENT(context, n) (context)->uc_mcontext.gregs[(const int[]){REG_RDI, REG_RSI, REG_RDX, REG_R10, REG_R8, REG_R9}[n]]
#elif defined __aarch64__
#define RESULT(context) (context)->uc_mcontext.regs[0]
#define ARGUMENT(context, n) (context)->uc_mcontext.regs[n]
#endif

static const struct {
  const char* name;
  int number;
} CALLS[] = {
#define CALL(name) {#name, SYS_##name}
    CALL(pread64),   CALL(pwrite64),   CALL(write),  CALL(fsync),          CALL(fdatasync),      CALL(syncfs),
    CALL(fallocate), CALL(ftruncate),  CALL(linkat), CALL(renameat),       CALL(renameat2),      CALL(unlinkat),
    CALL(mkdirat),   CALL(fchmod),     CALL(fchown), CALL(fstat),          CALL(newfstatat),     CALL(fcntl),
    CALL(flock),     CALL(getdents64), CALL(openat), CALL(io_uring_setup), CALL(io_uring_enter), CALL(copy_file_range),
#ifdef __x86_64__
    CALL(mkdir),     CALL(rmdir),      CALL(rename), CALL(unlink),
#endif
};
enum { CALL_COUNT = sizeof CALLS / sizeof CALLS[0], MOST_RULES = 8, ALLOWED_CODE_BYTES = 64 };

struct rule {
  uint64_t calls;  // a bit for each that it names, in the order of CALLS
  int error, signal;
  int has_value;
  long value;
  long first, step;  // step 0: at `first` only
  atomic_long count;
};
static struct rule rules[MOST_RULES];
static int rule_count, log_file = -1;

// --- rules ---------------------------------------------------------------------------------------------------------------------

static void give_up(const char* why, const char* what) {
  fprintf(stderr, "faults: %s: %s\n", what, why);
  _exit(99);
}

static int is_word(const char* word, const char* const known) { return known != NULL && strcmp(word, known) == 0; }

static uint64_t call_named(const char* name) {
  for (int i = 0; i < CALL_COUNT; ++i)
    if (is_word(name, CALLS[i].name)) return 1ULL << i;
  give_up("no call of this name", name);
  return 0;
}

static int error_named(const char* name) {
  for (int error = 1; error < 256; ++error)
    if (is_word(name, strerrorname_np(error))) return error;
  give_up("no error of this name", name);
  return 0;
}

static int signal_named(const char* name) {
  for (int number = 1; number < NSIG; ++number)
    if (is_word(name, sigabbrev_np(number))) return number;
  give_up("no signal of this name", name);
  return 0;
}

static void read_when(struct rule* rule, const char* text) {
  char* end;
  rule->first = strtol(text, &end, 10);
  rule->step = *end == '+' ? 1 : 0;
  if (*end == '+' && *++end != '\0') rule->step = strtol(end, &end, 10);
  if (rule->first < 1 || *end != '\0') give_up("is not 3, 3+ or 3+2", text);
}

static void read_action(struct rule* rule, const char* name, const char* value) {
  if (is_word(name, "error")) {
    rule->error = error_named(value);
  } else if (is_word(name, "retval")) {
    rule->has_value = 1;
    rule->value = strtol(value, NULL, 10);
  } else if (is_word(name, "signal")) {
    rule->signal = signal_named(value);
  } else if (is_word(name, "when")) {
    read_when(rule, value);
  } else {
    give_up("nothing that can happen at a call", name);
  }
}

static void read_rule(char* text) {
  if (rule_count == MOST_RULES) give_up("too many rules", text);
  struct rule* const rule = &rules[rule_count++];
  *rule = (struct rule){.first = 1, .step = 1};
  char *rest, *within, *names = strtok_r(text, ":", &rest);
  for (char* name = strtok_r(names, ",", &within); name != NULL; name = strtok_r(NULL, ",", &within))
    rule->calls |= call_named(name);
  for (char* action; (action = strtok_r(NULL, ":", &rest)) != NULL;) {
    char* const value = strchr(action, '=');
    if (value == NULL) give_up("is not NAME=VALUE", action);
    *value = '\0';
    read_action(rule, action, value + 1);
  }
}

// --- calls ---------------------------------------------------------------------------------------------------------------------

static int happens(struct rule* rule) {
  const long count = atomic_fetch_add(&rule->count, 1) + 1;
  return count == rule->first || (rule->step > 0 && count > rule->first && (count - rule->first) % rule->step == 0);
}

static void log_line(const char* format, ...) {
  if (log_file < 0) return;
  char line[160];
  va_list words;
  va_start(words, format);
  const int size = vsnprintf(line, sizeof line, format, words);
  va_end(words);
  syscall(SYS_write, log_file, line, (long)size);
}

static long make(int number, ucontext_t* at) {
  const long result =
      syscall(number, ARGUMENT(at, 0), ARGUMENT(at, 1), ARGUMENT(at, 2), ARGUMENT(at, 3), ARGUMENT(at, 4), ARGUMENT(at, 5));
  return result == -1 ? -errno : result;
}

static void strike(const struct rule* rule, const char* name) {
  log_line("%s: SIG%s (INJECTED)\n", name, sigabbrev_np(rule->signal));
  if (rule->signal == SIGSTOP)  // this thread does nothing more
    syscall(SYS_tgkill, getpid(), gettid(), SIGSTOP);
  else
    syscall(SYS_kill, getpid(), rule->signal);
}

static int wakes_a_thread(int call, ucontext_t* at) { return CALLS[call].number == SYS_write && ARGUMENT(at, 2) == 8; }

static long outcome(int call, ucontext_t* at) {
  struct rule *replacing = NULL, *stopping = NULL;
  const char* const name = CALLS[call].name;
  const long argument = (long)ARGUMENT(at, 0);
  for (struct rule* rule = rules; rule < rules + rule_count; ++rule) {
    if ((rule->calls >> call & 1) == 0 || !happens(rule)) continue;
    if (rule->error != 0 || rule->has_value) replacing = rule;
    if (rule->signal == SIGSTOP) stopping = rule;
    if (rule->signal != 0 && rule->signal != SIGSTOP) strike(rule, name);
  }
  const long result = replacing == NULL       ? make(CALLS[call].number, at)
                      : replacing->error != 0 ? -replacing->error
                                              : replacing->value;
  const char* const note = replacing == NULL ? "" : " (INJECTED)";
  if (result < 0)
    log_line("%s(%ld) = -1 %s%s\n", name, argument, strerrorname_np((int)-result), note);
  else
    log_line("%s(%ld) = %ld%s\n", name, argument, result, note);
  if (stopping != NULL) strike(stopping, name);
  return result;
}

static void handle(int number, siginfo_t* info, void* context) {
  (void)number;
  const int before = errno;
  for (int call = 0; call < CALL_COUNT; ++call)
    if (CALLS[call].number == info->si_syscall)
      RESULT((ucontext_t*)context) = wakes_a_thread(call, context) ? make(SYS_write, context) : outcome(call, context);
  errno = before;
}

// --- the filter ----------------------------------------------------------------------------------------------------------------

static struct sock_filter load(size_t offset) { return (struct sock_filter)BPF_STMT(BPF_LD | BPF_W | BPF_ABS, (uint32_t)offset); }

static struct sock_filter jump(int how, uint64_t value, int if_true, int if_false) {
  return (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_K | how, (uint32_t)value, (uint8_t)if_true, (uint8_t)if_false);
}

// All calls of the rules are trapped, except those that libc's syscall() makes.
static void trap_calls(uint64_t calls) {
  const uint64_t code = (uint64_t)(uintptr_t)&syscall, end = code + ALLOWED_CODE_BYTES;
  if (code >> 32 != end >> 32) give_up("is at an address that the filter cannot compare", "syscall()");
  struct sock_filter program[CALL_COUNT + 8];
  unsigned short size = 0;
  program[size++] = load(offsetof(struct seccomp_data, nr));
  int left = __builtin_popcountll(calls);
  for (int call = 0; call < CALL_COUNT; ++call)
    if (calls >> call & 1) program[size++] = jump(BPF_JEQ, (uint64_t)CALLS[call].number, left--, 0);
  program[size++] = (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW);
  program[size++] = load(offsetof(struct seccomp_data, instruction_pointer) + 4);
  program[size++] = jump(BPF_JEQ, code >> 32, 0, 3);
  program[size++] = load(offsetof(struct seccomp_data, instruction_pointer));
  program[size++] = jump(BPF_JGE, code, 0, 1);
  program[size++] = jump(BPF_JGT, end, 0, 1);
  program[size++] = (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_TRAP);
  program[size++] = (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW);
  const struct sock_fprog filter = {.len = size, .filter = program};
  if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0 || syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, 0, &filter) != 0)
    give_up(strerror(errno), "seccomp");
}

extern int __sigaction(int number, const struct sigaction* action, struct sigaction* before);  // which no sanitizer replaces

__attribute__((constructor)) static void begin(void) {
  const char* const wanted = getenv("FAULTS");
  if (wanted == NULL) return;
  char* const text = strdup(wanted);
  char* rest;
  for (char* rule = strtok_r(text, " ", &rest); rule != NULL; rule = strtok_r(NULL, " ", &rest)) read_rule(rule);
  free(text);
  const char* const path = getenv("FAULTS_LOG");
  if (path != NULL && (log_file = open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0666)) < 0)
    give_up(strerror(errno), path);
  uint64_t calls = 0;
  for (int i = 0; i < rule_count; ++i) calls |= rules[i].calls;
  const struct sigaction action = {.sa_sigaction = handle, .sa_flags = SA_SIGINFO | SA_RESTART | SA_NODEFER};
  if (__sigaction(SIGSYS, &action, NULL) != 0) give_up(strerror(errno), "SIGSYS");
  trap_calls(calls);
}
