# SPDX-License-Identifier: Apache-2.0
"""Types in signatures."""
from typing import Any, Literal

from numpy.typing import NDArray

Array = NDArray[Any]
Role = Literal["query", "key"]
