// SPDX-License-Identifier: Apache-2.0
// All headers of locus::locus.
#pragma once

#include "locus/add.h"
#include "locus/attention.h"
#include "locus/attention_backward.h"
#include "locus/bias.h"
#include "locus/cache.h"
#include "locus/encoding.h"
#include "locus/error.h"
#include "locus/executor.h"
#include "locus/positions.h"
#include "locus/reference.h"
#include "locus/reference_attention.h"
#include "locus/registry.h"
#include "locus/resize.h"
#include "locus/rotate.h"
#include "locus/rows.h"
#include "locus/scaling.h"
#include "locus/settings.h"
#include "locus/stretch.h"
