"""Pictures as the viewer writes them, and how alike two of them are."""

import collections
import pathlib
import struct
import zlib


class Picture:
    """An RGBA PNG of 8 bits a channel, as this program writes them."""

    def __init__(self, path):
        data = pathlib.Path(path).read_bytes()
        assert data[:8] == b"\x89PNG\r\n\x1a\n", "not a PNG"
        chunks, at = collections.defaultdict(bytes), 8
        while at < len(data):
            length, kind = struct.unpack(">I4s", data[at : at + 8])
            chunks[kind] += data[at + 8 : at + 8 + length]
            at += 12 + length
        self.width, self.height, depth, color = struct.unpack(">IIBB", chunks[b"IHDR"][:10])
        assert (depth, color) == (8, 6), "not RGBA"
        self.colors = collections.Counter()
        self.rows = []
        self._decode(zlib.decompress(chunks[b"IDAT"]))

    def _decode(self, raw):
        stride = 4 * self.width
        above = bytearray(stride)
        for y in range(self.height):
            kind = raw[y * (stride + 1)]
            row = bytearray(raw[y * (stride + 1) + 1 : (y + 1) * (stride + 1)])
            for i in range(stride):
                left = row[i - 4] if i >= 4 else 0
                corner = above[i - 4] if i >= 4 else 0
                if kind == 1:
                    row[i] = (row[i] + left) & 255
                elif kind == 2:
                    row[i] = (row[i] + above[i]) & 255
                elif kind == 3:
                    row[i] = (row[i] + (left + above[i]) // 2) & 255
                elif kind == 4:
                    guess = left + above[i] - corner
                    near = min((abs(guess - left), 0, left), (abs(guess - above[i]), 1, above[i]),
                               (abs(guess - corner), 2, corner))
                    row[i] = (row[i] + near[2]) & 255
            self.colors.update(zip(row[0::4], row[1::4], row[2::4]))
            self.rows.append(row)
            above = row

    def share_near(self, color, distance=30):
        """Share of pixels whose channels are each near the color's."""
        near = sum(n for c, n in self.colors.items()
                   if all(abs(a - b) <= distance for a, b in zip(c, color)))
        return near / (self.width * self.height)

    def blocks(self, size):
        """Mean colour of each block of size × size pixels, row by row."""
        means = []
        for top in range(0, self.height - size + 1, size):
            band = self.rows[top : top + size]
            for left in range(0, 4 * (self.width - size + 1), 4 * size):
                parts = [row[left : left + 4 * size] for row in band]
                means.append(tuple(sum(sum(part[channel::4]) for part in parts) / size**2
                                   for channel in range(3)))
        return means

    def share_unlike(self, other, size=10, distance=24):
        """Share of blocks whose mean colours differ: letters drawn otherwise make none, a row
        that moved does."""
        mine, others = self.blocks(size), other.blocks(size)
        unlike = sum(any(abs(a - b) > distance for a, b in zip(left, right))
                     for left, right in zip(mine, others))
        return unlike / max(1, len(mine))
