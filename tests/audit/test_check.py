"""Known answers of what the checker stands on, and that it refuses what is wrong."""

import pathlib
import struct
import tempfile
import unittest
from types import SimpleNamespace as Event

import records
from blake3 import blake3
from journal import PAGE, Damaged, Journal, crc32c, read_frames
from ledger import BUY, QUOTE, Contradiction, Ledger, Market, Order

GOLDEN = pathlib.Path(__file__).parents[2] / "journal" / "tests" / "golden"

# Of the published test vectors: bytes 0, 1, … 250, 0, … of these lengths.
VECTORS = {
    0: "af1349b9f5f9a1a6a0404dea36dcc9499bcb25c9adc112b7cc9a93cae41f3262",
    1: "2d3adedff11b61f14c886e35afa036736dcd87a74d27b5c1510225d0f592e213",
    1023: "10108970eeda3eb932baac1428c7a2163b0e924c9a9e25b35bba72b28f70bd11",
    1024: "42214739f095a406f3fc83deb889744ac00df831c10daa55189b5d121c855af7",
    1025: "d00278ae47eb27b34faecf67b4fe263f82d5412916c1ffd97c8cb7fb814b8444",
    2048: "e776b6028c7cd22a4d0ba182a8bf62205d2ef576467e838ed6f2529b85fba24a",
    2049: "5f4d72f40d7a5f82b15ca2b2e44b1de3c2ef86c426c95c1af0b6879522563030",
    3072: "b98cb0ff3623be03326b373de6b9095218513e64f1ee2edd2525c7ad1e5cffd2",
    5121: "628bd2cb2004694adaab7bbd778a25df25c47b9d4155a55f8fbd79f2fe154cff",
}


class Hashes(unittest.TestCase):
    def test_blake3_gives_the_published_answers(self):
        for length, expected in VECTORS.items():
            data = bytes(index % 251 for index in range(length))
            self.assertEqual(blake3(data).hex(), expected, length)

    def test_blake3_gives_the_receipt_of_the_golden_frame(self):
        frame = bytes.fromhex("".join((GOLDEN / "frame_v1.golden").read_text().split()))
        receipt = "".join((GOLDEN / "frame_v1_receipt.golden").read_text().split())
        self.assertEqual(blake3(frame).hex(), receipt)

    def test_crc32c_gives_the_check_value(self):
        self.assertEqual(crc32c(b"123456789"), 0xE3069283)


class Journals(unittest.TestCase):
    """A journal of two batches, each of the golden frame with a sequence of its own."""

    GENESIS = bytes(range(32))

    def setUp(self):
        self.directory = tempfile.TemporaryDirectory()
        self.addCleanup(self.directory.cleanup)
        self.hash = blake3(self.GENESIS)
        head = struct.pack("<8sHHIQQII", b"FRTLSEGM", 1, 0, 1, 1, 1, 5 * PAGE, 0) + self.hash + self.GENESIS
        self.data = bytearray(self.closed(head))
        for sequence in (1, 2):
            self.data += self.batch(sequence, len(self.data))
        self.end = len(self.data)
        self.data += bytes(5 * PAGE - self.end)

    def closed(self, page):
        page = page.ljust(PAGE - 4, b"\0")
        return page + struct.pack("<I", crc32c(page))

    def batch(self, sequence, at):
        frame = bytearray.fromhex("".join((GOLDEN / "frame_v1.golden").read_text().split()))
        struct.pack_into("<Q", frame, 8, sequence)
        head = struct.pack("<8sHHIIIIIQQQQ", b"FRTLBTCH", 1, 0, 1, len(frame), 1, at, 0, 1, sequence, sequence, sequence - 1)
        self.hash = blake3(self.hash + head + bytes(64) + frame)
        crcs = struct.pack("<II", crc32c(head + bytes(4) + struct.pack("<I", crc32c(frame)) + bytes(24) + self.hash), crc32c(frame))
        return (head + crcs + bytes(24) + self.hash + frame).ljust(PAGE, b"\0")

    def marked(self, sequence=2, hash_=None):
        slot = struct.pack("<8sH6xQQQII", b"FRTLMARK", 1, 1, 1, sequence, 1, self.end) + (hash_ or self.hash) + self.GENESIS
        return bytes(PAGE) + self.closed(slot)

    def sequences(self, mark=None):
        folder = pathlib.Path(self.directory.name)
        (folder / "00000001.segment").write_bytes(self.data)
        if mark:
            (folder / "watermark").write_bytes(mark)
        return [frame.sequence for frame in Journal(folder).frames()]

    def test_a_sound_journal_is_read_with_its_watermark_and_without(self):
        self.assertEqual(self.sequences(), [1, 2])
        self.assertEqual(self.sequences(self.marked()), [1, 2])

    def test_the_watermark_must_name_a_batch_that_is_there(self):
        for mark in (self.marked(sequence=1), self.marked(hash_=bytes(32)), bytes(2 * PAGE)):
            with self.assertRaises(Damaged):
                self.sequences(mark)

    def test_a_last_batch_that_is_torn_is_the_end_unless_the_watermark_names_it(self):
        self.data[self.end - PAGE + 200] ^= 1
        self.assertEqual(self.sequences(), [1])
        with self.assertRaises(Damaged):
            self.sequences(self.marked())

    def test_a_batch_that_a_later_one_proves_is_never_torn(self):
        self.data[PAGE + 200] ^= 1
        with self.assertRaises(Damaged):
            self.sequences()


class Records(unittest.TestCase):
    def frame(self):
        return bytes.fromhex("".join((GOLDEN / "frame_v1.golden").read_text().split()))

    def test_the_golden_frame_is_read(self):
        (frame,) = read_frames(self.frame())
        self.assertEqual([event[0] for event in frame.events], [1, 3])
        order = Ledger().placed(records.read(records.COMMANDS, frame.command), frame.sequence)
        self.assertEqual((order.account, order.market, order.outcome, order.side), (0x0101, 0x0303, 1, 1))

    def test_a_frame_of_a_newer_version_is_refused(self):
        frame = bytearray(self.frame())
        struct.pack_into("<H", frame, 6, 2)
        with self.assertRaises(Damaged):
            list(read_frames(bytes(frame)))

    def test_a_delayed_order_sets_aside_what_it_may_spend(self):
        ledger = Ledger()
        ledger.account_opened(Event(account=0, wallet=bytes(20)))
        ledger.deposited(Event(account=0, amount=50))
        order = Order("0x", number=7, account=0, market=0, outcome=0, side=0)
        ledger.order_delayed(Event(reserved=30), own=order)
        self.assertEqual((ledger.accounts[0].free, ledger.accounts[0].reserved), (20, 30))
        ledger.check()
        released = Event(order=7)
        self.assertIs(ledger.released(released), order)
        self.assertEqual((ledger.accounts[0].free, ledger.accounts[0].reserved), (50, 0))
        with self.assertRaises(Contradiction):
            ledger.released(released)

    def test_a_quote_has_the_terms_of_its_word_and_several_rest_in_one_frame(self):
        ledger = Ledger()
        ledger.account_opened(Event(account=0, wallet=bytes(20)))
        ledger.deposited(Event(account=0, amount=900_000))
        ledger.markets = [Market("0x", None, 0), Market("0x", None, 0)]
        word = struct.pack(">HBBIQB", 1, 1, BUY, 4_000, 30, 0).ljust(32, b"\0")
        tail = struct.pack("<II", 0, 1) + word + word
        command = Event(record="SetQuotes", account=0, conditions=2, quotes=2, digest=bytes([7] * 32))
        frame = Event(sequence=9, evidence=tail)
        for index in (0, 1):
            ledger.opened(ledger.quoted(9 + index * QUOTE, command, frame), 30)
        quote = ledger.orders[9 + QUOTE]
        self.assertEqual((quote.market, quote.outcome, quote.side, quote.price), (1, 1, BUY, 4_000))
        self.assertEqual(quote.id, "0x" + "07" * 31 + "01")
        self.assertEqual((ledger.accounts[0].free, ledger.accounts[0].reserved), (660_000, 240_000))
        ledger.check()
        # Placed twice, of another frame, and of no word.
        for number in (9, 8 + QUOTE, 9 + 2 * QUOTE):
            with self.assertRaises(Contradiction):
                ledger.quoted(number, command, frame)
        with self.assertRaises(Contradiction):
            ledger.quoted(9 + 2 * QUOTE, Event(record="Continue"), frame)

    def test_lengths_that_do_not_add_up_are_refused(self):
        for at, value in [(0, 8), (4, 2), (152, 5), (156, 5000 << 16)]:
            frame = bytearray(self.frame())
            struct.pack_into("<I", frame, at, value)
            with self.assertRaises((Damaged, struct.error)):
                list(read_frames(bytes(frame)))

    def test_a_fill_of_an_order_that_is_not_open_does_not_add_up(self):
        (frame,) = read_frames(self.frame())
        with self.assertRaises(Contradiction):
            Ledger().apply(frame)

    def test_money_that_came_from_nowhere_does_not_add_up(self):
        ledger = Ledger()
        ledger.account_opened(Event(account=0, wallet=bytes(20)))
        ledger.deposited(Event(account=0, amount=5))
        ledger.check()
        ledger.accounts[0].free += 1
        with self.assertRaises(Contradiction):
            ledger.check()

    def test_only_a_sandbox_moves_its_clock_and_has_orders_of_operators(self):
        begin = Event(record="Begin", sandbox=1)
        for command, operator in ((Event(record="MoveClock"), 1), (Event(record="PlaceOrder"), 1)):
            ledger, frame = Ledger(), Event(sequence=2, operator=operator)
            with self.assertRaises(Contradiction):
                ledger.of_sandbox(command, frame)
            with self.assertRaises(Contradiction):
                ledger.of_sandbox(begin, frame)
            ledger.of_sandbox(begin, Event(sequence=1, operator=0))
            ledger.of_sandbox(command, frame)
        Ledger().of_sandbox(Event(record="PlaceOrder"), Event(sequence=1, operator=0))

    def test_a_decided_event_has_no_open_question(self):
        ledger = Ledger()
        ledger.event_registered(Event(event=0, id=7, outside=0))
        for number in (1, 2):
            registered = Event(market=number, condition=bytes(32), question=number - 1)
            ledger.market_registered(registered, command=Event(event=0))
        ledger.check()
        for number, payout in ((1, 0), (0, 1)):
            ledger.market_resolved(Event(market=number, payout=payout))
        with self.assertRaises(Contradiction):
            ledger.check()
        ledger.market_resolved(Event(market=2, payout=1))
        ledger.check()


if __name__ == "__main__":
    unittest.main()
