"""BLAKE3, the plain 32-byte hash, from its specification. Slow, and nothing but the standard library."""

import struct

IV = (0x6A09E667, 0xBB67AE85, 0x3C6EF372, 0xA54FF53A, 0x510E527F, 0x9B05688C, 0x1F83D9AB, 0x5BE0CD19)
PERMUTATION = (2, 6, 3, 10, 7, 0, 4, 13, 1, 11, 12, 5, 9, 14, 15, 8)
CHUNK, BLOCK = 1024, 64
CHUNK_START, CHUNK_END, PARENT, ROOT = 1, 2, 4, 8
MASK = 0xFFFFFFFF
COLUMNS = ((0, 4, 8, 12), (1, 5, 9, 13), (2, 6, 10, 14), (3, 7, 11, 15))
DIAGONALS = ((0, 5, 10, 15), (1, 6, 11, 12), (2, 7, 8, 13), (3, 4, 9, 14))
LANES = COLUMNS + DIAGONALS


def _schedule():
    """The order of the message words in each of the seven rounds."""
    order, rounds = list(range(16)), []
    for _ in range(7):
        rounds.append(tuple(order))
        order = [order[place] for place in PERMUTATION]
    return rounds


SCHEDULE = _schedule()


def _compress(chaining, words, counter, length, flags):
    state = [*chaining, *IV[:4], counter & MASK, counter >> 32, length, flags]
    for order in SCHEDULE:
        for lane, (a, b, c, d) in enumerate(LANES):
            x, y = words[order[2 * lane]], words[order[2 * lane + 1]]
            sa, sb, sc, sd = state[a], state[b], state[c], state[d]
            sa = (sa + sb + x) & MASK
            sd ^= sa
            sd = (sd >> 16 | sd << 16) & MASK
            sc = (sc + sd) & MASK
            sb ^= sc
            sb = (sb >> 12 | sb << 20) & MASK
            sa = (sa + sb + y) & MASK
            sd ^= sa
            sd = (sd >> 8 | sd << 24) & MASK
            sc = (sc + sd) & MASK
            sb ^= sc
            sb = (sb >> 7 | sb << 25) & MASK
            state[a], state[b], state[c], state[d] = sa, sb, sc, sd
    return [state[place] ^ state[place + 8] for place in range(8)]


def _chunk(data, counter, last_flags):
    chaining = list(IV)
    blocks = max(1, -(-len(data) // BLOCK))
    for index in range(blocks):
        block = data[index * BLOCK : (index + 1) * BLOCK]
        flags = CHUNK_START if index == 0 else 0
        if index == blocks - 1:
            flags |= CHUNK_END | last_flags
        words = struct.unpack("<16I", block.ljust(BLOCK, b"\0"))
        chaining = _compress(chaining, words, counter, len(block), flags)
    return chaining


def _tree(data, counter, flags):
    """The chaining value of a subtree; its left part is the largest power of two of whole chunks."""
    if len(data) <= CHUNK:
        return _chunk(data, counter, flags)
    left = CHUNK
    while 2 * left < len(data):
        left *= 2
    words = _tree(data[:left], counter, 0) + _tree(data[left:], counter + left // CHUNK, 0)
    return _compress(IV, words, 0, BLOCK, PARENT | flags)


def blake3(data):
    """The hash of some bytes."""
    return struct.pack("<8I", *_tree(bytes(data), 0, ROOT))
