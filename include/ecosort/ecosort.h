/* EcoSort's C interface. See ecosort.hpp for what is promised, and for thread-safety.
 *
 *   ecosort_spec* spec = ecosort_spec_new();
 *   ecosort_spec_add_input(spec, "in.dat");
 *   ecosort_spec_set_output(spec, "out.dat");
 *   ecosort_report report = {sizeof report};
 *   ecosort_error* error = NULL;
 *   if (ecosort_sort(spec, NULL, &report, &error) != ECOSORT_OK) fprintf(stderr, "%s\n", ecosort_error_message(error));
 *   ecosort_error_free(error);
 *   ecosort_spec_free(spec);
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
  ECOSORT_USAGE = 2,        /* a wrong wish, a bad input, too little memory or space */
  ECOSORT_IO = 3,           /* a failed call, a damaged run, a changed input */
  ECOSORT_INTERNAL = 4,     /* a bug, or no memory for the interface itself */
  ECOSORT_INTERRUPTED = 5   /* the callback asked to stop */
} ecosort_status;

typedef enum ecosort_format { ECOSORT_RECORDS = 0, ECOSORT_LINES = 1, ECOSORT_CSV = 2, ECOSORT_JSONL = 3 } ecosort_format;

typedef struct ecosort_spec ecosort_spec;
typedef struct ecosort_error ecosort_error;
typedef struct ecosort_sorter ecosort_sorter;

/* NULL: no memory. */
ECOSORT_C_API ecosort_spec* ecosort_spec_new(void);
ECOSORT_C_API void ecosort_spec_free(ecosort_spec* spec);

/* Setters return ECOSORT_OK, ECOSORT_USAGE for NULL, or ECOSORT_INTERNAL when there is no memory. Other wrong values are reported
 * by ecosort_sort. Every function takes NULL for a handle or a text as a wrong wish (ECOSORT_USAGE); those that free one ignore
 * it. */
ECOSORT_C_API ecosort_status ecosort_spec_set_format(ecosort_spec* spec, ecosort_format format);
ECOSORT_C_API ecosort_status ecosort_spec_add_input(ecosort_spec* spec, const char* path);
ECOSORT_C_API ecosort_status ecosort_spec_set_output(ecosort_spec* spec, const char* path);
ECOSORT_C_API ecosort_status ecosort_spec_set_record_size(ecosort_spec* spec, uint64_t bytes);
ECOSORT_C_API ecosort_status ecosort_spec_add_key(ecosort_spec* spec, const char* key); /* of records, -k of lines, */
/* or NAME[:TYPE][:desc] of CSV and JSON lines */
ECOSORT_C_API ecosort_status ecosort_spec_set_line_ordering(ecosort_spec* spec, const char* letters);
ECOSORT_C_API ecosort_status ecosort_spec_set_field_separator(ecosort_spec* spec, char separator);
ECOSORT_C_API ecosort_status ecosort_spec_set_reverse(ecosort_spec* spec, int on);
ECOSORT_C_API ecosort_status ecosort_spec_set_unique(ecosort_spec* spec, int on);
ECOSORT_C_API ecosort_status ecosort_spec_set_memory(ecosort_spec* spec, uint64_t bytes);    /* 0: default */
ECOSORT_C_API ecosort_status ecosort_spec_set_threads(ecosort_spec* spec, unsigned threads); /* 0: default */
ECOSORT_C_API ecosort_status ecosort_spec_add_temp_directory(ecosort_spec* spec, const char* path);

/* Lines, CSV and JSON lines: what is compressed on the way in and out. */
ECOSORT_C_API ecosort_status ecosort_spec_set_decompress(ecosort_spec* spec, int on);
/* "none", "auto" (by the ending of the output's name), "gzip", "zstd", "lz4", "xz", "bzip2" */
ECOSORT_C_API ecosort_status ecosort_spec_set_output_compression(ecosort_spec* spec, const char* name);
ECOSORT_C_API ecosort_status ecosort_spec_set_compression_level(ecosort_spec* spec, int level);

/* Temporary runs, of every format: "none", "lz4", "zstd", "zstd:LEVEL", or "auto": what pays. Without it "auto" for lines, CSV
 * and JSON lines, and "none" for records. */
ECOSORT_C_API ecosort_status ecosort_spec_set_run_compression(ecosort_spec* spec, const char* name);
/* Runs that are compressed shrink to 1/ratio at least (1 to 1000), so that no more space is reserved; 0: all of it is. Where they
 * do not, and the drive is full, the sort ends with ECOSORT_IO and nothing is lost. */
ECOSORT_C_API ecosort_status ecosort_spec_set_assumed_ratio(ecosort_spec* spec, double ratio);
/* "auto" takes what needs the fewest joules: idle_w * seconds + core_w * CPU seconds + gb_j * 10^9 bytes moved. */
ECOSORT_C_API ecosort_status ecosort_spec_set_energy_goal(ecosort_spec* spec, double idle_w, double core_w, double gb_j);

/* CSV and JSON lines. */
ECOSORT_C_API ecosort_status ecosort_spec_set_nulls_first(ecosort_spec* spec, int on);
ECOSORT_C_API ecosort_status ecosort_spec_set_strict(ecosort_spec* spec, int on);
ECOSORT_C_API ecosort_status ecosort_spec_set_allow_missing(ecosort_spec* spec, int on); /* of JSON lines */
ECOSORT_C_API ecosort_status ecosort_spec_set_date_format(ecosort_spec* spec, const char* format);
ECOSORT_C_API ecosort_status ecosort_spec_set_merge(ecosort_spec* spec, int on); /* the inputs are in order already */
/* CSV. */
ECOSORT_C_API ecosort_status ecosort_spec_set_delimiter(ecosort_spec* spec, char delimiter);
ECOSORT_C_API ecosort_status ecosort_spec_set_quote(ecosort_spec* spec, char quote); /* 0: quotes mean nothing */
ECOSORT_C_API ecosort_status ecosort_spec_set_header(ecosort_spec* spec, int on);    /* the default is 1 */

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
} ecosort_report;

/* `callbacks`, `report` and `error` may be NULL. On failure *error is set, to be freed by the caller. */
ECOSORT_C_API ecosort_status ecosort_sort(const ecosort_spec* spec, const ecosort_callbacks* callbacks, ecosort_report* report,
                                          ecosort_error** error);

/* NULL on failure. Of `spec` counts what concerns records, the memory, the threads and the first temporary directory. */
ECOSORT_C_API ecosort_sorter* ecosort_sorter_new(const ecosort_spec* spec, ecosort_error** error);
ECOSORT_C_API void ecosort_sorter_free(ecosort_sorter* sorter); /* gives up what was not read */
ECOSORT_C_API ecosort_status ecosort_sorter_push(ecosort_sorter* sorter, const void* bytes, size_t size, ecosort_error** error);
ECOSORT_C_API ecosort_status ecosort_sorter_finish(ecosort_sorter* sorter, ecosort_error** error);
/* The next whole records in order, valid until the next call; *size == 0: the end. */
ECOSORT_C_API ecosort_status ecosort_sorter_next(ecosort_sorter* sorter, const void** records, size_t* size,
                                                 ecosort_error** error);

ECOSORT_C_API ecosort_status ecosort_error_status(const ecosort_error* error);
ECOSORT_C_API const char* ecosort_error_message(const ecosort_error* error); /* "" for NULL */
ECOSORT_C_API void ecosort_error_free(ecosort_error* error);

ECOSORT_C_API const char* ecosort_version(void);

/* NOLINTEND(modernize-*) */

#ifdef __cplusplus
}
#endif

#endif
