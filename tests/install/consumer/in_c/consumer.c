/* SPDX-License-Identifier: Apache-2.0 */
/* The library of marks as somebody else uses it. */
#include <joulecast/marks.h>

int main(void) {
  joulecast_begin("work");
  return joulecast_end("work");
}
