// Says what the bytes in front of a place leave open, where rows have quotes or escapes.
#pragma once

namespace ecosort::formats {

struct Inside {
  bool quotes = false;  // the place lies inside of quotes
  bool escape = false;  // the byte before it takes the meaning from the one at it
};

}  // namespace ecosort::formats
