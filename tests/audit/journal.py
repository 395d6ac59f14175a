"""Reads a journal by journal/FORMAT.md: segments, batches, frames, records. Believes nothing."""

import os
import re
import struct
from dataclasses import dataclass

from blake3 import blake3

PAGE = 4096
BATCH_HEADER = 128
FRAME_HEADER, COMMAND, EVENT = 24, 128, 48


class Damaged(Exception):
    """The bytes are not those of a sound journal."""


class Torn(Damaged):
    """What a crash may leave behind the proven point."""


def _crc_table():
    table = []
    for byte in range(256):
        crc = byte
        for _ in range(8):
            crc = crc >> 1 ^ (0x82F63B78 if crc & 1 else 0)
        table.append(crc)
    return table


CRC_TABLE = _crc_table()


def crc32c(data):
    """The Castagnoli checksum."""
    crc = 0xFFFFFFFF
    for byte in data:
        crc = CRC_TABLE[(crc ^ byte) & 0xFF] ^ crc >> 8
    return crc ^ 0xFFFFFFFF


def sound(holds, text, damage=Damaged):
    """Refuses what does not hold."""
    if not holds:
        raise damage(text)


@dataclass
class Segment:
    """A segment's header, and its file."""

    number: int
    epoch: int
    first: int
    size: int
    previous_end: int
    previous_hash: bytes
    genesis: bytes
    data: bytes


@dataclass
class Watermark:
    """Up to where the journal is known to be on the disk."""

    count: int
    sequence: int
    segment: int
    end: int
    hash: bytes
    genesis: bytes


@dataclass
class Frame:
    """A frame whose lengths add up."""

    sequence: int
    time: int
    command: bytes
    events: list
    evidence: bytes
    operator: int


class Journal:
    """A directory of segments. `hashes` says whether the chain is recomputed: it is slow."""

    def __init__(self, directory, hashes=True):
        self.directory, self.hashes = directory, hashes
        self.genesis = self.hash = None
        self.last = 0
        # Before the segments, which may be growing.
        self.mark = read_watermark(directory)

    def segments(self):
        """The headers in order, each checked against the one before."""
        names = sorted(name for name in os.listdir(self.directory) if re.fullmatch(r"\d{8}\.segment", name))
        sound(names, "no segment")
        for number, name in enumerate(names, 1):
            sound(name == f"{number:08}.segment", f"segment {number} is missing")
            yield read_segment(self.read(number), number)

    def read(self, number):
        """A segment's bytes."""
        with open(os.path.join(self.directory, f"{number:08}.segment"), "rb") as file:
            return file.read()

    def frames(self):
        """Every frame, from the first to the last of the last sound batch."""
        segments = list(self.segments())
        self.genesis = segments[0].genesis
        self.hash, self.last, time = blake3(self.genesis), 0, 0
        for segment, following in zip(segments, [*segments[1:], None]):
            sound(segment.genesis == self.genesis, f"segment {segment.number} is of another journal")
            sound(segment.previous_hash == self.hash, f"segment {segment.number} does not follow (chain)")
            sound(segment.first == self.last + 1, f"segment {segment.number} does not follow (sequence)")
            self.look_at_mark(segment.number, PAGE)
            for payload in self.batches(segment, following and following.previous_end):
                for frame in read_frames(payload):
                    sound(frame.sequence == self.last + 1, f"sequence {frame.sequence} after {self.last}")
                    sound(frame.time >= time, f"time goes back at sequence {frame.sequence}")
                    self.last, time = frame.sequence, frame.time
                    yield frame
        sound(self.mark is None, "the watermark names a batch that is not there")

    def look_at_mark(self, segment, at):
        """The watermark's point is a boundary between batches, with its sequence and hash."""
        mark = self.mark
        if mark and (mark.segment, mark.end) == (segment, at):
            same = (mark.sequence, mark.genesis, mark.hash) == (self.last, self.genesis, self.hash)
            sound(same, f"the watermark names another batch before byte {at} of segment {segment}")
            self.mark = None

    def batches(self, segment, end):
        """The payloads of a segment: up to a known end, else up to the first unsound batch."""
        at = PAGE
        while end is None or at < end:
            try:
                payload, hash_, total = self.batch(segment, at)
            except Torn:
                if end is not None:
                    raise
                proven = later_proof(segment, at)
                if proven <= self.last:
                    return
                # Of an engine that runs, the end may have been read after what stands here was looked at.
                before, segment.data = segment.data, self.read(segment.number)
                sound(segment.data != before, f"segment {segment.number}: the batch at {at}, whose frames were on the disk")
                continue
            first = self.last + 1
            yield payload
            count = struct.unpack_from("<I", segment.data, at + 12)[0]
            sound(self.last == first + count - 1, f"the batch at {at} holds other sequences than it says")
            self.hash, at = hash_, at + total
            self.look_at_mark(segment.number, at)
        sound(at == end, f"segment {segment.number} does not end at a batch")

    def batch(self, segment, at):
        """One batch: payload, hash, bytes it takes."""
        where = f"segment {segment.number}, batch at {at}"
        head = segment.data[at : at + BATCH_HEADER]
        sound(len(head) == BATCH_HEADER and head[:8] == b"FRTLBTCH", f"{where}: nothing is there", Torn)
        blank = head[:64] + bytes(4) + head[68:]
        (version, zero, frames, size, number, offset, zero2, epoch, first, last, proven, crc, payload_crc) = (
            struct.unpack_from("<HHIIIIIQQQQII", head, 8)
        )
        sound(crc32c(blank) == crc, f"{where}: header checksum", Torn)
        sound((version, zero, zero2) == (1, 0, 0) and not any(head[72:96]), f"{where}: header")
        sound((number, offset, epoch) == (segment.number, at, segment.epoch), f"{where}: another place")
        total = -(-(BATCH_HEADER + size) // PAGE) * PAGE
        payload = segment.data[at + BATCH_HEADER : at + BATCH_HEADER + size]
        sound(len(payload) == size and crc32c(payload) == payload_crc, f"{where}: payload checksum", Torn)
        sound(not any(segment.data[at + BATCH_HEADER + size : at + total]), f"{where}: padding", Torn)
        sound((first, last) == (self.last + 1, self.last + frames), f"{where}: sequences")
        sound(proven < first, f"{where}: proven")
        if self.hashes:
            bare = head[:64] + bytes(64)
            sound(blake3(self.hash + bare + payload) == head[96:], f"{where}: hash chain")
        return payload, head[96:], total


def read_segment(data, number):
    """A segment's header page."""
    where = f"segment {number}"
    sound(len(data) >= PAGE and data[:8] == b"FRTLSEGM", f"{where}: no header")
    sound(crc32c(data[: PAGE - 4]) == struct.unpack_from("<I", data, PAGE - 4)[0], f"{where}: header checksum")
    version, zero, named, epoch, first, size, end = struct.unpack_from("<HHIQQII", data, 8)
    sound((version, zero, named) == (1, 0, number) and not any(data[104 : PAGE - 4]), f"{where}: header")
    sound(len(data) == size, f"{where}: the file is {len(data)} bytes, its header says {size}")
    return Segment(named, epoch, first, size, end, data[40:72], data[72:104], data)


def read_watermark(directory):
    """The newer of the sound slots; None where there is no file, as beside segments that were copied alone."""
    try:
        with open(os.path.join(directory, "watermark"), "rb") as file:
            data = file.read(2 * PAGE)
    except FileNotFoundError:
        return None
    slots = []
    for page in (data[:PAGE], data[PAGE:]):
        if len(page) == PAGE and page[:8] == b"FRTLMARK" and crc32c(page[:-4]) == struct.unpack_from("<I", page, PAGE - 4)[0]:
            count, _, sequence, segment, end = struct.unpack_from("<QQQII", page, 16)
            slots.append(Watermark(count, sequence, segment, end, page[48:80], page[80:112]))
    sound(slots, "the watermark: both slots are damaged")
    return max(slots, key=lambda slot: slot.count)


def later_proof(segment, at):
    """The highest sequence that a sound batch header from here on says was on the disk already."""
    proof = 0
    while at < len(segment.data):
        head = segment.data[at : at + BATCH_HEADER]
        at += PAGE
        if len(head) < BATCH_HEADER or head[:8] != b"FRTLBTCH":
            continue
        size, number, offset = struct.unpack_from("<III", head, 16)
        epoch, proven, crc = (struct.unpack_from(form, head, place)[0] for form, place in (("<Q", 32), ("<Q", 56), ("<I", 64)))
        named = (number, offset, epoch) == (segment.number, at - PAGE, segment.epoch)
        if named and crc32c(head[:64] + bytes(4) + head[68:]) == crc:
            proof = max(proof, proven)
            # What lies inside a batch is no header.
            at += (BATCH_HEADER + size - 1) // PAGE * PAGE
    return proof


def read_frames(payload):
    """The frames of a batch."""
    at = 0
    while at < len(payload):
        sound(len(payload) - at >= FRAME_HEADER + COMMAND + 8, "a frame is cut")
        length, kind, version, sequence, time = struct.unpack_from("<IHHQQ", payload, at)
        where = f"frame {sequence}"
        sound((kind, version) == (1, 1) and length % 8 == 0 and at + length <= len(payload), f"{where}: header")
        sound(length >= FRAME_HEADER + COMMAND + 12, f"{where}: length")
        frame = payload[at : at + length]
        count, operator, touched = struct.unpack_from("<IHH", frame, FRAME_HEADER + COMMAND)
        events_at = FRAME_HEADER + COMMAND + 8
        evidence_at = events_at + EVENT * count
        sound(touched <= 4096 and count <= 8256 and evidence_at + 4 <= length, f"{where}: events")
        size = struct.unpack_from("<I", frame, evidence_at)[0]
        end = evidence_at + 4 + size
        sound(size <= 65536 and -(-end // 8) * 8 == length and not any(frame[end:]), f"{where}: evidence")
        events = [frame[at_ : at_ + EVENT] for at_ in range(events_at, evidence_at, EVENT)]
        yield Frame(sequence, time, frame[FRAME_HEADER : FRAME_HEADER + COMMAND], events, frame[evidence_at + 4 : end], operator)
        at += length
