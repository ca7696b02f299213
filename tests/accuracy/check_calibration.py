#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The calibration file beside the pack is the one the pack was made with: check_calibration.py PACK CALIBRATION"""

import json
import pathlib
import sys

pack, calibration = (pathlib.Path(path) for path in sys.argv[1:3])
text = pack.read_bytes()
begin = text.index(b'{\n "schema": "joulecast.pack-report/1"')
report = json.JSONDecoder().raw_decode(text[begin:].decode("utf-8", "replace"))[0]
if report.get("calibration") != json.loads(calibration.read_text()):
    sys.exit(f"{calibration} is not what {pack} was calibrated with; train it again with --calibration")
