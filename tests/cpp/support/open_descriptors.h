#pragma once

#include <set>

namespace ecosort {

// Returns the descriptors that this process has open.
[[nodiscard]] std::set<int> open_descriptors();

// Closes, at its end, what was opened since its beginning: by objects that are left behind on purpose.
class ClosesWhatIsLeft {
 public:
  ClosesWhatIsLeft() : before_(open_descriptors()) {}
  ClosesWhatIsLeft(const ClosesWhatIsLeft&) = delete;
  ClosesWhatIsLeft& operator=(const ClosesWhatIsLeft&) = delete;
  ~ClosesWhatIsLeft();

 private:
  std::set<int> before_;
};

}  // namespace ecosort
