"""Mail to the people a survey invites, from the machine of whoever has their addresses.

`people` reads the list, `kept` remembers beside it who has which link and got which message, `message` writes what is
said, `post` talks to the SMTP server, `inviting` to whoever makes the codes, `round` decides who gets a message and
sends it. No name and no address leaves this room but into a message: the survey's server is asked for a number of
codes, and which hashes of codes were not brought.
"""
