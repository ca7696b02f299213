# SPDX-License-Identifier: Apache-2.0
"""Calls of other tools, answered by joulecast."""
from . import dippm

__all__ = ["dippm"]
