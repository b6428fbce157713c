// SPDX-License-Identifier: BSD-3-Clause
#include "analysis/raw_reader.h"

#include <algorithm>
#include <charconv>
#include <sstream>

#include "signature/call_parameters.h"
#include "signature/null_test.h"

namespace chameleon::analysis {
namespace {

/// Takes one signed number from the front of `text`. A fraction, as clocks give, is cut off.
bool take_number(std::string_view& text, std::int64_t& number) {
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc{}) {
    // Unsigned 64-bit values (addresses) keep their bits.
    std::uint64_t wide = 0;
    const auto [wide_end, wide_error] =
        std::from_chars(text.data(), text.data() + text.size(), wide);
    if (wide_error != std::errc{}) return false;
    number = static_cast<std::int64_t>(wide);
    text.remove_prefix(static_cast<std::size_t>(wide_end - text.data()));
    return true;
  }
  text.remove_prefix(static_cast<std::size_t>(end - text.data()));
  if (!text.empty() && (text.front() == '.' || text.front() == 'e')) {
    const std::size_t rest = text.find_first_not_of("0123456789.e+-");
    text.remove_prefix(rest == std::string_view::npos ? text.size() : rest);
  }
  return true;
}

bool take(std::string_view& text, char c) {
  if (text.empty() || text.front() != c) return false;
  text.remove_prefix(1);
  return true;
}

bool take_status(std::string_view& text, std::vector<std::int64_t>& numbers) {
  if (!take(text, '(')) return false;
  if (take(text, '?')) {
    numbers.insert(numbers.end(), 4, 0);
    return take(text, ')');
  }
  for (int i = 0; i < 4; ++i) {
    std::int64_t number = 0;
    if ((i > 0 && !take(text, ',')) || !take_number(text, number)) return false;
    numbers.push_back(number);
  }
  return take(text, ')');
}

/// Reads a value up to the blank behind it.
bool take_value(std::string_view& text, RawValue& value, std::vector<std::int64_t>& numbers) {
  value.first = numbers.size();
  if (take(text, '?')) {
    value.shape = RawValue::Shape::kNothing;
  } else if (text.substr(0, 3) == "(?)") {
    value.shape = RawValue::Shape::kNothing;
    text.remove_prefix(3);
  } else if (!text.empty() && text.front() == '(') {
    value.shape = RawValue::Shape::kStatus;
    if (!take_status(text, numbers)) return false;
  } else if (take(text, '[')) {
    value.shape = RawValue::Shape::kArray;
    bool first = true;
    while (!take(text, ']')) {
      if (!first && !take(text, ',')) return false;
      first = false;
      std::int64_t number = 0;
      if (!text.empty() && text.front() == '(') {
        value.shape = RawValue::Shape::kStatuses;
        if (!take_status(text, numbers)) return false;
      } else if (take_number(text, number)) {
        numbers.push_back(number);
      } else {
        return false;
      }
    }
  } else {
    std::int64_t number = 0;
    if (!take_number(text, number)) return false;
    numbers.push_back(number);
  }
  value.count = numbers.size() - value.first;
  if (value.shape == RawValue::Shape::kStatuses && value.count % 4 != 0) return false;
  return text.empty() || text.front() == ' ';
}

}  // namespace

const RawValue* RawEvent::find(std::string_view name) const {
  for (const RawValue& value : values)
    if (value.name == name) return &value;
  return nullptr;
}

std::int64_t RawEvent::number(std::string_view name, std::int64_t otherwise) const {
  const RawValue* value = find(name);
  return value != nullptr && value->shape == RawValue::Shape::kNumber ? scalar(*value) : otherwise;
}

std::span<const std::int64_t> RawEvent::array(std::string_view name) const {
  const RawValue* value = find(name);
  if (value == nullptr || value->shape != RawValue::Shape::kArray) return {};
  return array(*value);
}

RawStatus RawEvent::status(const RawValue& value, std::size_t i) const {
  const std::int64_t* four = numbers.data() + value.first + 4 * i;
  return {four[0], four[1], four[2], four[3]};
}

std::int64_t RawReader::constant(const std::string& name, std::int64_t otherwise) const {
  const auto found = constants_.find(name);
  return found == constants_.end() ? otherwise : found->second;
}

Error RawReader::malformed(const std::string& what) const {
  return {ErrorKind::kCorrupt, path_ + ": line " + std::to_string(line_number_) + ": " + what, 0};
}

std::string RawReader::file_of(const std::string& directory, std::uint32_t rank,
                               std::uint32_t thread) {
  return directory + "/rank." + std::to_string(rank) +
         (thread == 0 ? "" : "." + std::to_string(thread)) + ".raw";
}

bool RawReader::exists(const std::string& directory, std::uint32_t rank, std::uint32_t thread) {
  return ForeignLines(file_of(directory, rank, thread)).good();
}

Result<RawReader> RawReader::open(const std::string& directory, std::uint32_t rank,
                                  std::uint32_t thread) {
  RawReader reader;
  reader.path_ = file_of(directory, rank, thread);
  reader.file_.open(reader.path_);
  if (!reader.file_)
    return Error{
        ErrorKind::kSystem,
        reader.path_ + ": cannot be read; run the program again with CHAMELEON_RAW=" + directory,
        0};
  if (const Status head = reader.head(rank, thread); !head) return head.error();
  return reader;
}

Status RawReader::head(std::uint32_t rank, std::uint32_t thread) {
  bool first = true;
  bool ranked = false;
  std::uint32_t of_thread = 0;
  while (std::getline(file_, pending_)) {
    ++line_number_;
    if (pending_.empty() || pending_[0] != '#') {
      has_pending_ = true;
      break;
    }
    std::istringstream words(pending_.substr(1));
    std::string word;
    words >> word;
    if (first) {
      std::string raw;
      int version = 0;
      words >> raw >> version;
      if (word != "chameleon" || raw != "raw") return malformed("not a raw record");
      if (version != 1)
        return Error{ErrorKind::kUnsupportedVersion,
                     path_ + ": raw records of version " + std::to_string(version), 0};
      first = false;
    } else if (word == "rank") {
      std::int64_t number = -1;
      std::string of;
      words >> number >> of >> world_size_;
      if (!words || number != static_cast<std::int64_t>(rank))
        return malformed("expected '# rank " + std::to_string(rank) + " of N'");
      ranked = true;
    } else if (word == "thread") {
      words >> of_thread;
      if (!words) return malformed("expected '# thread NUMBER'");
    } else if (word == "predefined") {
      RawPredefined object;
      words >> object.kind >> object.name >> object.handle >> object.size;
      if (!words) return malformed("expected '# predefined KIND NAME HANDLE SIZE'");
      predefined_.push_back(std::move(object));
    } else if (word == "constant") {
      std::string name;
      std::int64_t number = 0;
      words >> name >> number;
      if (!words) return malformed("expected '# constant NAME VALUE'");
      constants_[name] = number;
    }
  }
  if (first) return malformed("not a raw record, which begins '# chameleon raw 1'");
  if (!ranked) return malformed("the line '# rank N of SIZE' is missing");
  if (of_thread != thread)
    return malformed("the records are of thread " + std::to_string(of_thread) + ", not " +
                     std::to_string(thread));
  return Unit{};
}

bool RawReader::is_unsuccessful_poll(const RawEvent& event) const {
  const CallInfo* const call = find_call(event.call);
  if (call == nullptr || signature::success_flag(*call) < 0 || event.number("return", 1) != 0)
    return false;
  if (event.number("flag", event.number("outcount", 1)) == 0) return true;
  const int param = signature::null_test_param(*call);
  if (param < 0) return false;
  const ParamInfo& tells = params(*call)[static_cast<std::size_t>(param)];
  if (tells.kind != Kind::kRequest)
    return event.number(tells.name, 0) == constant("MPI_UNDEFINED", INT64_MIN);
  const auto is_null = [&](std::int64_t handle) {
    return std::any_of(predefined_.begin(), predefined_.end(), [&](const RawPredefined& object) {
      return object.name == "MPI_REQUEST_NULL" && object.handle == handle;
    });
  };
  if (!is_array(tells)) return is_null(event.number(tells.name, 0));
  const std::span<const std::int64_t> requests = event.array(tells.name);
  return std::all_of(requests.begin(), requests.end(), is_null);
}

Result<bool> RawReader::next(RawEvent& event) {
  for (;;) {
    const Result<bool> more = read(event);
    if (!more || !*more || !leaves_out_polls_ || !is_unsuccessful_poll(event)) return more;
    ++polls_;
  }
}

Result<bool> RawReader::read(RawEvent& event) {
  for (;;) {
    if (!read_line(event.line)) return false;
    if (!event.line.empty() && event.line[0] != '#') break;
    if (event.line.compare(0, 9, "# marker ") == 0) ++markers_;
  }
  if (cut_allowed_ && file_.eof()) return false;
  event.line_number = line_number_;
  event.values.clear();
  event.numbers.clear();
  std::string_view text = event.line;
  event.place = 0;
  if (take(text, '@')) {
    std::int64_t place = 0;
    if (!take_number(text, place) || place <= 0 || !take(text, ' '))
      return malformed("expected '@NUMBER CALL'");
    event.place = static_cast<std::uint64_t>(place);
  }
  const std::size_t name = std::min(text.find(' '), text.size());
  event.call = text.substr(0, name);
  if (event.call.substr(0, 4) == "MPI_") event.call.remove_prefix(4);
  text.remove_prefix(name);
  while (!text.empty()) {
    text.remove_prefix(1);
    if (text.empty()) break;
    const std::size_t equals = text.find('=');
    if (equals == std::string_view::npos || equals == 0)
      return malformed("expected NAME=VALUE at '" + std::string(text.substr(0, 20)) + "'");
    RawValue value;
    value.name = text.substr(0, equals);
    text.remove_prefix(equals + 1);
    const std::string_view before = text;
    if (!take_value(text, value, event.numbers))
      return malformed("the value of '" + std::string(value.name) + "' is malformed");
    value.text = before.substr(0, before.size() - text.size());
    event.values.push_back(value);
  }
  if (file_.eof() && event.number("return", INT64_MIN) == INT64_MIN)
    return malformed("the line is cut off");
  if (const Status path = read_path(event); !path) return path.error();
  return true;
}

bool RawReader::read_line(std::string& line) {
  if (has_pending_) {
    line.swap(pending_);
    has_pending_ = false;
    return true;
  }
  if (!std::getline(file_, line)) return false;
  ++line_number_;
  return true;
}

/// Behind the line of a call may be one of its times and its path: `# spent NS NS PATH`.
Status RawReader::read_path(RawEvent& event) {
  event.path = 0;
  if (cut_allowed_ && file_.eof()) return Unit{};
  has_pending_ = read_line(pending_);
  if (cut_allowed_ && file_.eof()) {  // what the line begins with may look like a whole one
    has_pending_ = false;
    return Unit{};
  }
  if (!has_pending_ || pending_.rfind("# spent ", 0) != 0) return Unit{};
  std::istringstream words(pending_.substr(8));
  std::uint64_t compute = 0, spent = 0;
  words >> compute >> spent >> std::hex >> event.path;
  if (words) return Unit{};
  event.path = 0;
  return malformed("expected '# spent COMPUTE CALL PATH'");
}

}  // namespace chameleon::analysis
