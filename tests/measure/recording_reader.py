# SPDX-License-Identifier: Apache-2.0
"""Reads recordings after docs/formats/recording.md, as an independent program would; sums are not checked."""

import json
import struct

MARK = 0xA9464A9D
HEAD, CHANNEL, READINGS, ABSENCE, EVENT, CLOCKS, NOTE, END = range(1, 9)


class Unpacker:
    def __init__(self, data):
        self.data, self.at = data, 0

    def varint(self):
        value, shift = 0, 0
        while True:
            byte = self.data[self.at]
            self.at += 1
            value |= (byte & 0x7F) << shift
            if byte < 0x80:
                return value
            shift += 7

    def signed(self):
        bits = self.varint()
        value = (bits >> 1) ^ -(bits & 1)
        return value

    def text(self):
        size = self.varint()
        self.at += size
        return self.data[self.at - size : self.at].decode()

    def rest(self):
        return self.data[self.at :]


class Recording:
    """`readings` has for each channel a list of (microseconds, value in steps)."""

    def __init__(self, data):
        self.head, self.end, self.channels, self.readings = {}, None, [], []
        self.events, self.clocks, self.notes = [], [], []
        assert data[:8] == b"JCRUN\r\n\x1a", data[:8]
        at = 16
        while at + 16 <= len(data):
            mark, kind, size, _ = struct.unpack_from("<4I", data, at)
            if mark != MARK or at + 16 + size > len(data):
                break
            self.take(kind, Unpacker(data[at + 16 : at + 16 + size]))
            at += 16 + size
        self.cut_off = len(data) - at

    def take(self, kind, payload):
        if kind == HEAD:
            self.head.update(json.loads(payload.rest()))
        elif kind == CHANNEL:
            assert payload.varint() == len(self.channels)
            self.channels.append(json.loads(payload.rest()))
            self.readings.append([])
        elif kind == READINGS:
            self.take_readings(payload)
        elif kind == EVENT:
            time, what, track = payload.signed(), payload.varint(), payload.signed()
            self.events.append((time, ("begin", "end", "mark")[what], track, payload.text(), payload.text()))
        elif kind == CLOCKS:
            self.clocks.append((payload.signed(), payload.signed()))
        elif kind == NOTE:
            self.notes.append(payload.rest().decode())
        elif kind == END:
            self.end = json.loads(payload.rest())

    def take_readings(self, payload):
        channel, count = payload.varint(), payload.varint()
        time = value = step = 0
        for i in range(count):
            if i == 0:
                time, value = payload.signed(), payload.signed()
            else:
                step += payload.signed()
                time += step
                value += payload.signed()
            self.readings[channel].append((time, value))

    def last_reading(self):
        return max((series[-1][0] for series in self.readings if series), default=None)


def read(path):
    with open(path, "rb") as file:
        return Recording(file.read())
