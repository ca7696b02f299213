/* SPDX-License-Identifier: Apache-2.0 */
/* Under `joulecast measure`: a phase of this program. */
#include <joulecast/marks.h>

int main(void) {
  joulecast_begin("work");
  return joulecast_end("work");
}
