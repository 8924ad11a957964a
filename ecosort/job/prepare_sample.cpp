#include "job/prepare_sample.h"

#include <fmt/format.h>

#include <iterator>
#include <utility>

#include "job/places.h"

namespace ecosort::job {

engine::SampleRecordsJob prepare_sample_of_records(const SampleSpec& spec, const SortSpec& rows, const Tuning& tuning,
                                                   io::PosixStorage& storage) {
  (void)records::make_record_format(rows.record_size, rows.keys, rows.reverse);  // a bad key is told before a missing file
  std::vector<engine::Input> inputs = open_records(rows, tuning, storage);
  choose_range(inputs.front(), spec.range, rows.record_size);
  check_output(spec.output, inputs, storage);
  return {std::move(inputs.front()), static_cast<std::uint32_t>(rows.record_size), spec.terms};
}

SplitterFile merge_samples_of_records(const SortSpec& rows) {
  const records::RecordFormat format = records::make_record_format(rows.record_size, rows.keys, rows.reverse);
  SplitterFile all;
  for (const std::string& path : rows.inputs) {
    SplitterFile sample = read_sample(path);
    check_record_rows(sample, rows.record_size, path);
    std::ranges::move(sample.rows, std::back_inserter(all.rows));
  }
  sort_splitters(all.rows, compare_records(format));
  return all;
}

}  // namespace ecosort::job
