#!/usr/bin/python3
"""Holds a validator's key in a PKCS#11 token, for `udg signer --key-program`.

It writes its Ed25519 public key, and then a signature for each message that it reads: a line of hex each. It ends with its
input, and with one line of error output if the token fails.
"""

import argparse
import ctypes
import sys
from ctypes import byref, c_char, c_ubyte, c_ulong, c_void_p, sizeof

CKF_SERIAL_SESSION, CKU_USER, CKM_EDDSA = 4, 1, 0x1057
CKO_PUBLIC_KEY, CKO_PRIVATE_KEY = 2, 3
CKA_CLASS, CKA_LABEL, CKA_EC_POINT = 0, 3, 0x181
KEY_BYTES, SIGNATURE_BYTES = 32, 64


class Attribute(ctypes.Structure):
    _fields_ = [("type", c_ulong), ("value", c_void_p), ("length", c_ulong)]


class Mechanism(ctypes.Structure):
    _fields_ = [("type", c_ulong), ("parameter", c_void_p), ("length", c_ulong)]


def attribute(kind, value):
    return Attribute(kind, ctypes.cast(value, c_void_p), sizeof(value))


class Token:
    def __init__(self, module, label, pin):
        self.library = ctypes.CDLL(module)
        self.call("C_Initialize", None)
        self.session = c_ulong()
        self.call("C_OpenSession", self.slot(label), c_ulong(CKF_SERIAL_SESSION), None, None, byref(self.session))
        self.call("C_Login", self.session, c_ulong(CKU_USER), pin, c_ulong(len(pin)))

    def call(self, name, *values):
        result = getattr(self.library, name)(*values)
        if result != 0:
            sys.exit(f"{name} of the PKCS#11 module failed with 0x{result & 0xFFFFFFFF:x}")

    def slot(self, label):
        count = c_ulong()
        self.call("C_GetSlotList", c_ubyte(1), None, byref(count))
        slots = (c_ulong * count.value)()
        self.call("C_GetSlotList", c_ubyte(1), slots, byref(count))
        for slot in slots[: count.value]:
            info = (c_char * 512)()
            self.call("C_GetTokenInfo", c_ulong(slot), info)
            if info.raw[:32].rstrip(b" ") == label.encode():
                return c_ulong(slot)
        sys.exit(f"no token has the label {label}")

    def find(self, kind, label):
        name = ctypes.create_string_buffer(label.encode(), len(label.encode()))
        wanted = (c_ulong * 1)(kind)
        template = (Attribute * 2)(attribute(CKA_CLASS, wanted), attribute(CKA_LABEL, name))
        self.call("C_FindObjectsInit", self.session, template, c_ulong(2))
        found, count = (c_ulong * 2)(), c_ulong()
        self.call("C_FindObjects", self.session, found, c_ulong(2), byref(count))
        self.call("C_FindObjectsFinal", self.session)
        if count.value != 1:
            sys.exit(f"{count.value or 'no'} keys of the token have the label {label}; exactly one must")
        return c_ulong(found[0])

    def public_key(self, label):
        point = (c_ubyte * 64)()
        asked = attribute(CKA_EC_POINT, point)
        self.call("C_GetAttributeValue", self.session, self.find(CKO_PUBLIC_KEY, label), byref(asked), c_ulong(1))
        # A DER octet string in most tokens, the bare point in some.
        return bytes(point[: asked.length])[-KEY_BYTES:]

    def sign(self, key, message):
        mechanism = Mechanism(CKM_EDDSA, None, 0)
        signature, length = (c_ubyte * SIGNATURE_BYTES)(), c_ulong(SIGNATURE_BYTES)
        self.call("C_SignInit", self.session, byref(mechanism), key)
        self.call("C_Sign", self.session, message, c_ulong(len(message)), signature, byref(length))
        return bytes(signature[: length.value])


def main():
    parser = argparse.ArgumentParser(description="holds a validator's key in a PKCS#11 token")
    parser.add_argument("--module", required=True, help="the token's PKCS#11 library")
    parser.add_argument("--token", required=True, help="the token's label")
    parser.add_argument("--key", required=True, help="the label of its Ed25519 key pair")
    parser.add_argument("--pin-file", required=True, help="file with the token's PIN, readable only by its owner")
    given = parser.parse_args()
    try:
        with open(given.pin_file, "rb") as file:
            token = Token(given.module, given.token, file.read().strip())
    except OSError as error:
        sys.exit(str(error))
    key = token.find(CKO_PRIVATE_KEY, given.key)
    print(token.public_key(given.key).hex(), flush=True)
    for line in sys.stdin:
        print(token.sign(key, bytes.fromhex(line)).hex(), flush=True)


try:
    main()
except KeyboardInterrupt:
    pass
