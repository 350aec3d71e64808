"""Numbers that are the same everywhere and for ever: functions of a key (a text) and a shape, made of PCG64's raw output, whose
stream NumPy guarantees, by operations that are exact or rounded once. A peer's recording and the test that reads it draw the same."""
import hashlib

import numpy as np


def raw(key, count):
    """`count` random uint32."""
    seed = int.from_bytes(hashlib.sha256(key.encode()).digest()[:16], 'little')
    return np.random.PCG64(seed).random_raw((count + 1) // 2).astype('<u8', copy=False).view('<u4')[:count]


def uniform(key, shape, low, high):
    """float32 between low and high."""
    out = (raw(key, int(np.prod(shape, dtype=np.int64))) >> np.uint32(8)).astype(np.float32)  # 24 bits: exact
    out *= np.float32((high - low) * 2.0 ** -24)
    out += np.float32(low)
    return out.reshape(shape)


def normal(key, shape):
    """float32 of mean 0 and deviation 1: the sum of four uniform ones, between -3.5 and 3.5."""
    count = int(np.prod(shape, dtype=np.int64))
    total = (raw(key, 4 * count) >> np.uint32(8)).reshape(4, count).sum(0, dtype=np.int64) - (1 << 25)
    return (total * (3 ** 0.5 * 2.0 ** -24)).astype(np.float32).reshape(shape)


def integers(key, shape, low, high):
    """int64 from low to high - 1."""
    words = raw(key, int(np.prod(shape, dtype=np.int64))).astype(np.uint64)
    return (low + (words * np.uint64(high - low) >> np.uint64(32)).astype(np.int64)).reshape(shape)
