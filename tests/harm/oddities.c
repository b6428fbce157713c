// SPDX-License-Identifier: BSD-3-Clause
// oddities MODE: what programs do around MPI that a tracer may break. Each mode checks itself;
// rank 0 prints what it found, in words that do not change from run to run, and "done".
// HARM_SETTING in the environment is what circumstances it works in (settings.h). As a library
// (-DHARM_LIBRARY), MPI begins in its constructor and ends in its destructor.
#define _GNU_SOURCE
#include <mpi.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

#include "settings.h"

static int rank, ranks, wrong;

static void check(int good, const char* what) {
  if (good) return;
  ++wrong;
  printf("rank %d: wrong: %s\n", rank, what);
}

static void ring(int tag) {
  int sent = rank;
  int received = -1;
  MPI_Sendrecv(&sent, 1, MPI_INT, (rank + 1) % ranks, tag, &received, 1, MPI_INT,
               (rank + ranks - 1) % ranks, tag, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  check(received == (rank + ranks - 1) % ranks, "what the ring carries");
}

// -- longjmp out of a call, by an error handler

static jmp_buf out;

static void jump(MPI_Comm* comm, int* code, ...) {
  (void)comm;
  (void)code;
  longjmp(out, 1);
}

static void jumps(void) {
  MPI_Errhandler handler;
  MPI_Comm_create_errhandler(jump, &handler);
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, handler);
  volatile int jumped = 0;
  for (volatile int i = 0; i < 3; ++i)
    if (setjmp(out) == 0)
      MPI_Send(&rank, 1, MPI_INT, ranks + 5, 0, MPI_COMM_WORLD);
    else
      ++jumped;
  check(jumped == 3, "jumps");
  for (int i = 0; i < 5; ++i) ring(1);
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_ARE_FATAL);
  MPI_Errhandler_free(&handler);
}

// -- functions that MPI calls back, and that call MPI

static int copies, deletions, operations;

static int copy(MPI_Comm comm, int key, void* extra, void* in, void* result, int* flag) {
  (void)comm, (void)key, (void)extra, (void)in;
  MPI_Datatype* type = malloc(sizeof *type);
  MPI_Type_contiguous(3, MPI_INT, type);
  MPI_Type_commit(type);
  *(void**)result = type;
  *flag = 1;
  ++copies;
  return MPI_SUCCESS;
}

static int delete_type(MPI_Comm comm, int key, void* value, void* extra) {
  (void)comm, (void)key, (void)extra;
  const int code = value == NULL ? MPI_SUCCESS : MPI_Type_free(value);
  free(value);
  ++deletions;
  return code;
}

static void combine(void* in, void* result, int* count, MPI_Datatype* type) {
  int bytes = 0;
  MPI_Type_size(*type, &bytes);
  for (int i = 0; i < *count; ++i) ((int*)result)[i] += ((int*)in)[i] * bytes / 4;
  ++operations;
}

static void callbacks(void) {
  int key;
  MPI_Comm_create_keyval(copy, delete_type, &key, NULL);
  MPI_Comm first, second;
  MPI_Comm_dup(MPI_COMM_WORLD, &first);
  MPI_Comm_set_attr(first, key, NULL);
  for (int i = 0; i < 3; ++i) {
    MPI_Comm_dup(first, &second);  // copies
    MPI_Datatype* type;
    int flag;
    MPI_Comm_get_attr(second, key, &type, &flag);
    int three[3] = {rank, 2, 3};
    MPI_Bcast(three, 1, *type, 0, second);
    check(flag && three[0] == 0, "an attribute that is copied");
    MPI_Comm_free(&second);  // deletes
  }
  MPI_Comm_free(&first);
  MPI_Comm_free_keyval(&key);
  MPI_Op op;
  MPI_Op_create(combine, 1, &op);
  int sum = 0;
  for (int i = 0; i < 3; ++i) MPI_Allreduce(&rank, &sum, 1, MPI_INT, op, MPI_COMM_WORLD);
  MPI_Op_free(&op);
  check(sum == ranks * (ranks - 1) / 2, "an operation");
  check(copies == 3 && deletions == 4 && (operations > 0 || ranks == 1), "calls back");
}

// -- signals

static volatile sig_atomic_t alarms, terminations, user;
static sigjmp_buf recovered;

static void on_alarm(int number) { alarms += number == SIGALRM; }
static void on_term(int number) { terminations += number == SIGTERM; }
static void on_user(int number) { user += number == SIGUSR2; }
static void on_fault(int number) { siglongjmp(recovered, number); }

static void install(int number, void (*handler)(int), int flags) {
  struct sigaction action;
  memset(&action, 0, sizeof action);
  action.sa_handler = handler;
  action.sa_flags = flags;
  sigaction(number, &action, NULL);
}

static int kept(int number, void (*handler)(int)) {
  struct sigaction action;
  sigaction(number, NULL, &action);
  return action.sa_handler == handler;
}

static void signals_before(void) {
  install(SIGTERM, on_term, SA_RESTART);
  install(SIGUSR2, on_user, SA_RESTART);
  sigset_t mask;
  sigemptyset(&mask);
  sigaddset(&mask, SIGURG);
  sigprocmask(SIG_BLOCK, &mask, NULL);
}

static void signals(void) {
  check(kept(SIGTERM, on_term) && kept(SIGUSR2, on_user), "handlers from before MPI_Init");
  sigset_t mask;
  sigprocmask(SIG_BLOCK, NULL, &mask);
  check(sigismember(&mask, SIGURG) && !sigismember(&mask, SIGTERM), "the signal mask");
  check(kept(SIGQUIT, SIG_DFL) && kept(SIGCHLD, SIG_DFL), "signals left alone");
  install(SIGALRM, on_alarm, SA_RESTART);
  const struct itimerval often = {{0, 500}, {0, 500}};
  const struct itimerval never = {{0, 0}, {0, 0}};
  setitimer(ITIMER_REAL, &often, NULL);
  while (alarms < 5) {
    MPI_Datatype type;
    MPI_Type_contiguous(3, MPI_INT, &type);
    MPI_Type_free(&type);
  }
  for (int i = 0; i < 50; ++i) ring(2);
  setitimer(ITIMER_REAL, &never, NULL);
  raise(SIGTERM);
  raise(SIGUSR2);
  check(terminations == 1 && user == 1, "handlers are called");
  install(SIGSEGV, on_fault, SA_NODEFER);
  if (sigsetjmp(recovered, 1) == 0) *(volatile int*)NULL = 1;
  for (int i = 0; i < 5; ++i) ring(3);
  check(kept(SIGTERM, on_term) && kept(SIGUSR2, on_user), "handlers are kept");
}

// -- the end

/// Registered before anything of the tracer was made, so that it comes after its end.
static void finalize_at_exit(void) {
  int finalized = 0;
  MPI_Finalized(&finalized);
  if (!finalized) {
    MPI_Barrier(MPI_COMM_WORLD);
    before_finalize();
    MPI_Finalize();
  }
  MPI_Finalized(&finalized);
  if (rank == 0) printf("finalized at exit: %d\n", finalized);
  fflush(stdout);
}

static int at_finalize(MPI_Comm comm, int key, void* value, void* extra) {
  (void)comm, (void)key, (void)value, (void)extra;
  int sum = 0, flag = 1, provided = 0;
  MPI_Allreduce(&rank, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  MPI_Finalized(&flag);
  MPI_Query_thread(&provided);
  check(sum == ranks * (ranks - 1) / 2 && !flag, "calls while MPI_Finalize begins");
  if (rank == 0) printf("at finalize\n");
  return MPI_SUCCESS;
}

static void delete_at_finalize(void) {
  int key;
  MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, at_finalize, &key, NULL);
  MPI_Comm_set_attr(MPI_COMM_SELF, key, NULL);
  ring(4);
}

static void after_finalize(void) {
  int flag = 0, version = 0, minor = 0, length = 0;
  char text[MPI_MAX_LIBRARY_VERSION_STRING];
  MPI_Initialized(&flag);
  check(flag, "MPI_Initialized");
  MPI_Finalized(&flag);
  check(flag, "MPI_Finalized");
  MPI_Get_version(&version, &minor);
  MPI_Get_library_version(text, &length);
  check(version >= 3 && length > 0, "versions");
}

// -- children

static void forks(void) {
  for (int i = 0; i < 3; ++i) ring(5);
  for (int way = 0; way < 3; ++way) {
    fflush(stdout);
    const pid_t child = fork();
    if (child == 0) {
      if (way == 0) _exit(7);
      if (way == 1) exit(7);  // flushes what the child has inherited
      execl("/bin/sh", "sh", "-c", "exit 7", (char*)NULL);
      _exit(9);
    }
    int status = 0;
    waitpid(child, &status, 0);
    check(WIFEXITED(status) && WEXITSTATUS(status) == 7, "a child");
  }
  const pid_t child = fork();
  if (child == 0)
    for (;;) pause();
  kill(child, SIGTERM);
  int status = 0;
  waitpid(child, &status, 0);
  check(WIFSIGNALED(status) && WTERMSIG(status) == SIGTERM, "a child that is terminated");
  for (int i = 0; i < 3; ++i) ring(6);
}

// -- sessions, without MPI_Init

#if MPI_VERSION >= 4
static int sessions(void) {
  MPI_Session session;
  MPI_Group group;
  MPI_Comm comm;
  if (MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_ARE_FATAL, &session) != MPI_SUCCESS) return 1;
  MPI_Group_from_session_pset(session, "mpi://WORLD", &group);
  MPI_Comm_create_from_group(group, "oddities", MPI_INFO_NULL, MPI_ERRORS_ARE_FATAL, &comm);
  MPI_Comm_rank(comm, &rank);
  MPI_Comm_size(comm, &ranks);
  int sum = 0;
  MPI_Allreduce(&rank, &sum, 1, MPI_INT, MPI_SUM, comm);
  check(sum == ranks * (ranks - 1) / 2, "a sum in a session");
  MPI_Comm_free(&comm);
  MPI_Group_free(&group);
  MPI_Session_finalize(&session);
  if (rank == 0) puts("done");
  return wrong;
}
#endif

// -- little room

static size_t room;  // bytes of stack that are left to the calls
static int calls = 200;

__attribute__((noinline)) static void call(void) {
  for (int i = 0; i < calls; ++i) {
    MPI_Comm_test_inter(MPI_COMM_SELF, &(int){0});
    MPI_Datatype type;
    MPI_Type_contiguous(i, MPI_INT, &type);
    MPI_Type_free(&type);
  }
}

static void* on_small_stack(void* unused) {
  pthread_attr_t attributes;
  void* low = NULL;
  size_t size = 0;
  pthread_getattr_np(pthread_self(), &attributes);
  pthread_attr_getstack(&attributes, &low, &size);
  pthread_attr_destroy(&attributes);
  const size_t left = (size_t)((char*)__builtin_frame_address(0) - (char*)low);
  volatile char* used = __builtin_alloca(left - room);
  *used = 1;
  call();
  return unused;
}

static void small_stack(void) {
  pthread_attr_t attributes;
  pthread_attr_init(&attributes);
  pthread_attr_setstacksize(&attributes, 128 << 10);
  pthread_t thread;
  check(pthread_create(&thread, &attributes, on_small_stack, NULL) == 0, "a thread");
  pthread_join(thread, NULL);
}

static void remove_folder(const char* folder) {
  for (int i = 0; i < 20; ++i) ring(7);
  char command[4096];
  snprintf(command, sizeof command, "rm -rf '%s'", folder);
  if (rank == 0) check(system(command) == 0, "rm");
  MPI_Barrier(MPI_COMM_WORLD);
}

static void limit_files(void) {
  const struct rlimit limit = {8192, 8192};
  setrlimit(RLIMIT_FSIZE, &limit);
}

/// Events without order: whatever is to be compressed, or guessed, is not there.
static void flood(void) {
  unsigned state = 1 + (unsigned)rank;
  for (int i = 0; i < 30000; ++i) {
    state = state * 1664525U + 1013904223U;
    MPI_Datatype type;
    MPI_Type_contiguous((int)(state >> 16), MPI_INT, &type);
    MPI_Type_free(&type);
    if (i % 3000 == 0) ring(i / 3000);
  }
}

/// Each marker may be a vote and a flush.
static void mark(void) {
  for (int i = 0; i < 60; ++i) {
    for (int k = 0; k < 1 + i % 5; ++k) ring(k);
    MPI_Pcontrol(0x43484d);
  }
}

/// What is found to be a step of the program may become a marker, too.
static void take_steps(void) {
  for (int i = 0; i < 300; ++i) {
    int sum = 0;
    for (int k = 0; k < 2; ++k) ring(k);
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Allreduce(&rank, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    check(sum == ranks * (ranks - 1) / 2, "a sum");
  }
}

/// An error of a duplicate is MPI_COMM_WORLD's to handle while the duplicate has no handler of its
/// own, as long as nobody has given it one.
static void inherit(void) {
  MPI_Comm world, part, self;
  MPI_Comm_dup(MPI_COMM_WORLD, &world);
  MPI_Comm_split(MPI_COMM_WORLD, rank % 2, rank, &part);
  MPI_Comm_dup(MPI_COMM_SELF, &self);
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
  const MPI_Comm all[] = {world, part, self};
  for (int i = 0; i < 3; ++i) {
    MPI_Comm comm = all[i];
    const int code = MPI_Send(&rank, 1, MPI_INT, ranks + 5, 0, comm);
    check(code != MPI_SUCCESS, "an error that is returned");
    MPI_Comm_free(&comm);
  }
  MPI_Win window;
  int memory = 0;
  MPI_Win_create(&memory, sizeof memory, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &window);
  MPI_Win_free(&window);
  // A handle of nothing: once, and the same answer the second time.
  for (int i = 0; i < 2; ++i)
    check(MPI_Barrier(MPI_COMM_NULL) != MPI_SUCCESS, "an error without a communicator");
}

static const char* mode = "";
static const char* word = NULL;
static int ended;

static void end(void) {
  before_finalize();
  MPI_Finalize();
  ended = 1;
}

static void work(void) {
  if (strcmp(mode, "longjmp") == 0) jumps();
  if (strcmp(mode, "callbacks") == 0) callbacks();
  if (strcmp(mode, "signals") == 0) signals();
  if (strcmp(mode, "finalize") == 0) delete_at_finalize();
  if (strcmp(mode, "fork") == 0) forks();
  if (strcmp(mode, "deep") == 0) calls = 8000;
  if (strcmp(mode, "stack") == 0 || strcmp(mode, "deep") == 0) small_stack();
  if (strcmp(mode, "vanish") == 0 && word != NULL) remove_folder(word);
  if (strcmp(mode, "limit") == 0) limit_files(), flood();
  if (strcmp(mode, "flood") == 0) flood();
  if (strcmp(mode, "few") == 0) calls = 3000, call();
  if (strcmp(mode, "markers") == 0) mark();
  if (strcmp(mode, "steps") == 0) take_steps();
  if (strcmp(mode, "inherit") == 0) inherit();
  for (int i = 0; i < 10; ++i) ring(9);
  if (strcmp(mode, "ends") == 0) call(), end();
  if (strcmp(mode, "aborts") == 0) call(), MPI_Abort(MPI_COMM_WORLD, 5);
}

static void begin(int argc, char** argv) {
  mode = argc > 1 ? argv[1] : "";
  word = argc > 2 ? argv[2] : NULL;
  if (strcmp(mode, "signals") == 0) signals_before();
  if (strcmp(mode, "atexit") == 0) atexit(finalize_at_exit);
  before_init();
  int provided = 0;
  if (is_setting("thread"))
    MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
  else
    MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  if (word != NULL) room = (size_t)atol(word);
  after_init();
  do_work(work);
  if (strcmp(mode, "atexit") == 0) exit(wrong);
}

static int finish(void) {
  if (!ended) end();
  after_finalize();
  after_end();
  if (rank == 0) puts("done");
  fflush(stdout);
  return wrong;
}

#ifdef HARM_LIBRARY
__attribute__((constructor)) static void at_load(int argc, char** argv) { begin(argc, argv); }
__attribute__((destructor)) static void at_unload(void) { finish(); }
int oddities(void) { return wrong; }
#else
int main(int argc, char** argv) {
#if MPI_VERSION >= 4
  if (argc > 1 && strcmp(argv[1], "sessions") == 0) return sessions();
#endif
  begin(argc, argv);
  return finish();
}
#endif
