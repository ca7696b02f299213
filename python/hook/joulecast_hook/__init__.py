# SPDX-License-Identifier: Apache-2.0
"""Finds training, epochs, batches and validation in a program that was not changed, and tells `measure` (the lines are in
docs/formats/marks.md). Nothing here imports a framework: each is watched for and only touched once the program has it.

Promise: the program is neither broken nor slowed. What fails inside is one line on stderr, and that framework's marks end."""


import os

pid = os.getpid()  # of who was started; who has another one was forked


def start():
    from . import frameworks, imports  # the rest is read once there is a framework

    name = os.environ["JOULECAST_MARKS"]
    if not name.startswith("@") or len(name) < 2:
        raise ValueError(f"JOULECAST_MARKS={name} is not @NAME")
    imports.watch(frameworks.HOOKS)
