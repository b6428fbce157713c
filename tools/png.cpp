// SPDX-License-Identifier: BSD-3-Clause
#include "tools/png.h"

#include <algorithm>
#include <string_view>

#include "tools/export/text_file.h"

namespace chameleon::tools {
namespace {

void big_endian(std::string& to, std::uint32_t value) {
  for (int shift = 24; shift >= 0; shift -= 8) to += static_cast<char>(value >> shift);
}

std::uint32_t checksum(std::string_view bytes) {
  static const std::array<std::uint32_t, 256> kTable = [] {
    std::array<std::uint32_t, 256> table{};
    for (std::uint32_t i = 0; i < table.size(); ++i) {
      std::uint32_t value = i;
      for (int bit = 0; bit < 8; ++bit)
        value = (value & 1) != 0 ? 0xedb88320U ^ (value >> 1) : value >> 1;
      table[i] = value;
    }
    return table;
  }();
  std::uint32_t sum = 0xffffffffU;
  for (const char byte : bytes)
    sum = kTable[(sum ^ static_cast<std::uint8_t>(byte)) & 255] ^ (sum >> 8);
  return ~sum;
}

void chunk(std::string& to, std::string_view type, const std::string& data) {
  big_endian(to, static_cast<std::uint32_t>(data.size()));
  std::string body(type);
  body += data;
  to += body;
  big_endian(to, checksum(body));
}

/// A zlib stream (RFC 1950) of stored blocks (RFC 1951).
std::string stored(const std::string& bytes) {
  constexpr std::size_t kMostInBlock = 65535;
  std::string stream = "\x78\x01";
  std::uint32_t a = 1, b = 0;  // Adler-32
  for (const char byte : bytes) {
    a = (a + static_cast<std::uint8_t>(byte)) % 65521;
    b = (b + a) % 65521;
  }
  for (std::size_t at = 0; at < bytes.size(); at += kMostInBlock) {
    const std::size_t size = std::min(kMostInBlock, bytes.size() - at);
    stream += at + size == bytes.size() ? '\1' : '\0';
    for (const std::size_t length : {size, ~size & 0xffff}) {
      stream += static_cast<char>(length & 255);
      stream += static_cast<char>(length >> 8);
    }
    stream.append(bytes, at, size);
  }
  big_endian(stream, b << 16 | a);
  return stream;
}

}  // namespace

Status write_png(const std::string& path, std::uint32_t width, std::uint32_t height,
                 const std::vector<std::uint8_t>& pixels, const std::vector<Colour>& palette) {
  std::string header;
  big_endian(header, width);
  big_endian(header, height);
  header += std::string("\x08\x03\0\0\0", 5);  // 8 bits, by palette
  std::string colours, rows;
  for (const Colour& colour : palette)
    for (const std::uint8_t part : colour) colours += static_cast<char>(part);
  for (std::size_t row = 0; row < height; ++row) {
    rows += '\0';  // no filter
    for (std::size_t column = 0; column < width; ++column)
      rows += static_cast<char>(pixels[row * width + column]);
  }
  std::string text("\x89PNG\r\n\x1a\n");
  chunk(text, "IHDR", header);
  chunk(text, "PLTE", colours);
  chunk(text, "IDAT", stored(rows));
  chunk(text, "IEND", "");
  TextFile file(path);
  file << text;
  return file.close();
}

}  // namespace chameleon::tools
