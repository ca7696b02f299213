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
 * NULL, is an object "joulecast.failure/1" that joulecast_string_free() gives back. Any number of threads may use a
 * handle at the same time, until it is closed. No function prints, exits or throws. */
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
typedef struct joulecast_meter joulecast_meter;
typedef struct joulecast_window joulecast_window;

/* JOULECAST_ABI of the library itself, and its version: "0.1.0". */
JOULECAST_API int joulecast_abi(void);
JOULECAST_API const char* joulecast_version(void);

/* A model file, or a folder that is one model. Of `request`, an object in JSON or NULL, count framework (the name of
 * its form; without it its bytes tell) and shapes (of inputs whose shapes the file does not tell, as a scripted module
 * of TorchScript: {"x": [8, 3, 224, 224]}, the first extent of which is the batch, and stays open). */
JOULECAST_API joulecast_model* joulecast_model_open(const char* path, const char* request, char** error);
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

/* What `joulecast recommend --json` prints: "joulecast.recommendation/1". `request` is as for joulecast_predict(),
 * without sm_clock, power_limit, top and breakdown, and with best, choose, within_s and slowdown_percent. */
JOULECAST_API char* joulecast_recommend(const joulecast_predictor* predictor, const joulecast_model* model,
                                        const char* request, char** error);

/* What `joulecast inspect --json` prints: "joulecast.inspection/1". Of `request` count batch, shapes, top, as_written.
 */
JOULECAST_API char* joulecast_inspect(const joulecast_model* model, const char* request, char** error);

/* The network's inputs as the file has them: {"inputs": [{"name": "x", "dimensions": ["batch", 3, 224, 224]}]}, the
 * name of what it leaves open in place of an extent. No shape is assumed. */
JOULECAST_API char* joulecast_inputs(const joulecast_model* model, char** error);

/* What `joulecast gpus --json` prints. */
JOULECAST_API char* joulecast_gpus(const joulecast_predictor* predictor, char** error);

/* Reads this machine's sensors in threads of its own until it is closed, for windows that the program opens and ends
 * itself. Of `request` count gpu, interval_ms, meters, replay, output, force (the options of `joulecast measure`) and
 * command (a list: what the recording says was run). Returns after a quarter of a second, when each sensor was read. */
JOULECAST_API joulecast_meter* joulecast_meter_open(const char* request, char** error);
/* 0, or -1 where the recording is not whole. Windows may outlive it, those that have ended with their results. */
JOULECAST_API int joulecast_meter_close(joulecast_meter* meter, char** error);

/* Windows may nest and overlap, and end in other threads than they began in. In a process that was forked off they
 * fail. joulecast_window_end() returns 0, or -1 where it has failed: a window ends once. */
JOULECAST_API joulecast_window* joulecast_window_begin(joulecast_meter* meter, const char* name, char** error);
JOULECAST_API int joulecast_window_end(joulecast_window* window, char** error);
/* Of a window that has ended: "joulecast.measurement/1", as `joulecast measure --json` prints it of a command; windows
 * within are its phases. Waits until a quarter of a second after the end, for what sensors say of it then. */
JOULECAST_API char* joulecast_window_result(joulecast_window* window, char** error);
/* Readings are kept for as long as a window needs them. */
JOULECAST_API void joulecast_window_close(joulecast_window* window);

/* NULL does nothing. */
JOULECAST_API void joulecast_string_free(char* string);

#ifdef __cplusplus
}
#endif

#endif
