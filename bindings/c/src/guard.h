// SPDX-License-Identifier: Apache-2.0
// The boundary of the C API: converts exceptions to a code and a message of the calling thread.
#pragma once

#include <exception>
#include <new>
#include <stdexcept>

#include "locus.h"
#include "locus/error.h"

namespace locus::c {

/// Stores the message for locus_last_error() and returns the code. Allocates no memory, so it cannot fail.
int note(int code, const char* message) noexcept;

/// Runs `body`. Every function of the C API that can fail is one call of this.
template <class Body>
int guarded(const Body& body) noexcept {
  try {
    body();
    return LOCUS_OK;
  } catch (const Error& error) {
    return note(LOCUS_BAD_INPUT, error.what());
  } catch (const std::bad_alloc&) {
    return note(LOCUS_NO_MEMORY, "not enough memory");
  } catch (const std::length_error&) {  // a container larger than any memory
    return note(LOCUS_NO_MEMORY, "not enough memory");
  } catch (const std::exception& error) {
    return note(LOCUS_UNEXPECTED, error.what());
  } catch (...) {
    return note(LOCUS_UNEXPECTED, "unknown failure");
  }
}

}  // namespace locus::c
