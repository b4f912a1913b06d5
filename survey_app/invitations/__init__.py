"""Invitations, and the blind signatures that invited people take, on this server or on a separate issuer.

An invitation is exchanged for a *ticket*: a signature of a message that the issuer has never seen (RFC 9474). So no
data here reveals which report a ticket came with. `keys` creates keys and verifies signatures. `signing_process` signs,
in a process that `signer` runs next to the event loop. `store.sqlite.tickets` stores codes, keys and which codes took a
ticket, apart from all reports. `issuing` makes all checks in order, and `key_disposal` destroys the keys of closed
surveys.
"""
