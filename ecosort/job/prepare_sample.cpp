#include "job/prepare_sample.h"

#include <fmt/format.h>

#include <iterator>
#include <utility>

#include "job/places.h"

namespace ecosort::job {

engine::partition::SampleRecordsJob prepare_sample_of_records(const SampleSpec& spec, const Request& rows,
                                                              io::PosixStorage& storage) {
  (void)records::make_record_format(records_of(rows));  // a bad key is reported before a missing file
  std::vector<engine::fixed::Input> inputs = open_records(rows, storage);
  choose_range(inputs.front(), spec.range, records::size_of(records_of(rows)));
  check_output(spec.output, inputs, storage);
  return {std::move(inputs.front()), static_cast<std::uint32_t>(records::size_of(records_of(rows))), spec.terms};
}

SplitterFile merge_samples_of_records(const Request& rows) {
  const records::RecordFormat format = records::make_record_format(records_of(rows));
  SplitterFile all;
  for (const std::string& path : rows.inputs) {
    SplitterFile sample = read_sample(path);
    check_record_rows(sample, records::size_of(records_of(rows)), path);
    std::ranges::move(sample.rows, std::back_inserter(all.rows));
  }
  sort_splitters(all.rows, compare_records(format));
  return all;
}

}  // namespace ecosort::job
