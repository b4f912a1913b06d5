"""Mail to the people that a survey invites, from the computer of the researcher who has their addresses.

`recipients` reads the list, and `sent_log` records next to it who has which link and got which message. `message`
composes messages, `smtp` sends them, and `code_source` gets the codes. `mailing` decides who gets a message, and sends
it. Names and addresses leave this package only in messages. The survey's server is asked only for a number of codes,
and for the hashes of unused codes.
"""
