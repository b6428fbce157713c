// SPDX-License-Identifier: BSD-3-Clause
#include "tools/png.h"

#include <png.h>

#include "base/new_file.h"

namespace chameleon::tools {

Status write_png(const std::string& path, std::uint32_t width, std::uint32_t height,
                 const std::vector<std::uint8_t>& pixels, const std::vector<Colour>& palette) {
  png_image image{};
  image.version = PNG_IMAGE_VERSION;
  image.width = width;
  image.height = height;
  image.format = PNG_FORMAT_RGB_COLORMAP;
  image.colormap_entries = static_cast<png_uint_32>(palette.size());
  const int row = 0;  // they follow each other
  const auto failed = [&] {
    return Error{ErrorKind::kSystem, path + ": cannot be written: " + image.message, 0};
  };
  png_alloc_size_t size = 0;
  if (png_image_write_to_memory(&image, nullptr, &size, 0, pixels.data(), row, palette.data()) == 0)
    return failed();
  std::string file(size, 0);
  if (png_image_write_to_memory(&image, file.data(), &size, 0, pixels.data(), row,
                                palette.data()) == 0)
    return failed();
  file.resize(size);
  return write_new_file(path, file);
}

}  // namespace chameleon::tools
