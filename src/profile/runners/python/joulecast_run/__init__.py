# SPDX-License-Identifier: Apache-2.0
"""Runners in Python for `joulecast profile` (docs/formats/runner.md): what they share, and what each does its own way."""
