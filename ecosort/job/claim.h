// Claims: a file beside a sorted one says what that holds and in which order (engine/claim.h). A sort writes it, a merge and a
// check read it. What the rows are and how they compare is said as in a request:
//
//   {"schema": "ecosort.claim/1", "format": "csv", "order": {"keys": ["price:number:desc"], ...}, "rows": 3, ...}
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "ecosort/request.hpp"
#include "engine/claim.h"
#include "formats/row_format.h"

namespace ecosort::job {

struct Claim {
  decltype(Request::rows) rows;  // and their order
  std::string collation;         // version of ICU that decided; empty: bytes decide
  std::uint64_t count = 0, bytes = 0;
  std::string hash;
};

// Returns the name of the claim of a file, which may be a symbolic link.
[[nodiscard]] std::string claim_path(const std::string& file);
// Reads the claim of a file; nothing: it has none. UsageError for a file of that name that holds none.
[[nodiscard]] std::optional<Claim> read_claim(const std::string& file);
// Returns whether the file is as long as its claim says. Whether its rows have the hash, too, shows when it is read.
[[nodiscard]] bool has_claimed_size(const Claim& claim, const std::string& file);

// Makes the claim of the output of a request; empty: it is to have none. UsageError where there cannot be one. The format of its
// rows, which is asked when the output is complete; null: records.
[[nodiscard]] engine::ClaimText claim_text_of(const Request& request, const std::string& output,
                                              const formats::RowFormat* format = nullptr);

// UsageError for a merge of files that claim another order than that of the request.
void check_claims_of_inputs(const Request& request);

}  // namespace ecosort::job
