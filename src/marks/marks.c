/* SPDX-License-Identifier: Apache-2.0 */
#define _GNU_SOURCE
#include "joulecast/marks.h"

#include <errno.h>
#include <sched.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/types.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

/* Where the lines go; `size` is 0 where JOULECAST_MARKS names no listener. */
struct place {
  struct sockaddr_un address;
  socklen_t size;
};

struct line {
  size_t size;
  char text[JOULECAST_MAX_MARK_LINE];
};

enum { kMaxKept = 64, kTries = 1000, kSpins = 100 };

/* Lines that found no room in the receiver's buffer, which holds as few as ten. Whoever does not get the lock soon goes
 * without: a thread that had it may be gone with a fork. */
static struct {
  atomic_flag locked;
  atomic_int count;  /* of the lines from `first` on, around the end */
  atomic_long owner; /* the process that kept them */
  int first;
  int exits; /* whether the last chance is arranged for */
  struct line lines[kMaxKept];
} kept = {.locked = ATOMIC_FLAG_INIT};

static atomic_ullong lost;

static const struct place nobody;
static _Atomic(const struct place*) found;

static struct place* parse(const char* name) {
  struct place* place = calloc(1, sizeof(*place));
  if (place == NULL) return NULL;
  const size_t size = strlen(name);
  if (name[0] != '@' || size < 2 || size > sizeof(place->address.sun_path)) return place;
  place->address.sun_family = AF_UNIX;
  memcpy(place->address.sun_path + 1, name + 1, size - 1); /* the zero in front: no file */
  place->size = (socklen_t)(offsetof(struct sockaddr_un, sun_path) + size);
  return place;
}

/* Looked for once. Threads that look at the same time find the same, and one of the findings stays. */
static const struct place* listener(void) {
  const struct place* place = atomic_load_explicit(&found, memory_order_acquire);
  if (place != NULL) return place;
  const char* name = getenv("JOULECAST_MARKS");
  struct place* own = name == NULL || name[0] == '\0' ? NULL : parse(name);
  const struct place* mine = own != NULL ? own : &nobody;
  if (atomic_compare_exchange_strong(&found, &place, mine)) return mine;
  free(own);
  return place;
}

int joulecast_listening(void) {
  const struct place* place = listener();
  return place != &nobody && place->size != 0;
}

/* A socket for each line: none is left to a program that closes all descriptors, or forks, or counts them. */
static int send_now(const struct place* place, const char* text, size_t size) {
  const int descriptor = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
  if (descriptor < 0) return errno;
  const ssize_t sent =
      sendto(descriptor, text, size, MSG_NOSIGNAL, (const struct sockaddr*)&place->address, place->size);
  const int error = sent < 0 ? errno : 0;
  close(descriptor);
  return error == ENOBUFS ? EAGAIN : error;
}

static int lock(void) {
  for (int i = 0; i < kTries; ++i) {
    if (!atomic_flag_test_and_set_explicit(&kept.locked, memory_order_acquire)) return 1;
    if (i >= kSpins) sched_yield(); /* to the holder, who may have been interrupted */
  }
  return 0;
}

static void unlock(void) {
  atomic_flag_clear_explicit(&kept.locked, memory_order_release);
}

/* What a process inherited by a fork is its parent's to send, and so may the lock be. */
static void disown_what_is_inherited(void) {
  const long self = getpid();
  long owner = atomic_load(&kept.owner);
  if (owner == self) return;
  if (!atomic_compare_exchange_strong(&kept.owner, &owner, self)) return;
  if (owner == 0) return; /* nobody kept anything yet */
  atomic_store(&kept.count, 0);
  atomic_store(&lost, 0);
  unlock();
}

/* Requires the lock. */
static int send_kept(const struct place* place) {
  int error = 0;
  while (atomic_load(&kept.count) > 0) {
    const struct line* line = &kept.lines[kept.first];
    error = send_now(place, line->text, line->size);
    if (error == EAGAIN) break;
    kept.first = (kept.first + 1) % kMaxKept;
    atomic_fetch_sub(&kept.count, 1);
  }
  return error;
}

static void pause_for_a_millisecond(void) {
  const struct timespec time = {0, 1000000};
  nanosleep(&time, NULL);
}

/* At exit: what is kept gets a last chance of a few milliseconds, then the number of lost lines is told. */
static void finish(void) {
  enum { kChances = 20 };
  const struct place* place = listener();
  if (atomic_load(&kept.owner) != getpid() || !lock()) return;
  for (int i = 0; i < kChances && send_kept(place) == EAGAIN; ++i) pause_for_a_millisecond();
  const unsigned long long count = atomic_exchange(&lost, 0) + (unsigned long long)atomic_exchange(&kept.count, 0);
  unlock();
  if (count == 0) return;
  char text[32];
  const int size = snprintf(text, sizeof(text), "lost %llu", count);
  for (int i = 0; i < kChances && send_now(place, text, (size_t)size) == EAGAIN; ++i) pause_for_a_millisecond();
}

/* Requires the lock. */
static int keep(const struct line* line) {
  if (!kept.exits) kept.exits = atexit(finish) == 0;
  const int count = atomic_load(&kept.count);
  if (count == kMaxKept) {
    atomic_fetch_add(&lost, 1);
    return EAGAIN;
  }
  struct line* free_line = &kept.lines[(kept.first + count) % kMaxKept];
  free_line->size = line->size;
  memcpy(free_line->text, line->text, line->size);
  atomic_store(&kept.count, count + 1);
  return 0;
}

/* After those that are kept: in order, as far as one thread can tell. */
static int send_or_keep(const struct place* place, const struct line* line) {
  if (atomic_load(&kept.count) == 0) {
    const int error = send_now(place, line->text, line->size);
    if (error != EAGAIN) return error;
  }
  disown_what_is_inherited();
  if (!lock()) {
    const int error = send_now(place, line->text, line->size);
    if (error == EAGAIN) atomic_fetch_add(&lost, 1);
    return error;
  }
  int error = send_kept(place);
  if (error != EAGAIN) error = send_now(place, line->text, line->size);
  if (error == EAGAIN) error = keep(line);
  unlock();
  return error;
}

/* Tabs stand between details, and nowhere in a name. */
static int printable(const char* text, size_t size, int tabs) {
  for (size_t i = 0; i < size; ++i) {
    const unsigned char byte = (unsigned char)text[i];
    if ((byte < 0x20 && !(tabs && byte == '\t')) || byte == 0x7F) return 0;
  }
  return 1;
}

static int compose(struct line* line, const char* verb, const char* name, const char* details, va_list arguments) {
  const size_t name_size = name == NULL ? 0 : strnlen(name, JOULECAST_MAX_MARK_NAME + 1);
  if (name_size == 0 || name_size > JOULECAST_MAX_MARK_NAME || !printable(name, name_size, 0)) return EINVAL;
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  const long long time = (long long)now.tv_sec * 1000000000 + now.tv_nsec;
  char text[JOULECAST_MAX_MARK_LINE + 1]; /* and the zero at the end, which is not sent */
  int size = snprintf(text, sizeof(text), "@%lld %s %s", time, verb, name);
  if (details != NULL && size > 0) {
    text[size++] = '\t';
    const size_t room = sizeof(text) - (size_t)size;
    const int more = vsnprintf(text + size, room, details, arguments);
    if (more < 0) return EINVAL;
    if ((size_t)more >= room) return EMSGSIZE;
    if (!printable(text + size, (size_t)more, 1)) return EINVAL;
    size += more;
  }
  line->size = (size_t)size;
  memcpy(line->text, text, line->size);
  return 0;
}

static int say(const char* verb, const char* name, const char* details, va_list arguments) {
  const struct place* place = listener();
  if (place == &nobody) return 0;
  if (place->size == 0) return EDESTADDRREQ;
  const int before = errno;
  struct line line;
  int error = compose(&line, verb, name, details, arguments);
  if (error == 0) error = send_or_keep(place, &line);
  errno = before;
  return error;
}

static int say_all(const char* verb, const char* name, const char* details, ...) {
  va_list arguments;
  va_start(arguments, details);
  const int error = say(verb, name, details, arguments);
  va_end(arguments);
  return error;
}

int joulecast_begin(const char* name) {
  return say_all("begin", name, NULL);
}

int joulecast_end(const char* name) {
  return say_all("end", name, NULL);
}

int joulecast_mark(const char* name) {
  return say_all("mark", name, NULL);
}

int joulecast_begin_with(const char* name, const char* details, ...) {
  va_list arguments;
  va_start(arguments, details);
  const int error = say("begin", name, details, arguments);
  va_end(arguments);
  return error;
}

int joulecast_end_with(const char* name, const char* details, ...) {
  va_list arguments;
  va_start(arguments, details);
  const int error = say("end", name, details, arguments);
  va_end(arguments);
  return error;
}

int joulecast_mark_with(const char* name, const char* details, ...) {
  va_list arguments;
  va_start(arguments, details);
  const int error = say("mark", name, details, arguments);
  va_end(arguments);
  return error;
}
