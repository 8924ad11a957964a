// Checks what a request for a shuffle may ask for, and makes the format of its rows.
#pragma once

#include <memory>
#include <string_view>

#include "ecosort/request.hpp"
#include "formats/row_format.h"

namespace ecosort::job {

// UsageError for what cannot be combined with a shuffle, and for what only a shuffle has.
void check_shuffle(const Request& request);

// Names the generator with its version.
[[nodiscard]] std::string_view shuffle_generator() noexcept;

// Chooses a seed, unless the request has one.
void choose_seed(Request& request);

// The rows of the request in their random order. `rows`: their format as for a sort; none of records and paragraphs.
[[nodiscard]] std::unique_ptr<formats::RowFormat> shuffle_format_of(const Request& request,
                                                                    std::unique_ptr<formats::RowFormat> rows);

// The request for the format of the rows alone, which has the keys that a format must have.
[[nodiscard]] Request without_shuffle(const Request& request);

}  // namespace ecosort::job
