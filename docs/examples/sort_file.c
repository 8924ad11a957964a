/* Sorts records of 100 bytes by their first ten: sort_file_c INPUT OUTPUT */
#include <ecosort/ecosort.h>
#include <stdio.h>

static int show_phase(void* context, const char* name, uint64_t total_bytes) {
  (void)total_bytes;
  fprintf((FILE*)context, "%s\n", name);
  return 0; /* continue */
}

int main(int argc, char** argv) {
  ecosort_callbacks callbacks = {sizeof callbacks, stderr, show_phase, NULL};
  ecosort_report report = {sizeof report};
  ecosort_error* error = NULL;
  ecosort_spec* spec;
  ecosort_status status;

  if (argc != 3) {
    fputs("usage: sort_file_c INPUT OUTPUT\n", stderr);
    return 2;
  }
  spec = ecosort_spec_new();
  if (spec == NULL) return 4;
  ecosort_spec_add_input(spec, argv[1]);
  ecosort_spec_set_output(spec, argv[2]);
  ecosort_spec_add_key(spec, "0:10");
  ecosort_spec_set_memory(spec, (uint64_t)64 << 20);
  status = ecosort_sort(spec, &callbacks, &report, &error);
  if (status == ECOSORT_OK)
    printf("%llu records, %llu runs\n", (unsigned long long)report.records, (unsigned long long)report.runs);
  else
    fprintf(stderr, "%s\n", ecosort_error_message(error));
  ecosort_error_free(error);
  ecosort_spec_free(spec);
  return status;
}
