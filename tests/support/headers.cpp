// SPDX-License-Identifier: Apache-2.0
// Compiles the precompiled headers of all tests.
