/* SPDX-License-Identifier: Apache-2.0 */
/* What marks_test.py runs: client WHAT [COUNT]. */
#include <errno.h>
#include <joulecast/marks.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static int count = 1;

static void many(const char* name) {
  for (int i = 0; i < count; ++i) {
    joulecast_begin_with(name, "index=%d", i);
    joulecast_end(name);
  }
}

static void* many_of_a_thread(void* name) {
  many(name);
  return NULL;
}

static void threads(void) {
  static char names[4][8] = {"t0", "t1", "t2", "t3"};
  pthread_t all[4];
  for (int i = 0; i < 4; ++i) pthread_create(&all[i], NULL, many_of_a_thread, names[i]);
  for (int i = 0; i < 4; ++i) pthread_join(all[i], NULL);
}

static void forked(void) {
  many("parent");
  if (fork() == 0) {
    count = 1;
    many("child");
    exit(0);
  }
  wait(NULL);
}

static void codes(void) {
  char line[600];
  memset(line, 'x', sizeof(line));
  line[201] = 0;
  errno = 1234;
  printf("%d %d %d %d %d ", joulecast_begin(""), joulecast_begin(NULL), joulecast_begin("a\tb"), joulecast_begin(line),
         joulecast_begin_with("a", "b=\n"));
  line[200] = 0;
  printf("%d ", joulecast_begin(line));
  line[200] = line[201] = 'x';
  line[599] = 0;
  printf("%d %d\n", joulecast_mark_with("a", "b=%s", line), errno);
}

// Of this process alone: others may keep the machine busy.
static double nanoseconds_each(void) {
  struct timespec begun, ended;
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &begun);
  for (int i = 0; i < count; ++i) joulecast_mark_with("point", "index=%d", i);
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &ended);
  return ((double)(ended.tv_sec - begun.tv_sec) * 1e9 + (double)(ended.tv_nsec - begun.tv_nsec)) / count;
}

int main(int argc, char** argv) {
  if (argc < 2) return 2;
  if (argc > 2) count = atoi(argv[2]);
  const char* what = argv[1];
  if (strcmp(what, "many") == 0) many("step");
  if (strcmp(what, "threads") == 0) threads();
  if (strcmp(what, "forked") == 0) forked();
  if (strcmp(what, "codes") == 0) codes();
  if (strcmp(what, "one") == 0)
    printf("%d %d\n", joulecast_listening(), joulecast_mark_with("point", "a=1\tb=%s", "x y"));
  if (strcmp(what, "cost") == 0) printf("%.1f\n", nanoseconds_each());
  if (strcmp(what, "leaks") == 0) {
    many("step");
    printf("%d\n", dup(0));
  }
  return 0;
}
