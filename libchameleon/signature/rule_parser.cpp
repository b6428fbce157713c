// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <cctype>
#include <charconv>
#include <iterator>
#include <map>

#include "signature/rule_operations.h"

namespace chameleon::signature {

using Kind = RuleOperation;

namespace {

/// The loosest level is 0; of signs that begin alike the longer one comes first.
struct Binary {
  std::size_t level;
  std::string_view sign;
  Kind kind;
};
constexpr std::size_t kLevels = 10;
constexpr Binary kBinary[] = {
    {0, "||", Kind::kOr},      {1, "&&", Kind::kAnd},       {2, "|", Kind::kBitOr},
    {3, "^", Kind::kBitXor},   {4, "&", Kind::kBitAnd},     {5, "==", Kind::kEqual},
    {5, "!=", Kind::kUnequal}, {6, "<=", Kind::kLessEqual}, {6, ">=", Kind::kMoreEqual},
    {6, "<", Kind::kLess},     {6, ">", Kind::kMore},       {7, "<<", Kind::kLeft},
    {7, ">>", Kind::kRight},   {8, "+", Kind::kAdd},        {8, "-", Kind::kSubtract},
    {9, "*", Kind::kMultiply}, {9, "/", Kind::kDivide},     {9, "%", Kind::kRemainder},
};

struct Function {
  std::string_view name;
  Kind kind;
  int arguments;
};
constexpr Function kFunctions[] = {
    {"min", Kind::kMin, 2}, {"max", Kind::kMax, 2}, {"isqrt", Kind::kRoot, 1}};

bool starts_name(char c) { return std::isalpha(static_cast<unsigned char>(c)) != 0 || c == '_'; }
bool in_name(char c) { return starts_name(c) || std::isdigit(static_cast<unsigned char>(c)) != 0; }

/// What was found at a place, for people: no more than fits a line, and printable.
std::string shown(std::string_view rest) {
  std::string text;
  for (const char c : rest.substr(0, 20))
    text += std::isprint(static_cast<unsigned char>(c)) != 0 ? c : '?';
  return text.empty() ? "the end" : "'" + text + "'";
}

}  // namespace

/// Recursive descent, a statement at a time. After an error it gives what it has and reads on
/// nothing.
class RuleParser {
 public:
  explicit RuleParser(Rules& rules) : rules_(rules) {
    for (const auto& [name, kind] :
         {std::pair("me", Kind::kMe), std::pair("np", Kind::kNp), std::pair("tag", Kind::kTag),
          std::pair("count", Kind::kCount), std::pair("site", Kind::kSite)})
      names_[name] = add({kind, 0, 0, 0, 0});
    given_ = names_;
  }

  /// Empty, or what is wrong.
  std::string statement(std::string_view text, std::uint32_t line) {
    rest_ = text;
    line_ = line;
    skip();
    if (!rest_.empty()) rule();
    if (error_.empty() && !rest_.empty()) fail("an operator or the end of the line");
    return error_;
  }

 private:
  void rule() {
    const std::string name = word("a rule, such as Sendrecv.dest = me ^ 1, or let NAME = ...");
    if (name == "let") return definition();
    if (!take(".")) return fail("'.' and the name of a parameter of " + name);
    Rules::Rule rule;
    rule.call = name.rfind("MPI_", 0) == 0 ? name.substr(4) : name;
    rule.field = word("the name of a parameter of " + name);
    rule.line = line_;
    if (takes_word("where")) rule.condition = choice();
    if (error_.empty() && !take("=")) return fail("'='");
    rule.value = choice();
    if (rules_.rules_.size() == Rules::kMostRules)
      return fail_with("there are more than 256 rules");
    if (error_.empty()) rules_.rules_.push_back(std::move(rule));
  }

  void definition() {
    const std::string name = word("a name");
    const bool taken = given_.count(name) != 0 || name == "let" || name == "where" ||
                       std::any_of(std::begin(kFunctions), std::end(kFunctions),
                                   [&](const Function& one) { return one.name == name; });
    if (error_.empty() && taken) return fail_with("'" + name + "' has a meaning already");
    if (error_.empty() && !take("=")) return fail("'='");
    names_[name] = choice();
  }

  std::uint32_t choice() {
    if (!descend()) return 0;
    const std::uint32_t condition = level(0);
    std::uint32_t result = condition;
    if (error_.empty() && take("?")) {
      const std::uint32_t yes = choice();
      if (error_.empty() && !take(":")) fail("':'");
      result = add({Kind::kChoose, 0, condition, yes, choice()});
    }
    --depth_;
    return result;
  }

  std::uint32_t level(std::size_t of) {
    if (of == kLevels) return unary();
    std::uint32_t left = level(of + 1);
    while (error_.empty()) {
      const auto found =
          std::find_if(std::begin(kBinary), std::end(kBinary),
                       [&](const Binary& one) { return one.level == of && operates(one.sign); });
      if (found == std::end(kBinary)) break;
      take(found->sign);
      left = add({found->kind, 0, left, level(of + 1), 0});
    }
    return left;
  }

  /// Whether this sign is next, and not a longer one that begins with it.
  bool operates(std::string_view sign) const {
    if (rest_.rfind(sign, 0) != 0) return false;
    const char next = rest_.size() > sign.size() ? rest_[sign.size()] : ' ';
    if (sign == "|" || sign == "&") return next != sign[0];
    if (sign == "<" || sign == ">") return next != sign[0] && next != '=';
    return true;
  }

  std::uint32_t unary() {
    if (!descend()) return 0;
    std::uint32_t result = 0;
    if (rest_.rfind("!=", 0) != 0 && take("!"))
      result = add({Kind::kNot, 0, unary(), 0, 0});
    else if (take("-"))
      result = add({Kind::kNegate, 0, unary(), 0, 0});
    else if (take("~"))
      result = add({Kind::kFlip, 0, unary(), 0, 0});
    else
      result = primary();
    --depth_;
    return result;
  }

  std::uint32_t primary() {
    if (take("(")) {
      const std::uint32_t inner = choice();
      if (error_.empty() && !take(")")) fail("')'");
      return inner;
    }
    if (!rest_.empty() && std::isdigit(static_cast<unsigned char>(rest_[0])) != 0) return number();
    if (rest_.empty() || !starts_name(rest_[0])) return fail("a number or a name"), 0;
    const std::string_view before = rest_;
    const std::string name = word("a name");
    for (const Function& one : kFunctions)
      if (one.name == name) return call(one);
    const auto found = names_.find(name);
    if (found != names_.end()) return found->second;
    rest_ = before;
    fail_with("'" + name.substr(0, 40) +
              "' is not defined: there are me, np, tag, count, site, min, max, "
              "isqrt, and what let defined before");
    return 0;
  }

  std::uint32_t number() {
    std::int64_t value = 0;
    const char* const end = rest_.data() + rest_.size();
    const auto [after, error] = std::from_chars(rest_.data(), end, value);
    if (error != std::errc()) return fail_with("a number is too large"), 0;
    rest_.remove_prefix(static_cast<std::size_t>(after - rest_.data()));
    if (!rest_.empty() && in_name(rest_[0])) return fail("an operator"), 0;
    skip();
    return add({Kind::kNumber, value, 0, 0, 0});
  }

  std::uint32_t call(const Function& function) {
    std::uint32_t arguments[2] = {};
    for (int i = 0; i < function.arguments && error_.empty(); ++i) {
      if (!take(i == 0 ? "(" : ",")) return fail(i == 0 ? "'('" : "','"), 0;
      arguments[i] = choice();
    }
    if (error_.empty() && !take(")")) fail("')'");
    return add({function.kind, 0, arguments[0], arguments[1], 0});
  }

  std::uint32_t add(Rules::Operation operation) {
    if (!error_.empty()) return 0;
    if (rules_.operations_.size() == Rules::kMostOperations)
      return fail_with("there are more than 4096 operations"), 0;
    rules_.operations_.push_back(operation);
    return static_cast<std::uint32_t>(rules_.operations_.size() - 1);
  }

  bool descend() {
    if (++depth_ > Rules::kMostNesting) fail_with("the expression nests too deeply");
    return error_.empty();
  }

  void skip() {
    const auto solid = std::find_if(rest_.begin(), rest_.end(), [](char c) {
      return std::isspace(static_cast<unsigned char>(c)) == 0;
    });
    rest_.remove_prefix(static_cast<std::size_t>(solid - rest_.begin()));
  }

  bool take(std::string_view sign) {
    if (!error_.empty() || rest_.rfind(sign, 0) != 0) return false;
    rest_.remove_prefix(sign.size());
    skip();
    return true;
  }

  std::string word(const std::string& expected) {
    if (!error_.empty()) return "";
    if (rest_.empty() || !starts_name(rest_[0])) return fail(expected), "";
    const auto end = std::find_if_not(rest_.begin(), rest_.end(), in_name);
    const std::string name(rest_.begin(), end);
    rest_.remove_prefix(name.size());
    skip();
    return name;
  }

  bool takes_word(std::string_view name) {
    const bool next =
        rest_.rfind(name, 0) == 0 && (rest_.size() == name.size() || !in_name(rest_[name.size()]));
    return next && take(name);
  }

  void fail(const std::string& expected) {
    fail_with(expected + " is expected, not " + shown(rest_));
  }
  void fail_with(const std::string& what) {
    if (error_.empty()) error_ = "line " + std::to_string(line_) + ": " + what;
  }

  Rules& rules_;
  std::string_view rest_;
  std::uint32_t line_ = 0;
  int depth_ = 0;
  std::map<std::string, std::uint32_t, std::less<>> names_, given_;
  std::string error_;
};

Result<Rules> Rules::parse(std::string_view text) {
  if (text.size() > kMostText) return Error{ErrorKind::kUsage, "more than 64 KiB of text", 0};
  if (text.find('\0') != std::string_view::npos)
    return Error{ErrorKind::kUsage, "a zero byte is no text", 0};
  Rules rules;
  rules.text_ = text;
  RuleParser parser(rules);
  std::uint32_t number = 0;
  for (std::size_t at = 0; at <= text.size();) {
    const std::size_t end = std::min(text.find('\n', at), text.size());
    std::string_view line = text.substr(at, end - at);
    line = line.substr(0, line.find('#'));
    ++number;
    for (std::size_t from = 0; from <= line.size();) {
      const std::size_t to = std::min(line.find(';', from), line.size());
      if (std::string error = parser.statement(line.substr(from, to - from), number);
          !error.empty())
        return Error{ErrorKind::kUsage, std::move(error), 0};
      from = to + 1;
    }
    at = end + 1;
  }
  return rules;
}

}  // namespace chameleon::signature
