# SPDX-License-Identifier: Apache-2.0
# In place of PyTorch, whose own types take mypy a minute and are not what the test is about.
from typing import Any

def __getattr__(name: str) -> Any: ...
