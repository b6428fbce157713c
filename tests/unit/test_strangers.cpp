// SPDX-License-Identifier: BSD-3-Clause
// What is a stranger's: names for a terminal, secrets in a command line, files of others.
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>

#include "base/foreign_lines.h"
#include "base/masked_arguments.h"
#include "base/new_file.h"
#include "base/plain_text.h"
#include "format/piece_file.h"
#include "unit/catch.h"

namespace chameleon {
namespace {

namespace fs = std::filesystem;

struct Folder {
  Folder() {
    std::string pattern = (fs::temp_directory_path() / "strangers-XXXXXX").string();
    path = ::mkdtemp(pattern.data());
  }
  ~Folder() { fs::remove_all(path); }
  std::string operator/(const char* name) const { return (path / name).string(); }
  fs::path path;
};

std::string content(const std::string& path) {
  std::ifstream file(path);
  return {std::istreambuf_iterator<char>(file), {}};
}
void fill(const std::string& path, const std::string& text) { std::ofstream(path) << text; }

std::string masked(std::vector<std::string> words, const char* mask = nullptr) {
  std::string line;
  SecretNames names;
  if (mask != nullptr && !secret_names_of(mask, names)) return "malformed";
  for (const std::string& word : masked_arguments(std::move(words), names))
    line += (line.empty() ? "" : " ") + word;
  return line;
}

}  // namespace

TEST_CASE("names are printable") {
  CHECK(plain_text("solver é ∑ 🙂") == "solver é ∑ 🙂");
  CHECK(plain_text("a\x1b[31m\n\tb\x7f") == "a [31m  b ");
  CHECK(plain_text("a\xc2\x9b"
                   "31m") == "a 31m");  // C1
  CHECK(plain_text("a\xe2\x80\xae"
                   "b\xe2\x81\xa7") == "a b ");  // bidi
  CHECK(plain_text("a\xe2\x80\xa8") == "a ");    // a separator of lines
  CHECK(plain_text("a\xff\xc3(") == "a\xef\xbf\xbd\xef\xbf\xbd(");
  CHECK(plain_text("\x9b\xc2") == "\xef\xbf\xbd\xef\xbf\xbd");              // lone bytes
  CHECK(plain_text("\xc0\x9b") == "\xef\xbf\xbd\xef\xbf\xbd");              // too long a form
  CHECK(plain_text("\xed\xa0\x80").find("\xed") == std::string::npos);      // a surrogate
  CHECK(plain_text("\xf4\x90\x80\x80").find("\xf4") == std::string::npos);  // beyond Unicode
}

TEST_CASE("secrets in a command line are masked") {
  CHECK(masked({"app", "-n", "4", "--input", "key.dat", "in.dat"}) ==
        "app -n 4 --input key.dat in.dat");
  CHECK(masked({"app", "--password=hunter2", "x"}) == "app --password=*** x");
  CHECK(masked({"app", "--password", "hunter2", "x"}) == "app --password *** x");
  CHECK(masked({"app", "--db-passwd", "-hunter2"}) == "app --db-passwd ***");
  CHECK(masked({"app", "-pwd", "hunter2"}) == "app -pwd ***");
  CHECK(masked({"app", "--use-token", "--verbose"}) == "app --use-token --verbose");
  CHECK(masked({"app", "PASSWORD=hunter2", "DB_PASS=a=b;c"}) == "app PASSWORD=*** DB_PASS=***");
  CHECK(masked({"app", "-Ddb.password=hunter2"}) == "app -Ddb.password=***");
  CHECK(masked({"app", "--apiKey=abc", "--API_KEY", "abc"}) == "app --apiKey=*** --API_KEY ***");
  CHECK(masked({"app", "--secret-file=/x", "--accessToken:abc"}) ==
        "app --secret-file=*** --accessToken:***");
  CHECK(masked({"app", "https://user:word@host/path"}) == "app https://***@host/path");
  CHECK(masked({"app", "--url=ftp://a:b@c:1@host/"}) == "app --url=ftp://***@host/");
  CHECK(masked({"app", "https://host/?token=abc&x=1"}) == "app https://host/?token=***");
  CHECK(masked({"app", "{\"password\": \"hunter2\"}"}) == "app {\"password\":***");
  CHECK(masked({"app", "Authorization: Bearer abc"}) == "app Authorization:***");
  CHECK(masked({"sh", "-c", "app --password hunter2 x"}) == "sh -c app --password ***");
  CHECK(masked({"app", "--host=db;password=hunter2"}) == "app --host=db;password=***");
  CHECK(masked({"app", "--password"}) == "app --password");
  CHECK(masked({"app", "--monkey=1", "--tokenize"}).find("--monkey=1") != std::string::npos);
  CHECK(SecretNames().contain("privateKey"));
  CHECK(SecretNames().contain("SSL-KEY"));
  CHECK_FALSE(SecretNames().contain("monkey"));
  CHECK_FALSE(SecretNames().contain("passes"));
  // The user's own, and instead of the usual ones.
  const std::vector<std::string> words = {"app", "--License=a", "--site-id", "b", "--password=c"};
  CHECK(masked(words) == "app --License=a --site-id b --password=***");
  CHECK(masked(words, "licen[cs]e,--SITE*") == "app --License=*** --site-id *** --password=***");
  CHECK(masked(words, "off,license") == "app --License=*** --site-id b --password=c");
  CHECK(masked(words, "off") == "app --License=a --site-id b --password=c");
  for (const char* mask : {"", ",", "a,", "--", "off,"}) CHECK(masked(words, mask) == "malformed");
}

TEST_CASE("what is named is a regular file or is not read") {
  const Folder folder;
  REQUIRE(::mkfifo((folder / "pipe").c_str(), 0600) == 0);
  for (const std::string& path :
       {folder / "pipe", folder.path.string(), folder / "none", std::string("/dev/zero")}) {
    CHECK_FALSE(open_foreign(path));
    CHECK_FALSE(ForeignLines(path).good());
  }
  fill(folder / "file", "one\ntwo\n");
  REQUIRE(read_foreign(folder / "file", 8));
  CHECK(*read_foreign(folder / "file", 8) == "one\ntwo\n");
  CHECK(read_foreign(folder / "file", 7).error().kind == ErrorKind::kRefused);
  ForeignLines lines(folder / "file");
  std::string line;
  CHECK(std::getline(lines, line));
  CHECK(line == "one");
  fs::create_symlink(folder / "file", folder / "link");
  CHECK(open_foreign(folder / "link")->real_path() ==
        fs::canonical(folder.path).string() + "/file");
}

TEST_CASE("nothing is written through a link") {
  const Folder folder;
  fill(folder / "victim", "mine");
  fs::create_symlink(folder / "victim", folder / "out");
  const mode_t before = ::umask(0);
  REQUIRE(write_new_file(folder / "out", "text"));
  CHECK(content(folder / "victim") == "mine");
  CHECK(content(folder / "out") == "text");
  struct stat status {};
  REQUIRE(::lstat((folder / "out").c_str(), &status) == 0);
  CHECK(S_ISREG(status.st_mode));
  CHECK((status.st_mode & 07777) == 0644);
  fs::permissions(folder / "out", fs::perms(0600));
  REQUIRE(write_new_file(folder / "out", "again"));
  REQUIRE(::lstat((folder / "out").c_str(), &status) == 0);
  CHECK((status.st_mode & 07777) == 0600);
  fs::remove(folder / "out");
  fs::create_symlink(folder / "victim", folder / "out");
  Result<OpenFile> placed = create_in_place(folder / "out");
  REQUIRE(placed);
  CHECK(::write(placed->fd(), "raw", 3) == 3);
  CHECK(content(folder / "victim") == "mine");
  CHECK(content(folder / "out") == "raw");
  REQUIRE(::lstat((folder / "out").c_str(), &status) == 0);
  CHECK((status.st_mode & 07777) == 0644);
  ::umask(before);
}

TEST_CASE("only what was made is removed") {
  const Folder folder;
  fill(folder / "out.new", "mine");
  { NewFile left(folder / "out"); }
  CHECK_FALSE(fs::exists(folder / "out"));
  CHECK(content(folder / "out.new") == "mine");
  CHECK(std::distance(fs::directory_iterator(folder.path), fs::directory_iterator()) == 1);
  REQUIRE(::mkfifo((folder / "pipe").c_str(), 0600) == 0);
  CHECK_FALSE(write_new_file(folder / "pipe", "text"));
  CHECK_FALSE(create_in_place(folder / "pipe"));
  CHECK_FALSE(write_new_file(folder.path.string(), "text"));
  CHECK(write_new_file("/dev/null", "text"));
  CHECK(fs::is_character_file("/dev/null"));
  fill(folder / "spill", "mine");
  REQUIRE(format::PieceFile::create(folder / "spill"));
  CHECK(content(folder / "spill") == "mine");
}

}  // namespace chameleon
