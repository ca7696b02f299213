/* SPDX-License-Identifier: Apache-2.0 */
/* Measures a part of itself, and prints what `joulecast measure --json` would. */
#include <joulecast/c.h>
#include <stdio.h>

static int failed(char* error) {
  fprintf(stderr, "%s\n", error);
  joulecast_string_free(error);
  return 1;
}

int main(void) {
  char* error = NULL;
  joulecast_meter* meter = joulecast_meter_open(NULL, &error);
  if (meter == NULL) return failed(error);
  joulecast_window* window = joulecast_window_begin(meter, "sum", &error);
  if (window == NULL) return failed(error);
  volatile double sum = 0;
  for (int i = 1; i < 50000000; ++i) sum += 1.0 / i;
  if (joulecast_window_end(window, &error) != 0) return failed(error);
  char* json = joulecast_window_result(window, &error);
  if (json == NULL) return failed(error);
  fputs(json, stdout);
  joulecast_string_free(json);
  joulecast_window_close(window);
  return joulecast_meter_close(meter, &error) == 0 ? 0 : failed(error);
}
