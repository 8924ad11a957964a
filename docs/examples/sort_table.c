/* Sorts CSV or JSON lines by a column or a path: sort_table_c csv|jsonl KEY INPUT OUTPUT */
#include <ecosort/ecosort.h>
#include <stdio.h>
#include <string.h>

/* A value that is none of its type ends the sort; an output named .gz, .zst, .lz4, .xz or .bz2 is compressed. */
#define REQUEST(format)                           \
  "{\"schema\": \"ecosort.request/1\", \"" format \
  "\": {\"strict\": true},"                       \
  " \"compression\": {\"decompress\": true, \"output\": \"auto\"}}"

int main(int argc, char** argv) {
  ecosort_report report = {sizeof report};
  ecosort_error* error = NULL;
  ecosort_request* request;
  ecosort_status status;

  if (argc != 5) {
    fputs("usage: sort_table_c csv|jsonl KEY INPUT OUTPUT\n", stderr);
    return 2;
  }
  request = ecosort_request_from_json(strcmp(argv[1], "csv") == 0 ? REQUEST("csv") : REQUEST("jsonl"), NULL);
  ecosort_request_add_key(request, argv[2]); /* such as price:number:desc, or user.tags[0] */
  ecosort_request_add_input(request, argv[3]);
  ecosort_request_set_output(request, argv[4]);
  status = ecosort_sort(request, NULL, &report, &error);
  if (status == ECOSORT_OK)
    printf("%llu rows\n", (unsigned long long)report.records);
  else
    fprintf(stderr, "%s\n", ecosort_error_message(error));
  ecosort_error_free(error);
  ecosort_request_free(request);
  return status;
}
