// SPDX-License-Identifier: BSD-3-Clause
/// Names of symbols that compilers made of a program in Rust.

#include "base/rust_names.h"
#include "tools/call_sites.h"
#include "unit/catch.h"

using namespace chameleon;

namespace {

struct Known {
  const char *symbol, *name, *shortly;
};
constexpr Known kKnown[] = {
    {"_ZN4core3fmt5Write9write_fmt17h0123456789abcdefE", "core::fmt::Write::write_fmt",
     "core::fmt::Write::write_fmt()"},
    {"_ZN4heat5solve17h0123456789abcdefE.llvm.77", "heat::solve", "heat::solve()"},
    {"_ZN60_$LT$alloc..vec..Vec$LT$T$GT$$u20$as$u20$core..ops..Drop$GT$4drop17h0123456789abcdefE",
     "<alloc::vec::Vec<T> as core::ops::Drop>::drop", "alloc::vec::Vec::drop()"},
    {"_RNvCskK7mfDs1mzF_1m4main", "m::main", "m::main()"},
    {"_RNCNvCskK7mfDs1mzF_1m4mains_0B3_", "m::main::{closure#1}", "m::main::{closure#1}()"},
    {"_RINvNtCskK7mfDs1mzF_1m4deep3genThReETdcEEB4_", "m::deep::gen::<(u8, &str), (f64, char)>",
     "m::deep::gen()"},
    {"_RNvXCskK7mfDs1mzF_1mINtB2_1SKj4_EINtB2_4WorkReE4workB2_", "<m::S<4> as m::Work<&str>>::work",
     "m::S::work()"},
    {"_RNSNvYNCNvCskK7mfDs1mzF_1m4main0INtNtNtCsgEmfK2I1SDS_4core3ops8function6FnOnceTlEE9call_once"
     "6vtableB8_",
     "<m::main::{closure#0} as core::ops::function::FnOnce<(i32)>>::call_once::{shim:vtable#0}",
     "m::main::{closure#0}::call_once::{shim:vtable#0}()"},
};

}  // namespace

TEST_CASE("names of Rust have no hash, however they are mangled") {
  for (const Known& known : kKnown) {
    CHECK(rust_name(known.symbol) == known.name);
    CHECK(tools::short_function(known.name) == known.shortly);
  }
  CHECK(tools::short_function("std::vector<int> f<int>(int)") == "f()");
}

TEST_CASE("names of others are not Rust's, and damaged ones no crash") {
  for (const char* other : {"main", "_ZN3foo3barEv", "_ZN3foo17h0123456789abcdeE", "_RunLater",
                            "_R", "_RB_", "_RNvB_1a", "_RINvC1a1bB1_", "_ZN99999999999999999999"})
    CHECK_FALSE(rust_name(other));
  for (const Known& known : kKnown) {
    const std::string symbol = known.symbol;
    for (std::size_t size = 0; size < symbol.size(); ++size) rust_name(symbol.substr(0, size));
    for (std::size_t at = 0; at < symbol.size(); ++at)
      for (const char other : {'B', 'I', '9', 'E', '_', 'D'}) {
        std::string changed = symbol;
        changed[at] = other;
        rust_name(changed);
      }
  }
  CHECK_FALSE(rust_name("_RNvC1a" + std::string(1000, 'R')));
}
