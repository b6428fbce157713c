// SPDX-License-Identifier: BSD-3-Clause
// A small library to load and unload: calls back, so that it is on the stack.
// Built with and without a build-id, and with different contents (VARIANT).

int callpath_plugin_variant(void) { return VARIANT; }

void callpath_plugin_call(void (*callback)(void*), void* argument) {
  volatile char frame[16 * VARIANT];  // so that the variants' frames differ in size
  frame[0] = 1;
  callback(argument);
  (void)frame[0];
}
