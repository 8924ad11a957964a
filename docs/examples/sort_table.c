/* Sorts CSV or JSON lines by a column or a path: sort_table_c csv|jsonl KEY INPUT OUTPUT */
#include <ecosort/ecosort.h>
#include <stdio.h>
#include <string.h>

int main(int argc, char** argv) {
  ecosort_report report = {sizeof report};
  ecosort_error* error = NULL;
  ecosort_spec* spec;
  ecosort_status status;

  if (argc != 5) {
    fputs("usage: sort_table_c csv|jsonl KEY INPUT OUTPUT\n", stderr);
    return 2;
  }
  spec = ecosort_spec_new();
  if (spec == NULL) return 4;
  ecosort_spec_set_format(spec, strcmp(argv[1], "csv") == 0 ? ECOSORT_CSV : ECOSORT_JSONL);
  ecosort_spec_add_key(spec, argv[2]); /* such as price:number:desc, or user.tags[0] */
  ecosort_spec_add_input(spec, argv[3]);
  ecosort_spec_set_output(spec, argv[4]);
  ecosort_spec_set_strict(spec, 1); /* a value that is none of its type ends the sort */
  ecosort_spec_set_decompress(spec, 1);
  ecosort_spec_set_output_compression(spec, "auto"); /* an output named .gz, .zst, .lz4, .xz or .bz2 */
  status = ecosort_sort(spec, NULL, &report, &error);
  if (status == ECOSORT_OK)
    printf("%llu rows\n", (unsigned long long)report.records);
  else
    fprintf(stderr, "%s\n", ecosort_error_message(error));
  ecosort_error_free(error);
  ecosort_spec_free(spec);
  return status;
}
