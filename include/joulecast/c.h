/* SPDX-License-Identifier: Apache-2.0
 * joulecast in C, for other languages. Functions are only ever added to this interface: what was linked with an older
 * libjoulecast of the same JOULECAST_ABI works with a newer one.
 *
 *   char* error = NULL;
 *   joulecast_predictor* predictor = joulecast_predictor_open(NULL, NULL, 0, &error);
 *   joulecast_model* model = joulecast_model_open("resnet50.onnx", NULL, &error);
 *   char* json = joulecast_predict(predictor, model, "{\"gpu\": \"a30\", \"batch\": 32}", &error);
 *   ...
 *   joulecast_string_free(json);
 *
 * Requests and answers are JSON (UTF-8). Where a function returns NULL it has failed, and *error, where `error` is not
 * NULL, is an object "joulecast.failure/1" that joulecast_string_free() gives back. Handles never change: any number of
 * threads may use one at the same time, until it is closed. No function prints, exits or throws. */
#ifndef JOULECAST_C_H
#define JOULECAST_C_H

#include <stddef.h>

#define JOULECAST_ABI 1

#if defined(__GNUC__)
#define JOULECAST_API __attribute__((visibility("default")))
#else
#define JOULECAST_API
#endif

#ifdef __cplusplus
extern "C" {
#endif

typedef struct joulecast_model joulecast_model;
typedef struct joulecast_predictor joulecast_predictor;

/* JOULECAST_ABI of the library itself, and its version: "0.1.0". */
JOULECAST_API int joulecast_abi(void);
JOULECAST_API const char* joulecast_version(void);

/* A model file, or a folder that is one model. `framework` names its form; NULL or "": its bytes tell. */
JOULECAST_API joulecast_model* joulecast_model_open(const char* path, const char* framework, char** error);
JOULECAST_API void joulecast_model_close(joulecast_model* model);

/* A predictor pack; NULL: the shipped one. `gpu_files` are `gpu_file_count` paths of files that describe GPUs. */
JOULECAST_API joulecast_predictor* joulecast_predictor_open(const char* pack, const char* const* gpu_files,
                                                            size_t gpu_file_count, char** error);
JOULECAST_API void joulecast_predictor_close(joulecast_predictor* predictor);

/* What `joulecast predict --json` prints: "joulecast.prediction/1". `request` is an object with the options' names and
 * words, all of them optional: gpu, batch, shapes, sm_clock, power_limit, measured (each a value or a list; shapes an
 * object of lists: {"input": [8, 3, 224, 224]}), mode, precision, runtime, layout, host, optimizer, top, breakdown. */
JOULECAST_API char* joulecast_predict(const joulecast_predictor* predictor, const joulecast_model* model,
                                      const char* request, char** error);

/* What `joulecast inspect --json` prints: "joulecast.inspection/1". Of `request` count batch, shapes, top, as_written.
 */
JOULECAST_API char* joulecast_inspect(const joulecast_model* model, const char* request, char** error);

/* What `joulecast gpus --json` prints. */
JOULECAST_API char* joulecast_gpus(const joulecast_predictor* predictor, char** error);

/* NULL does nothing. */
JOULECAST_API void joulecast_string_free(char* string);

#ifdef __cplusplus
}
#endif

#endif
