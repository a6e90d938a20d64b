"""Reads protobuf messages without a description of their fields."""


def varint(data, at):
    """A number in base 128, which traces have too, and the place after it."""
    value = shift = 0
    while True:
        byte = data[at]
        at += 1
        value |= (byte & 127) << shift
        shift += 7
        if byte < 128:
            return value, at


def fields(data):
    """The fields of a protobuf message: number and value, a number or bytes."""
    at = 0
    while at < len(data):
        key, at = varint(data, at)
        if key & 7 == 0:
            value, at = varint(data, at)
            yield key >> 3, value
        elif key & 7 == 1:
            at += 8
            yield key >> 3, data[at - 8:at]
        elif key & 7 == 2:
            size, at = varint(data, at)
            at += size
            yield key >> 3, data[at - size:at]
        else:
            raise ValueError("a field of type %d" % (key & 7))
