# SPDX-License-Identifier: Apache-2.0
"""Rotates queries and keys in place, far into a sequence."""
import numpy as np

import locus

rope = locus.rope(head_dim=128, pairing="half", base=5e5, rule=locus.yarn(factor=4, original_length=8192))
q = np.ones((1, 6, 32, 128), np.float32)  # [batch, tokens, heads, dim]
k = np.ones((1, 6, 8, 128), np.float32)
rope.apply_(q, k, positions=1_000_000)
print(f"{rope.magnitude:.6f}")  # 1.138629: YaRN's, 0.1 ln 4 + 1

assert rope == locus.rope(head_dim=128, pairing="half", base=5e5, rule="yarn", factor=4, original_length=8192)
try:
    locus.rope(head_dim=128, pairing="half", rotary_dim=129)
except locus.Error as error:
    print(error)  # names the parameter, the value and the rule
