// SPDX-License-Identifier: BSD-3-Clause
// Nothing but the precompiled headers that the unit tests share.
