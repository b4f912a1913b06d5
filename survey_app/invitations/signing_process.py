"""A process that only signs: it raises blinded messages to the private exponent.

That takes about twenty milliseconds with Python's integers, or three with `gmpy2` if it is installed. An event loop
must not block for so long. The signer blinds the message a second time, so that the time reveals nothing about the key.
The result is checked with the public exponent before it leaves the process, because a fault in one half of the
computation (CRT) would reveal the key (Boneh, DeMillo, Lipton 1997). The process is this file, run as a script. It
imports no other module of Candor and reads requests of fixed length from standard input. It ends when its input ends,
also if the server is killed.
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

HAS_GMPY2 = gmpy2 is not None
EXPONENT = 65537
BYTES = 384
NUMBER_BYTES = 8  # bytes of the request number
REQUEST, REPLY = NUMBER_BYTES + 2 * BYTES, NUMBER_BYTES + BYTES  # number, primes, message; number, signature


class SigningFault(Exception):
    """The computed signature is wrong, and must not leave the process."""


def power(base: int, exponent: int, modulus: int) -> int:
    """Return base^exponent mod modulus; the exponent is secret."""
    return int(gmpy2.powmod_sec(base, exponent, modulus)) if HAS_GMPY2 else pow(base, exponent, modulus)


def sign(p: int, q: int, message: int, *, power: Callable[[int, int, int], int] = power) -> int:
    """Return the message to the power of the private exponent, mod p·q. Raise SigningFault if the result is wrong."""
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
    signature = (by_q + q * ((by_p - by_q) * pow(q, -1, p) % p)) * unblind % modulus
    if pow(signature, EXPONENT, modulus) != message:
        raise SigningFault("a computed signature was wrong and was not sent")
    return signature


def answer(request: bytes) -> bytes:
    """Return the reply to one request; it has zeros in place of a signature if the message could not be signed."""
    number, primes, message = (
        request[:NUMBER_BYTES],
        request[NUMBER_BYTES : NUMBER_BYTES + BYTES],
        request[NUMBER_BYTES + BYTES :],
    )
    p, q = int.from_bytes(primes[: BYTES // 2], "big"), int.from_bytes(primes[BYTES // 2 :], "big")
    try:
        return number + sign(p, q, int.from_bytes(message, "big")).to_bytes(BYTES, "big")
    except (SigningFault, ArithmeticError, ValueError):
        return number + bytes(BYTES)


def serve(requests: BinaryIO, replies: BinaryIO) -> None:
    """Answer requests until the input ends."""
    while len(request := requests.read(REQUEST)) == REQUEST:
        replies.write(answer(request))
        replies.flush()


if __name__ == "__main__":
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C reaches this process too; it ends after the server
    serve(sys.stdin.buffer, sys.stdout.buffer)
