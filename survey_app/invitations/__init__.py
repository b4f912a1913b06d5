"""Who is invited, and the blind signatures that invited people take: what an issuer does, here or on a server apart.

An invitation buys a *ticket*: a signature under something the issuer has never seen (RFC 9474), so that nothing here
says which report it went with. `keys` makes and checks, `signing` signs, in a process that `signer` keeps beside the
event loop; `file` keeps codes, keys and who has taken a ticket, apart from all reports; `issue` is the desk where the
checks are, in their order; `ending` destroys what a closed survey no longer needs.
"""
