"""
Verification of Ed25519 (RFC 8032 §5.1.7). Python has none of its own, and the client is to need httpx alone. Nothing here is secret: a
verifier may take a time that depends on what it is given.
"""

from __future__ import annotations

import hashlib

P = 2**255 - 19
L = 2**252 + 27742317777372353535851937790883648493
D = -121665 * pow(121666, -1, P) % P
SQRT_MINUS_1 = pow(2, (P - 1) // 4, P)

Point = tuple[int, int, int, int]
"""Extended coordinates: X, Y, Z and T = XY/Z."""


def verify(public_key: bytes, message: bytes, signature: bytes) -> bool:
    """Whether a signature of 64 bytes is by the key of 32 bytes."""
    if len(public_key) != 32 or len(signature) != 64:
        return False
    key = _decoded(public_key)
    r, s = signature[:32], int.from_bytes(signature[32:], "little")
    # A larger one is another signature by the same equation.
    if key is None or s >= L:
        return False
    k = int.from_bytes(hashlib.sha512(r + public_key + message).digest(), "little") % L
    x, y, z, t = key
    return _encoded(_sum(_times(s, BASE), _times(k, (-x % P, y, z, -t % P)))) == r


def _sum(a: Point, b: Point) -> Point:
    e = (a[1] - a[0]) * (b[1] - b[0]) % P
    f = (a[1] + a[0]) * (b[1] + b[0]) % P
    g = 2 * a[3] * b[3] * D % P
    h = 2 * a[2] * b[2] % P
    w, x, y, z = f - e, h - g, h + g, f + e
    return w * x % P, y * z % P, x * y % P, w * z % P


def _times(factor: int, point: Point) -> Point:
    total: Point = (0, 1, 1, 0)
    while factor:
        if factor & 1:
            total = _sum(total, point)
        point = _sum(point, point)
        factor >>= 1
    return total


def _encoded(point: Point) -> bytes:
    inverse = pow(point[2], -1, P)
    x, y = point[0] * inverse % P, point[1] * inverse % P
    return (y | (x & 1) << 255).to_bytes(32, "little")


def _decoded(raw: bytes) -> Point | None:
    y = int.from_bytes(raw, "little")
    sign, y = y >> 255, y & (1 << 255) - 1
    if y >= P:
        return None
    square = (y * y - 1) * pow(D * y * y + 1, -1, P) % P
    x = pow(square, (P + 3) // 8, P)
    if (x * x - square) % P:
        x = x * SQRT_MINUS_1 % P
    if (x * x - square) % P or (x == 0 and sign):
        return None
    if x & 1 != sign:
        x = P - x
    return x, y, 1, x * y % P


def _base() -> Point:
    point = _decoded((4 * pow(5, -1, P) % P).to_bytes(32, "little"))
    assert point is not None
    return point


BASE = _base()
