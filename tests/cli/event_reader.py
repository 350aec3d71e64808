"""Reads TensorBoard event files, from the formats' definitions alone (record_writer.cc, event.proto, summary.proto): nothing of the
writer's is used. Standard library only."""
import os
import struct
from collections import namedtuple

CRC_TABLE = []
for byte in range(256):
    for _ in range(8):
        byte = byte >> 1 ^ (0x82f63b78 if byte & 1 else 0)
    CRC_TABLE.append(byte)

Event = namedtuple('Event', 'time step version values start')  # values: (tag, number or Histogram); start: of a session
Histogram = namedtuple('Histogram', 'least most num sum sum_squares limits counts')


def masked_crc(data):
    """CRC32C of the bytes, turned right by 15 bits, plus a constant."""
    crc = 0xffffffff
    for byte in data:
        crc = crc >> 8 ^ CRC_TABLE[(crc ^ byte) & 0xff]
    crc ^= 0xffffffff
    return ((crc >> 15 | crc << 17) + 0xa282ead8) & 0xffffffff


def records(data):
    """Each one's bytes; ValueError for one that is cut or has a wrong checksum."""
    at = 0
    while at < len(data):
        head = data[at:at + 12]
        if len(head) < 12 or struct.unpack('<I', head[8:])[0] != masked_crc(head[:8]):
            raise ValueError('wrong length of the record at %d' % at)
        length = struct.unpack('<Q', head[:8])[0]
        body, end = data[at + 12:at + 12 + length], data[at + 12 + length:at + 16 + length]
        if len(end) < 4 or struct.unpack('<I', end)[0] != masked_crc(body):
            raise ValueError('wrong checksum of the record at %d' % at)
        yield body
        at += 16 + length


def fields(message):
    """Protobuf: pairs of number and value, of numbers their bits."""
    at = 0

    def varint():
        nonlocal at
        value = shift = 0
        while True:
            byte = message[at]
            at += 1
            value |= (byte & 0x7f) << shift
            shift += 7
            if byte < 0x80:
                return value

    while at < len(message):
        key = varint()
        kind = key & 7
        if kind == 0:
            yield key >> 3, varint()
            continue
        if kind not in (1, 2, 5):
            raise ValueError('field of kind %d' % kind)
        size = {1: 8, 5: 4}.get(kind) or varint()
        if size > len(message) - at:
            raise ValueError('field beyond the end')
        yield key >> 3, message[at:at + size]
        at += size


def real(data):
    return struct.unpack('<d' if len(data) == 8 else '<f', data)[0]


def reals(data):
    return list(struct.unpack('<%dd' % (len(data) // 8), data))


def histogram_of(message):
    found = dict(fields(message))
    return Histogram(*[real(found[i]) for i in range(1, 6)], reals(found.get(6, b'')), reals(found.get(7, b'')))


def event_of(message):
    found, values = dict(fields(message)), []
    for number, summary in fields(found.get(5, b'')):
        value = dict(fields(summary))
        values.append((value[1].decode(), real(value[2]) if 2 in value else histogram_of(value[5])))
    start = dict(fields(found.get(7, b''))).get(1) == 1
    return Event(real(found[1]), found.get(2, 0), found.get(3, b'').decode(), values, start)


def events_of(folder):
    """Of all its event files, in the order of their names: a list for each."""
    names = sorted(name for name in os.listdir(folder) if name.startswith('events.out.tfevents.'))
    out = []
    for name in names:
        with open(os.path.join(folder, name), 'rb') as file:
            out.append([event_of(record) for record in records(file.read())])
    return out


def shown(files):
    """What TensorBoard shows: of each tag (step, value) in order; a session's start drops what was there from its step on."""
    out = {}
    for events in files:
        for event in events:
            if event.start:
                out = {tag: [at for at in series if at[0] < event.step] for tag, series in out.items()}
            for tag, value in event.values:
                out.setdefault(tag, []).append((event.step, value))
    return out
