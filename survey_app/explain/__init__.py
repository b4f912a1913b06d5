"""What a survey means to the people in it: `chances` of a suspicion, the same on `paper`, in several `languages`.

And how a number is `written`, for whoever reads it: each kind once; and `prose`, documents in Markdown and HTML.
"""
