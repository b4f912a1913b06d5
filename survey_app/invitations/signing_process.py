"""Raising a blinded message to the private exponent, in a process that does nothing else.

Python's integers take some twenty milliseconds for it (`gmpy2`, if installed, three), which an event loop must not be
held for. The message is blinded a second time, by the signer, so that the time tells nothing about the key; the result
is checked with the public exponent before it leaves, because one faulty half of it (CRT) would give the key away
(Boneh, DeMillo, Lipton 1997). The process is this file, run by itself: it imports nothing of ours, reads requests of
fixed length from standard input, and ends when that does, as it does when whoever asks is killed.
"""

import signal
import sys
from collections.abc import Callable
from secrets import randbelow
from typing import BinaryIO

try:
    import gmpy2
except ImportError:
    gmpy2 = None

fast = gmpy2 is not None
EXPONENT = 65537
BYTES = 384
NUMBER = 8  # bytes: which request this is
REQUEST, REPLY = NUMBER + 2 * BYTES, NUMBER + BYTES  # number, primes, message; number, signature


class Fault(Exception):
    """What came out is not the signature; it must not leave."""


def power(base: int, exponent: int, modulus: int) -> int:
    """base^exponent by a modulus, the exponent secret."""
    return int(gmpy2.powmod_sec(base, exponent, modulus)) if fast else pow(base, exponent, modulus)


def sign(p: int, q: int, message: int, *, power: Callable[[int, int, int], int] = power) -> int:
    """The message to the private exponent, by the modulus p·q."""
    modulus = p * q
    while True:
        r = randbelow(modulus)
        try:
            unblind = pow(r, -1, modulus)
            break
        except ValueError:  # once in some 2^1535 draws
            continue
    blinded = message * pow(r, EXPONENT, modulus) % modulus
    by_p = power(blinded % p, pow(EXPONENT, -1, p - 1), p)
    by_q = power(blinded % q, pow(EXPONENT, -1, q - 1), q)
    signed = (by_q + q * ((by_p - by_q) * pow(q, -1, p) % p)) * unblind % modulus
    if pow(signed, EXPONENT, modulus) != message:
        raise Fault("a signature came out wrong; it was not given away")
    return signed


def answer(request: bytes) -> bytes:
    """The reply to one request; zeros, which are no signature, where it could not be signed."""
    number, kept, message = request[:NUMBER], request[NUMBER : NUMBER + BYTES], request[NUMBER + BYTES :]
    p, q = int.from_bytes(kept[: BYTES // 2], "big"), int.from_bytes(kept[BYTES // 2 :], "big")
    try:
        return number + sign(p, q, int.from_bytes(message, "big")).to_bytes(BYTES, "big")
    except (Fault, ArithmeticError, ValueError):
        return number + bytes(BYTES)


def serve(requests: BinaryIO, replies: BinaryIO) -> None:
    """Answer requests until there are no more."""
    while len(request := requests.read(REQUEST)) == REQUEST:
        replies.write(answer(request))
        replies.flush()


if __name__ == "__main__":
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C reaches it too; it ends after whoever asks
    serve(sys.stdin.buffer, sys.stdout.buffer)
