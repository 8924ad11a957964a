/* EcoSort's C interface. See ecosort.hpp for what is promised, and for thread-safety, and request.hpp for what can be asked for.
 *
 *   ecosort_error* error = NULL;
 *   ecosort_request* request = ecosort_request_from_json(
 *       "{\"schema\": \"ecosort.request/1\", \"inputs\": [\"in.csv\"], \"csv\": {\"keys\": [\"price:number\"]}}", &error);
 *   ecosort_request_set_output(request, "out.csv");
 *   ecosort_report report = {sizeof report};
 *   if (ecosort_sort(request, NULL, &report, &error) != ECOSORT_OK) fprintf(stderr, "%s\n", ecosort_error_message(error));
 *   ecosort_error_free(error);
 *   ecosort_request_free(request);
 *
 * Handles are opaque. Structures begin with their size, so that later versions can add members at their ends. Text is copied.
 */
#ifndef ECOSORT_H
#define ECOSORT_H

#include <stddef.h>
#include <stdint.h>

#if defined(__GNUC__)
#define ECOSORT_C_API __attribute__((visibility("default")))
#else
#define ECOSORT_C_API
#endif

#ifdef __cplusplus
extern "C" {
#endif

/* NOLINTBEGIN(modernize-*): C */

/* The exit codes of the program. */
typedef enum ecosort_status {
  ECOSORT_OK = 0,
  ECOSORT_NOT_IN_ORDER = 1, /* verification failed */
  ECOSORT_USAGE = 2,        /* invalid options, a bad input, too little memory or space */
  ECOSORT_IO = 3,           /* a failed call, a damaged run, a changed input */
  ECOSORT_INTERNAL = 4,     /* a bug, or no memory for the interface itself */
  ECOSORT_INTERRUPTED = 5   /* the callback asked to stop */
} ecosort_status;

typedef struct ecosort_request ecosort_request;
typedef struct ecosort_error ecosort_error;
typedef struct ecosort_sorter ecosort_sorter;

/* Every function takes NULL for a handle or a text as invalid (ECOSORT_USAGE); those that free one ignore it. */

/* A request from its JSON: the schema is what `ecosort manual request` prints. NULL on failure: *error, which may be NULL, says
 * what is wrong, and is to be freed by the caller. What the files hold is looked at by ecosort_sort. */
ECOSORT_C_API ecosort_request* ecosort_request_from_json(const char* json, ecosort_error** error);
/* Keys as in the JSON; names of files need no quoting here. ECOSORT_INTERNAL: there is no memory. */
ECOSORT_C_API ecosort_status ecosort_request_add_key(ecosort_request* request, const char* key);
ECOSORT_C_API ecosort_status ecosort_request_add_input(ecosort_request* request, const char* path);
ECOSORT_C_API ecosort_status ecosort_request_set_output(ecosort_request* request, const char* path);
/* Its JSON, valid until the next call with this handle. NULL: there is no memory. */
ECOSORT_C_API const char* ecosort_request_to_json(ecosort_request* request);
ECOSORT_C_API void ecosort_request_free(ecosort_request* request);

/* Called from the thread that sorts. `context` is the caller's. Return 0 to continue, anything else to stop. */
typedef struct ecosort_callbacks {
  size_t struct_size; /* sizeof(ecosort_callbacks) */
  void* context;
  int (*begin_phase)(void* context, const char* name, uint64_t total_bytes); /* or NULL */
  int (*progress)(void* context, uint64_t bytes);                            /* or NULL; at most ten times a second */
} ecosort_callbacks;

typedef struct ecosort_report {
  size_t struct_size; /* sizeof(ecosort_report), set by the caller; the rest is filled in */
  uint64_t records, dropped;
  uint64_t input_bytes, output_bytes;
  uint64_t runs;
  uint64_t bytes_read, bytes_written, peak_temp_bytes, peak_memory_bytes;
  uint64_t counted;      /* records in the counts that were written */
  uint64_t beyond_limit; /* records that the limit left out */
} ecosort_report;

/* `callbacks`, `report` and `error` may be NULL. On failure *error is set, to be freed by the caller. */
ECOSORT_C_API ecosort_status ecosort_sort(const ecosort_request* request, const ecosort_callbacks* callbacks,
                                          ecosort_report* report, ecosort_error** error);

typedef struct ecosort_order_report {
  size_t struct_size; /* sizeof(ecosort_order_report), set by the caller; the rest is filled in */
  uint64_t records, equal, unordered;
  uint64_t first_out_of_order; /* the number of a record or line, from 1 on; 0: all are in order */
} ecosort_order_report;

/* Whether the one input of the request is in its order, which is no error where it is not. */
ECOSORT_C_API ecosort_status ecosort_check(const ecosort_request* request, ecosort_order_report* report, ecosort_error** error);

/* Continues with the job of a resumable sort into `file`, or of a sort of `file` in place (place.kind of the request), that a
 * crash or an error ended. `memory_bytes` and `threads`: 0: as it was begun. */
ECOSORT_C_API ecosort_status ecosort_resume(const char* file, uint64_t memory_bytes, unsigned threads,
                                            const ecosort_callbacks* callbacks, ecosort_report* report, ecosort_error** error);

/* Records, lines or rows inside a program: pushed, then read in order. The request names no inputs, no output and no job. NULL on
 * failure. A sorter is used by one thread at a time. */
ECOSORT_C_API ecosort_sorter* ecosort_sorter_new(const ecosort_request* request, ecosort_error** error);
ECOSORT_C_API void ecosort_sorter_free(ecosort_sorter* sorter); /* gives up what was not read */
/* Any number of bytes, as a file would have them: lines and rows with their ends. */
ECOSORT_C_API ecosort_status ecosort_sorter_push(ecosort_sorter* sorter, const void* bytes, size_t size, ecosort_error** error);
ECOSORT_C_API ecosort_status ecosort_sorter_finish(ecosort_sorter* sorter, ecosort_error** error);
/* The next whole records, lines or rows in order, valid until the next call; *size == 0: the end. */
ECOSORT_C_API ecosort_status ecosort_sorter_next(ecosort_sorter* sorter, const void** rows, size_t* size, ecosort_error** error);

ECOSORT_C_API ecosort_status ecosort_error_status(const ecosort_error* error);
ECOSORT_C_API const char* ecosort_error_message(const ecosort_error* error); /* "" for NULL */
ECOSORT_C_API void ecosort_error_free(ecosort_error* error);

ECOSORT_C_API const char* ecosort_version(void);

/* NOLINTEND(modernize-*) */

#ifdef __cplusplus
}
#endif

#endif
