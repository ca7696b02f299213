/* SPDX-License-Identifier: Apache-2.0 */
/* For programs that say their own phases while `joulecast measure` runs them: plain C (C99 and newer, C++), a library
 * of its own (CMake: joulecast::marks) without any other.
 *
 *   joulecast_begin("training");
 *   for (int i = 0; i < 10; ++i) {
 *     joulecast_begin_with("epoch", "index=%d\ttotal=10", i);
 *     ...
 *     joulecast_end("epoch");
 *   }
 *   joulecast_end("training");
 *
 * From any thread, also after a fork. Nothing here waits, ends the program or changes errno. Where nobody measures (the
 * first call finds no JOULECAST_MARKS in the environment) a call costs a few nanoseconds, and formats nothing. */
#ifndef JOULECAST_MARKS_H
#define JOULECAST_MARKS_H

#ifdef __cplusplus
extern "C" {
#endif

#if defined(__GNUC__)
#define JOULECAST_PRINTF __attribute__((format(printf, 2, 3)))
#else
#define JOULECAST_PRINTF
#endif

/* Bytes of a phase's name, and of all that is sent of a mark: name, details and some 30 of ours. */
#define JOULECAST_MAX_MARK_NAME 200
#define JOULECAST_MAX_MARK_LINE 512

/* A phase begins or ends, or a moment is marked. An end closes the innermost open begin of its name that this process
 * said; phases nest and overlap as they like.
 *
 * Names are 1 to 200 printable bytes. Details are KEY=VALUE with a tab between two of them, formatted as by printf.
 * What they say is recorded; these mean something: `index` and `total` of an "epoch" (how long the run will go on is
 * told from them), `count` (so many steps in one), and `id`: an end with an id closes the begin of its name with that
 * id, for phases of one name that overlap, as requests in several threads do.
 *
 * All return 0 where the line was sent or kept until there is room, and where nobody measures. Else nothing was sent:
 *   EINVAL        the name or the details cannot be said: empty, too long, or not printable
 *   EMSGSIZE      the line would be over 512 bytes
 *   EDESTADDRREQ  JOULECAST_MARKS names no listener
 *   ECONNREFUSED  the listener is gone
 *   EAGAIN        no room, and too much is kept already; the recording says how many were lost
 *   others        of socket(2) and sendto(2) */
int joulecast_begin(const char* name);
int joulecast_begin_with(const char* name, const char* details, ...) JOULECAST_PRINTF;
int joulecast_end(const char* name);
int joulecast_end_with(const char* name, const char* details, ...) JOULECAST_PRINTF;
int joulecast_mark(const char* name);
int joulecast_mark_with(const char* name, const char* details, ...) JOULECAST_PRINTF;

/* 1 where the environment names a listener, else 0: to leave out what only marks need. */
int joulecast_listening(void);

#undef JOULECAST_PRINTF

#ifdef __cplusplus
}
#endif

#endif
