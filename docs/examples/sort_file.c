/* Sorts records of 100 bytes by their first ten: sort_file_c INPUT OUTPUT */
#include <ecosort/ecosort.h>
#include <stdio.h>

static int show_phase(void* context, const char* name, uint64_t total_bytes) {
  (void)total_bytes;
  fprintf((FILE*)context, "%s\n", name);
  return 0; /* continue */
}

int main(int argc, char** argv) {
  const char* const json =
      "{\"schema\": \"ecosort.request/1\", \"records\": {\"record_size\": 100, \"keys\": [\"0:10\"]},"
      " \"means\": {\"memory_bytes\": 67108864}}";
  ecosort_callbacks callbacks = {sizeof callbacks, stderr, show_phase, NULL};
  ecosort_report report = {sizeof report};
  ecosort_error* error = NULL;
  ecosort_request* request;
  ecosort_status status;

  if (argc != 3) {
    fputs("usage: sort_file_c INPUT OUTPUT\n", stderr);
    return 2;
  }
  request = ecosort_request_from_json(json, NULL);
  ecosort_request_add_input(request, argv[1]);
  ecosort_request_set_output(request, argv[2]);
  status = ecosort_sort(request, &callbacks, &report, &error);
  if (status == ECOSORT_OK)
    printf("%llu records, %llu runs\n", (unsigned long long)report.records, (unsigned long long)report.runs);
  else
    fprintf(stderr, "%s\n", ecosort_error_message(error));
  ecosort_error_free(error);
  ecosort_request_free(request);
  return status;
}
