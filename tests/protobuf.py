"""Reads protobuf messages without a description of their fields."""


def fields(data):
    """The fields of a protobuf message: number and value, a number or bytes."""
    at = 0

    def varint():
        nonlocal at
        value = shift = 0
        while True:
            byte = data[at]
            at += 1
            value |= (byte & 127) << shift
            shift += 7
            if byte < 128:
                return value

    while at < len(data):
        key = varint()
        if key & 7 == 0:
            yield key >> 3, varint()
        elif key & 7 == 1:
            at += 8
            yield key >> 3, data[at - 8:at]
        elif key & 7 == 2:
            size = varint()
            at += size
            yield key >> 3, data[at - size:at]
        else:
            raise ValueError("a field of type %d" % (key & 7))
