// The C interface: include/ecosort/ecosort.h over ecosort.hpp. No exception leaves it.
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <memory>
#include <new>
#include <optional>
#include <string>

#include "ecosort/ecosort.h"
#include "ecosort/ecosort.hpp"

struct ecosort_spec {
  ecosort::SortSpec spec;
};

struct ecosort_error {
  ecosort_status status;
  std::string message;
};

struct ecosort_sorter {
  std::optional<ecosort::Sorter> sorter;
  std::optional<ecosort::Reader> reader;
};

namespace {

// The callback asked to stop.
struct Stopped {};

class Callbacks : public ecosort::Observer {
 public:
  explicit Callbacks(const ecosort_callbacks* callbacks) {
    if (callbacks != nullptr) std::memcpy(&callbacks_, callbacks, std::min(callbacks->struct_size, sizeof callbacks_));
  }
  void begin_phase(std::string_view name, std::uint64_t total_bytes) override {
    if (callbacks_.begin_phase == nullptr) return;
    if (callbacks_.begin_phase(callbacks_.context, std::string(name).c_str(), total_bytes) != 0) throw Stopped();
  }
  void progress(std::uint64_t bytes) override {
    if (callbacks_.progress != nullptr && callbacks_.progress(callbacks_.context, bytes) != 0) throw Stopped();
  }

 private:
  ecosort_callbacks callbacks_{};
};

ecosort_status failed(ecosort_error** error, ecosort_status status, const char* message) noexcept {
  if (error == nullptr) return status;
  *error = new (std::nothrow) ecosort_error{status, {}};
  if (*error == nullptr) return status;
  try {
    (*error)->message = message;
  } catch (const std::bad_alloc&) {  // the status says enough
  }
  return status;
}

// Does `work`; what it throws becomes a status and an error.
template <class Work>
ecosort_status guarded(ecosort_error** error, const Work& work) noexcept {
  if (error != nullptr) *error = nullptr;
  try {
    work();
    return ECOSORT_OK;
  } catch (const Stopped&) {
    return failed(error, ECOSORT_INTERRUPTED, "stopped as the callback asked");
  } catch (const ecosort::Interrupted& interrupted) {
    return failed(error, ECOSORT_INTERRUPTED, interrupted.what());
  } catch (const ecosort::Error& failure) {
    return failed(error, static_cast<ecosort_status>(failure.code()), failure.what());
  } catch (const std::exception& failure) {
    return failed(error, ECOSORT_INTERNAL, failure.what());
  }
}

// Text of the caller's, or a UsageError for NULL.
const char* text(const char* given) {
  if (given == nullptr) throw ecosort::UsageError("a text is NULL");
  return given;
}

template <class Handle>
auto& open(Handle* handle) {
  if (handle == nullptr) throw ecosort::UsageError("a handle is NULL");
  return *handle;
}

constexpr double most_watts = 1e9;

// Of a ratio between 1 and 1000; 0 as it is.
std::uint64_t thousandths_of(double ratio) {
  constexpr double least = 1, most = 1000, thousandths = 1000;
  if (ratio == 0) return 0;
  if (!(ratio >= least && ratio <= most)) throw ecosort::UsageError("a ratio is a number from 1 to 1000");
  return static_cast<std::uint64_t>(std::lround(ratio * thousandths));
}

// Sets something of a spec.
template <class Set>
ecosort_status set(ecosort_spec* spec, const Set& how) noexcept {
  return guarded(nullptr, [&] { how(open(spec).spec); });
}

void fill(ecosort_report* report, const ecosort::Report& done) {
  if (report == nullptr) return;
  const std::size_t size = std::min(report->struct_size, sizeof *report);
  const ecosort_report filled{size,      done.records,    done.dropped,       done.input_bytes,     done.output_bytes,
                              done.runs, done.bytes_read, done.bytes_written, done.peak_temp_bytes, done.peak_memory_bytes};
  std::memcpy(report, &filled, size);
}

}  // namespace

extern "C" {

ecosort_spec* ecosort_spec_new(void) { return new (std::nothrow) ecosort_spec; }
void ecosort_spec_free(ecosort_spec* spec) { delete spec; }

ecosort_status ecosort_spec_set_format(ecosort_spec* spec, ecosort_format format) {
  return set(spec, [&](ecosort::SortSpec& of) {
    if (format < ECOSORT_RECORDS || format > ECOSORT_JSONL) throw ecosort::UsageError("no such format");
    of.format = static_cast<ecosort::Format>(format);
  });
}
ecosort_status ecosort_spec_add_input(ecosort_spec* spec, const char* path) {
  return set(spec, [&](ecosort::SortSpec& of) { of.inputs.emplace_back(text(path)); });
}
ecosort_status ecosort_spec_set_output(ecosort_spec* spec, const char* path) {
  return set(spec, [&](ecosort::SortSpec& of) { of.output = text(path); });
}
ecosort_status ecosort_spec_set_record_size(ecosort_spec* spec, uint64_t bytes) {
  return set(spec, [&](ecosort::SortSpec& of) { of.record_size = bytes; });
}
ecosort_status ecosort_spec_add_key(ecosort_spec* spec, const char* key) {
  return set(spec, [&](ecosort::SortSpec& of) {
    of.keys.emplace_back(text(key));
    of.lines.keys.emplace_back(key);
    of.table.keys.emplace_back(key);
  });
}
ecosort_status ecosort_spec_set_line_ordering(ecosort_spec* spec, const char* letters) {
  return set(spec, [&](ecosort::SortSpec& of) { of.lines.ordering = text(letters); });
}
ecosort_status ecosort_spec_set_field_separator(ecosort_spec* spec, char separator) {
  return set(spec, [&](ecosort::SortSpec& of) { of.lines.field_separator = separator; });
}
ecosort_status ecosort_spec_set_reverse(ecosort_spec* spec, int on) {
  return set(spec, [&](ecosort::SortSpec& of) { of.reverse = on != 0; });
}
ecosort_status ecosort_spec_set_unique(ecosort_spec* spec, int on) {
  return set(spec, [&](ecosort::SortSpec& of) { of.unique = on != 0; });
}
ecosort_status ecosort_spec_set_memory(ecosort_spec* spec, uint64_t bytes) {
  return set(spec, [&](ecosort::SortSpec& of) { of.memory_bytes = bytes; });
}
ecosort_status ecosort_spec_set_threads(ecosort_spec* spec, unsigned threads) {
  return set(spec, [&](ecosort::SortSpec& of) { of.threads = threads; });
}
ecosort_status ecosort_spec_add_temp_directory(ecosort_spec* spec, const char* path) {
  return set(spec, [&](ecosort::SortSpec& of) { of.temp_directories.emplace_back(text(path)); });
}

ecosort_status ecosort_spec_set_decompress(ecosort_spec* spec, int on) {
  return set(spec, [&](ecosort::SortSpec& of) { of.compression.decompress = on != 0; });
}
ecosort_status ecosort_spec_set_output_compression(ecosort_spec* spec, const char* name) {
  return set(spec, [&](ecosort::SortSpec& of) { of.compression.output = text(name); });
}
ecosort_status ecosort_spec_set_compression_level(ecosort_spec* spec, int level) {
  return set(spec, [&](ecosort::SortSpec& of) { of.compression.level = level; });
}

ecosort_status ecosort_spec_set_run_compression(ecosort_spec* spec, const char* name) {
  return set(spec, [&](ecosort::SortSpec& of) { of.compression.runs = text(name); });
}
ecosort_status ecosort_spec_set_assumed_ratio(ecosort_spec* spec, double ratio) {
  return set(spec, [&](ecosort::SortSpec& of) { of.compression.assumed_ratio = thousandths_of(ratio); });
}
ecosort_status ecosort_spec_set_energy_goal(ecosort_spec* spec, double idle_w, double core_w, double gb_j) {
  return set(spec, [&](ecosort::SortSpec& of) {
    for (const double value : {idle_w, core_w, gb_j})
      if (!(value >= 0 && value < most_watts)) throw ecosort::UsageError("watts and joules are numbers from 0 on");
    of.compression.energy = ecosort::EnergyTerms{.idle_w = idle_w, .core_w = core_w, .gb_j = gb_j};
  });
}

ecosort_status ecosort_spec_set_nulls_first(ecosort_spec* spec, int on) {
  return set(spec, [&](ecosort::SortSpec& of) { of.table.nulls_first = on != 0; });
}
ecosort_status ecosort_spec_set_allow_missing(ecosort_spec* spec, int on) {
  return set(spec, [&](ecosort::SortSpec& of) { of.table.allow_missing = on != 0; });
}
ecosort_status ecosort_spec_set_strict(ecosort_spec* spec, int on) {
  return set(spec, [&](ecosort::SortSpec& of) { of.table.strict = on != 0; });
}
ecosort_status ecosort_spec_set_date_format(ecosort_spec* spec, const char* format) {
  return set(spec, [&](ecosort::SortSpec& of) { of.table.date_format = text(format); });
}
ecosort_status ecosort_spec_set_merge(ecosort_spec* spec, int on) {
  return set(spec, [&](ecosort::SortSpec& of) { of.table.merge = on != 0; });
}
ecosort_status ecosort_spec_set_delimiter(ecosort_spec* spec, char delimiter) {
  return set(spec, [&](ecosort::SortSpec& of) { of.csv.delimiter = delimiter; });
}
ecosort_status ecosort_spec_set_quote(ecosort_spec* spec, char quote) {
  return set(spec, [&](ecosort::SortSpec& of) { of.csv.quote = quote == 0 ? std::nullopt : std::optional(quote); });
}
ecosort_status ecosort_spec_set_header(ecosort_spec* spec, int on) {
  return set(spec, [&](ecosort::SortSpec& of) { of.csv.header = on != 0; });
}

ecosort_status ecosort_sort(const ecosort_spec* spec, const ecosort_callbacks* callbacks, ecosort_report* report,
                            ecosort_error** error) {
  return guarded(error, [&] {
    Callbacks observer(callbacks);
    fill(report, ecosort::sort(open(spec).spec, &observer));
  });
}

ecosort_sorter* ecosort_sorter_new(const ecosort_spec* spec, ecosort_error** error) {
  std::unique_ptr<ecosort_sorter> made;
  const ecosort_status status = guarded(error, [&] {
    const ecosort::SortSpec& from = open(spec).spec;
    ecosort::SorterTerms terms;
    terms.record_size = from.record_size;
    terms.keys = from.keys;
    terms.reverse = from.reverse;
    terms.unique = from.unique;
    terms.memory_bytes = from.memory_bytes;
    terms.threads = from.threads;
    if (!from.temp_directories.empty()) terms.temp_directory = from.temp_directories.front();
    terms.io = from.io;
    made = std::make_unique<ecosort_sorter>();
    made->sorter.emplace(terms);
  });
  return status == ECOSORT_OK ? made.release() : nullptr;
}
void ecosort_sorter_free(ecosort_sorter* sorter) { delete sorter; }

ecosort_status ecosort_sorter_push(ecosort_sorter* sorter, const void* bytes, size_t size, ecosort_error** error) {
  return guarded(error, [&] {
    if (bytes == nullptr && size > 0) throw ecosort::UsageError("the records are NULL");
    open(sorter).sorter.value().push({static_cast<const std::byte*>(bytes), size});
  });
}
ecosort_status ecosort_sorter_finish(ecosort_sorter* sorter, ecosort_error** error) {
  return guarded(error, [&] { open(sorter).reader.emplace(sorter->sorter.value().finish()); });
}
ecosort_status ecosort_sorter_next(ecosort_sorter* sorter, const void** records, size_t* size, ecosort_error** error) {
  return guarded(error, [&] {
    if (!open(sorter).reader) throw ecosort::UsageError("ecosort_sorter_finish comes before the records");
    if (records == nullptr || size == nullptr) throw ecosort::UsageError("there is no place for the records");
    const std::span<const std::byte> next = sorter->reader->next();
    *records = next.data();
    *size = next.size();
  });
}

ecosort_status ecosort_error_status(const ecosort_error* error) { return error == nullptr ? ECOSORT_OK : error->status; }
const char* ecosort_error_message(const ecosort_error* error) { return error == nullptr ? "" : error->message.c_str(); }
void ecosort_error_free(ecosort_error* error) { delete error; }

const char* ecosort_version(void) { return ecosort::version(); }

}  // extern "C"
