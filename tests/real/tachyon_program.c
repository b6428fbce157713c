// SPDX-License-Identifier: BSD-3-Clause
// Renders three small frames of a scene with Tachyon's library for MPI, which sends rows of the
// picture by persistent requests, and prints a checksum of each.
#include <stdio.h>
#include <stdlib.h>
#include <tachyon.h>

enum { kWidth = 48, kHeight = 48, kFrames = 3 };

int main(int argc, char** argv) {
  static unsigned char picture[kWidth * kHeight * 3];
  const int rank = rt_initialize(&argc, &argv);
  for (int frame = 0; frame < kFrames; ++frame) {
    SceneHandle scene = rt_newscene();
    rt_resolution(scene, kWidth, kHeight);
    rt_verbose(scene, 0);
    rt_rawimage_rgb24(scene, picture);
    const apivector camera = {0, 0, -5}, ahead = {0, 0, 1}, up = {0, 1, 0};
    rt_camera_setup(scene, 1, 1, 0, 2, camera, ahead, up);
    apitexture texture = {0};
    texture.col.r = texture.col.g = 1;
    texture.shadowcast = 1;
    texture.ambient = 0.2;
    texture.diffuse = 0.8;
    texture.opacity = 1;
    void* surface = rt_texture(scene, &texture);
    for (int i = 0; i < 3; ++i) {
      const apivector center = {i - 1.0, 0.2 * frame, i};
      rt_sphere(scene, surface, center, 0.6);
    }
    const apivector light = {-5, 5, -5};
    rt_light(scene, surface, light, 0.1);
    rt_renderscene(scene);
    unsigned sum = 0;
    for (unsigned i = 0; i < sizeof picture; ++i) sum = sum * 31 + picture[i];
    if (rank == 0) printf("frame %d: %u\n", frame, sum);
    rt_deletescene(scene);
  }
  rt_finalize();
  return 0;
}
