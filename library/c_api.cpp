// The C interface: include/ecosort/ecosort.h over ecosort.hpp. No exception leaves it.
#include <algorithm>
#include <cstdint>
#include <cstring>
#include <memory>
#include <new>
#include <optional>
#include <string>
#include <variant>

#include "ecosort/ecosort.h"
#include "ecosort/ecosort.hpp"

struct ecosort_request {
  ecosort::Request request;
  std::string json;
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

void fill(ecosort_report* report, const ecosort::Report& done) {
  if (report == nullptr) return;
  const std::size_t size = std::min(report->struct_size, sizeof *report);
  const ecosort_report filled{size,         done.records,     done.dropped,       done.input_bytes,     done.output_bytes,
                              done.runs,    done.bytes_read,  done.bytes_written, done.peak_temp_bytes, done.peak_memory_bytes,
                              done.counted, done.beyond_limit};
  std::memcpy(report, &filled, size);
}

}  // namespace

extern "C" {

ecosort_request* ecosort_request_from_json(const char* json, ecosort_error** error) {
  std::unique_ptr<ecosort_request> made;
  const ecosort_status status = guarded(error, [&] {
    made = std::make_unique<ecosort_request>();
    made->request = ecosort::request_from_json(text(json));
  });
  return status == ECOSORT_OK ? made.release() : nullptr;
}
ecosort_status ecosort_request_add_key(ecosort_request* request, const char* key) {
  return guarded(nullptr,
                 [&] { std::visit([&](auto& rows) { rows.keys.emplace_back(text(key)); }, open(request).request.rows); });
}
ecosort_status ecosort_request_add_input(ecosort_request* request, const char* path) {
  return guarded(nullptr, [&] { open(request).request.inputs.emplace_back(text(path)); });
}
ecosort_status ecosort_request_set_output(ecosort_request* request, const char* path) {
  return guarded(nullptr, [&] { open(request).request.place.output = text(path); });
}
const char* ecosort_request_to_json(ecosort_request* request) {
  const ecosort_status status = guarded(nullptr, [&] {
    ecosort_request& of = open(request);
    of.json = ecosort::to_json(of.request);
  });
  return status == ECOSORT_OK ? request->json.c_str() : nullptr;
}
void ecosort_request_free(ecosort_request* request) { delete request; }

ecosort_status ecosort_sort(const ecosort_request* request, const ecosort_callbacks* callbacks, ecosort_report* report,
                            ecosort_error** error) {
  return guarded(error, [&] {
    Callbacks observer(callbacks);
    fill(report, ecosort::sort(open(request).request, &observer));
  });
}

ecosort_status ecosort_check(const ecosort_request* request, ecosort_order_report* report, ecosort_error** error) {
  return guarded(error, [&] {
    const ecosort::OrderReport found = ecosort::check(open(request).request);
    const std::size_t size = std::min(open(report).struct_size, sizeof *report);
    const ecosort_order_report filled{size, found.records, found.equal, found.unordered, found.first_out_of_order};
    std::memcpy(report, &filled, size);
  });
}

ecosort_status ecosort_resume(const char* file, uint64_t memory_bytes, unsigned threads, const ecosort_callbacks* callbacks,
                              ecosort_report* report, ecosort_error** error) {
  return guarded(error, [&] {
    Callbacks observer(callbacks);
    fill(report, ecosort::resume(text(file), {.memory_bytes = memory_bytes, .threads = threads}, &observer));
  });
}

ecosort_sorter* ecosort_sorter_new(const ecosort_request* request, ecosort_error** error) {
  std::unique_ptr<ecosort_sorter> made;
  const ecosort_status status = guarded(error, [&] {
    made = std::make_unique<ecosort_sorter>();
    made->sorter.emplace(open(request).request);
  });
  return status == ECOSORT_OK ? made.release() : nullptr;
}
void ecosort_sorter_free(ecosort_sorter* sorter) { delete sorter; }

ecosort_status ecosort_sorter_push(ecosort_sorter* sorter, const void* bytes, size_t size, ecosort_error** error) {
  return guarded(error, [&] {
    if (bytes == nullptr && size > 0) throw ecosort::UsageError("the rows are NULL");
    open(sorter).sorter.value().push({static_cast<const std::byte*>(bytes), size});
  });
}
ecosort_status ecosort_sorter_finish(ecosort_sorter* sorter, ecosort_error** error) {
  return guarded(error, [&] { open(sorter).reader.emplace(sorter->sorter.value().finish()); });
}
ecosort_status ecosort_sorter_next(ecosort_sorter* sorter, const void** rows, size_t* size, ecosort_error** error) {
  return guarded(error, [&] {
    if (!open(sorter).reader) throw ecosort::UsageError("ecosort_sorter_finish comes before the rows");
    if (rows == nullptr || size == nullptr) throw ecosort::UsageError("there is no place for the rows");
    const std::span<const std::byte> next = sorter->reader->next();
    *rows = next.data();
    *size = next.size();
  });
}

ecosort_status ecosort_error_status(const ecosort_error* error) { return error == nullptr ? ECOSORT_OK : error->status; }
const char* ecosort_error_message(const ecosort_error* error) { return error == nullptr ? "" : error->message.c_str(); }
void ecosort_error_free(ecosort_error* error) { delete error; }

const char* ecosort_version(void) { return ecosort::version(); }

}  // extern "C"
