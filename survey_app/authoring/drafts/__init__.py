"""Editing an author's file: `edits` changes it, and `form_fields` converts it to and from the editor's forms.

`splice` changes a text in place, `yaml_text` formats values, and `xlsform` converts an XLSForm into a draft.
"""
