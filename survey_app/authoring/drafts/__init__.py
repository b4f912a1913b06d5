"""An author's file while it is written: `edits` change it, `form` holds what the fields of the editor mean, `splice`
changes a text in place, `write` spells values, `xlsform` begins one from a form that others read.
"""
