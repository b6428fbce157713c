// SPDX-License-Identifier: BSD-3-Clause
#include "base/rust_names.h"

#include <array>
#include <cctype>
#include <cstdint>

namespace chameleon::inline base {
namespace {

constexpr std::size_t kLongestName = 4096;
constexpr int kDeepest = 100;
constexpr int kMostParts = 4096;

bool is_digit(char c) { return c >= '0' && c <= '9'; }
bool is_hex(char c) { return is_digit(c) || (c >= 'a' && c <= 'f'); }

/// What the older mangling writes for characters that assemblers do not take: $LT$, $u20$, "..".
std::string unescaped(std::string_view text) {
  struct Escape {
    std::string_view from, to;
  };
  constexpr std::array kEscapes = {Escape{"$SP$", "@"}, Escape{"$BP$", "*"}, Escape{"$RF$", "&"},
                                   Escape{"$LT$", "<"}, Escape{"$GT$", ">"}, Escape{"$LP$", "("},
                                   Escape{"$RP$", ")"}, Escape{"$C$", ","},  Escape{"..", "::"}};
  if (text.starts_with("_$")) text.remove_prefix(1);
  std::string out;
  while (!text.empty()) {
    bool found = false;
    for (const Escape& escape : kEscapes) {
      if (!text.starts_with(escape.from)) continue;
      out += escape.to;
      text.remove_prefix(escape.from.size());
      found = true;
      break;
    }
    const std::size_t end = text.starts_with("$u") ? text.find('$', 2) : std::string_view::npos;
    if (!found && end == 4 && is_hex(text[2]) && is_hex(text[3])) {  // of one byte, as they all are
      out += static_cast<char>(std::stoi(std::string(text.substr(2, 2)), nullptr, 16));
      text.remove_prefix(5);
      found = true;
    }
    if (found) continue;
    out += text.front();
    text.remove_prefix(1);
  }
  return out;
}

std::optional<std::string> older(std::string_view rest) {
  std::string name;
  std::string_view part;
  while (!rest.empty() && is_digit(rest.front())) {
    std::size_t size = 0;
    while (!rest.empty() && is_digit(rest.front()) && size < kLongestName) {
      size = 10 * size + static_cast<std::size_t>(rest.front() - '0');
      rest.remove_prefix(1);
    }
    if (size == 0 || size > rest.size()) return std::nullopt;
    if (!part.empty()) name += (name.empty() ? "" : "::") + unescaped(part);
    part = rest.substr(0, size);
    rest.remove_prefix(size);
  }
  // The last part is the hash.
  if (name.empty() || part.size() != 17 || part.front() != 'h') return std::nullopt;
  for (const char c : part.substr(1))
    if (!is_hex(c)) return std::nullopt;
  if (!rest.starts_with('E') || (rest.size() > 1 && rest[1] != '.')) return std::nullopt;
  return name;
}

/// The newer mangling, by recursive descent. After a failure everything reads as nothing.
class Newer {
 public:
  explicit Newer(std::string_view text) : text_(text) {}

  std::optional<std::string> name() {
    path(true);
    if (failed_ || out_.empty()) return std::nullopt;
    if (at_ < text_.size() && text_[at_] != '.') {  // the crate that made it of a generic one
      silent_ = true;
      path(false);
    }
    if (failed_ || (at_ < text_.size() && text_[at_] != '.')) return std::nullopt;
    return out_;
  }

 private:
  char next() {
    if (failed_ || at_ >= text_.size()) return failed_ = true, '\0';
    return text_[at_++];
  }
  bool take(char c) {
    if (failed_ || at_ >= text_.size() || text_[at_] != c) return false;
    return ++at_, true;
  }
  void put(std::string_view text) {
    if (silent_ || failed_) return;
    if (out_.size() + text.size() > kLongestName) failed_ = true;
    out_ += text;
  }
  /// Room for one more part, so that no name takes long.
  bool enter() {
    if (++depth_ > kDeepest || ++parts_ > kMostParts) failed_ = true;
    return !failed_;
  }

  /// "_" is 0, "0_" is 1. Versions of crates may wrap around, and are not shown.
  std::uint64_t base62() {
    if (take('_')) return 0;
    std::uint64_t value = 0;
    while (!failed_) {
      const char c = next();
      if (c == '_') return value + 1;
      unsigned digit = 0;
      if (is_digit(c))
        digit = static_cast<unsigned>(c - '0');
      else if (c >= 'a' && c <= 'z')
        digit = 10 + static_cast<unsigned>(c - 'a');
      else if (c >= 'A' && c <= 'Z')
        digit = 36 + static_cast<unsigned>(c - 'A');
      else
        failed_ = true;
      value = value * 62 + digit;
    }
    return 0;
  }
  std::uint64_t disambiguator() { return take('s') ? base62() + 1 : 0; }

  /// Names that are not ASCII stay as they are encoded.
  std::string_view identifier() {
    take('u');
    std::size_t size = 0;
    if (at_ >= text_.size() || !is_digit(text_[at_])) failed_ = true;
    if (!take('0'))
      while (!failed_ && at_ < text_.size() && is_digit(text_[at_]) && size < kLongestName)
        size = 10 * size + static_cast<std::size_t>(next() - '0');
    take('_');
    if (failed_ || size > text_.size() - at_) return failed_ = true, std::string_view();
    at_ += size;
    return text_.substr(at_ - size, size);
  }

  /// f() at an earlier place of the text.
  template <class F>
  void back(F f) {
    const std::size_t tag = at_ - 1;
    const std::uint64_t to = base62();
    if (failed_ || to >= tag) return void(failed_ = true);
    if (silent_) return;
    const std::size_t here = at_;
    at_ = static_cast<std::size_t>(to);
    f();
    at_ = here;
  }

  void path(bool is_value) {
    if (!enter()) return;
    switch (next()) {
      case 'C':
        disambiguator();
        put(identifier());
        break;
      case 'N': nested(is_value); break;
      case 'M': within(true, false); break;
      case 'X': within(true, true); break;
      case 'Y': within(false, true); break;
      case 'I':
        path(is_value);
        put(is_value ? "::<" : "<");
        list([this] { argument(); });
        put(">");
        break;
      case 'B': back([&] { path(is_value); }); break;
      default: failed_ = true;
    }
    --depth_;
  }

  void nested(bool is_value) {
    const char space = next();
    path(is_value);
    const std::uint64_t number = disambiguator();
    const std::string_view name = identifier();
    if (space >= 'A' && space <= 'Z') {  // {closure#0}
      put("::{");
      put(space == 'C' ? "closure" : space == 'S' ? "shim" : std::string_view(&space, 1));
      if (!name.empty()) put(":");
      put(name);
      put("#" + std::to_string(number) + "}");
    } else if (space >= 'a' && space <= 'z') {
      if (!name.empty()) put("::");
      put(name);
    } else {
      failed_ = true;
    }
  }

  /// <T> or <T as Trait>; where it was written down does not count.
  void within(bool has_place, bool has_trait) {
    if (has_place) {
      const bool before = silent_;
      silent_ = true;
      disambiguator();
      path(false);
      silent_ = before;
    }
    put("<");
    type();
    if (has_trait) {
      put(" as ");
      path(false);
    }
    put(">");
  }

  /// f() up to an E, with commas.
  template <class F>
  void list(F f) {
    for (bool first = true; !failed_ && !take('E'); first = false) {
      if (!first) put(", ");
      f();
    }
  }

  void argument() {
    if (take('L')) {
      base62();
      put("'_");
    } else if (take('K')) {
      constant();
    } else {
      type();
    }
  }

  void constant() {
    if (!enter()) return;
    if (take('B'))
      back([this] { constant(); });
    else if (!take('p')) {
      number();
    } else {
      put("_");
    }
    --depth_;
  }

  /// Of a type that is a number, or looks like one.
  void number() {
    const char type = next();
    if (take('n')) put("-");
    const std::size_t begin = at_;
    while (at_ < text_.size() && is_hex(text_[at_])) ++at_;
    const std::string digits(text_.substr(begin, at_ - begin));
    if (!take('_')) failed_ = true;
    if (failed_) return;
    if (type == 'b')
      put(digits == "0" ? "false" : "true");
    else if (digits.size() > 15)
      put("0x" + digits);
    else
      put(std::to_string(digits.empty() ? 0 : std::stoull(digits, nullptr, 16)));
  }

  void lifetime() {
    if (take('L')) base62();
  }
  void binder() {
    if (take('G')) base62();
  }

  void type() {
    if (!enter()) return;
    const char tag = next();
    constexpr std::string_view kTags = "abcdefhijlmnopstuvxyz";
    constexpr std::array<std::string_view, 21> kBasic = {
        "i8",   "bool", "char", "f64", "str", "f32", "u8",  "isize", "usize", "i32", "u32",
        "i128", "u128", "_",    "i16", "u16", "()",  "...", "i64",   "u64",   "!"};
    if (const std::size_t basic = kTags.find(tag); basic != std::string_view::npos) {
      put(kBasic[basic]);
    } else {
      compound(tag);
    }
    --depth_;
  }

  void compound(char tag) {
    switch (tag) {
      case 'R':
      case 'Q':
        lifetime();
        put(tag == 'R' ? "&" : "&mut ");
        type();
        break;
      case 'P':
      case 'O':
        put(tag == 'P' ? "*const " : "*mut ");
        type();
        break;
      case 'A':
      case 'S':
        put("[");
        type();
        if (tag == 'A') {
          put("; ");
          constant();
        }
        put("]");
        break;
      case 'T':
        put("(");
        list([this] { type(); });
        put(")");
        break;
      case 'F': function(); break;
      case 'D':
        put("dyn ");
        binder();
        for (bool first = true; !failed_ && !take('E'); first = false) {
          if (!first) put(" + ");
          trait();
        }
        lifetime();
        break;
      case 'B': back([this] { type(); }); break;
      default: --at_; path(false);
    }
  }

  void function() {
    binder();
    if (take('U')) put("unsafe ");
    if (take('K')) {
      put("extern \"");
      put(take('C') ? "C" : identifier());
      put("\" ");
    }
    put("fn(");
    list([this] { type(); });
    put(")");
    if (take('u')) return;  // ()
    put(" -> ");
    type();
  }

  /// A trait's own arguments and its associated types stand in one list.
  void trait() {
    bool open = take('I');
    path(false);
    if (open) {
      put("<");
      list([this] { argument(); });
    }
    while (take('p')) {
      put(open ? ", " : "<");
      open = true;
      put(identifier());
      put(" = ");
      type();
    }
    if (open) put(">");
  }

  std::string_view text_;
  std::size_t at_ = 0;
  std::string out_;
  bool silent_ = false, failed_ = false;
  int depth_ = 0, parts_ = 0;
};

}  // namespace

std::optional<std::string> rust_name(std::string_view symbol) {
  if (symbol.starts_with("_ZN")) return older(symbol.substr(3));
  // An uppercase letter begins a path; a digit would be a version that is not known.
  if (symbol.starts_with("_R") && symbol.size() > 2 && std::isupper(symbol[2]) != 0)
    return Newer(symbol.substr(2)).name();
  return std::nullopt;
}

}  // namespace chameleon::inline base
