/* SPDX-License-Identifier: Apache-2.0 */
/* predict MODEL GPU BATCH: what `joulecast predict --json` prints, by the pack that is installed. */
#include <joulecast/c.h>
#include <stdio.h>

static int failed(char* error) {
  fprintf(stderr, "%s\n", error);
  joulecast_string_free(error);
  return 1;
}

int main(int argc, char** argv) {
  if (argc != 4) return fprintf(stderr, "usage: predict MODEL GPU BATCH\n"), 2;
  char request[256];
  snprintf(request, sizeof request, "{\"gpu\": \"%s\", \"batch\": %s}", argv[2], argv[3]);
  char* error = NULL;
  joulecast_predictor* predictor = joulecast_predictor_open(NULL, NULL, 0, &error);
  if (predictor == NULL) return failed(error);
  joulecast_model* model = joulecast_model_open(argv[1], NULL, &error);
  if (model == NULL) return failed(error);
  char* json = joulecast_predict(predictor, model, request, &error);
  if (json == NULL) return failed(error);
  fputs(json, stdout);
  joulecast_string_free(json);
  joulecast_model_close(model);
  joulecast_predictor_close(predictor);
  return 0;
}
