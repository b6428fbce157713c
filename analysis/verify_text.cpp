// SPDX-License-Identifier: BSD-3-Clause
#include "analysis/verify_text.h"

#include "model/trace.h"

namespace chameleon::analysis {

constexpr std::size_t kShownElements = 8;

std::string list_text(std::span<const std::int64_t> values) {
  std::string text = "[";
  for (std::size_t i = 0; i < values.size() && i < kShownElements; ++i)
    text += (i > 0 ? "," : "") + std::to_string(values[i]);
  return text + (values.size() > kShownElements ? ",...]" : "]");
}

std::string end_point_text(const EndPoint& end, CommPlace place) {
  static const char* const kNames[] = {
      "", "not recorded", "MPI_PROC_NULL", "MPI_ANY_SOURCE", "MPI_ROOT", "MPI_UNDEFINED"};
  const Partner partner = resolve(end, place);
  if (partner.special > 0 && partner.special < 6) return kNames[partner.special];
  return std::to_string(partner.rank);
}

std::string number_text(std::int64_t value) {
  return value == kNotRecorded ? "not recorded" : std::to_string(value);
}

}  // namespace chameleon::analysis
