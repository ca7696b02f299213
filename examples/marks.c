/* SPDX-License-Identifier: Apache-2.0 */
/* A program that says its own phases:
 *
 *   cc -o marks marks.c -ljoulecast_marks
 *   joulecast measure -- ./marks
 *
 * Run by itself it does the same, and nobody hears. */
#include <joulecast/marks.h>

#include <stdio.h>

/* Some work. */
static double harmonic(long terms) {
  double sum = 0;
  for (long i = 1; i <= terms; ++i) sum += 1.0 / (double)i;
  return sum;
}

int main(void) {
  enum { kEpochs = 4 };
  double sum = 0;
  joulecast_begin("load");
  sum += harmonic(1000000);
  joulecast_end("load");
  joulecast_begin("training");
  for (int epoch = 0; epoch < kEpochs; ++epoch) {
    joulecast_begin_with("epoch", "index=%d\ttotal=%d", epoch, kEpochs);
    sum += harmonic(20000000);
    joulecast_end("epoch");
  }
  joulecast_mark("saved");
  joulecast_end("training");
  printf("%.3f\n", sum);
  return 0;
}
