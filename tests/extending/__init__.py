"""A sixth question type and a fifth mechanism, added to a copy of the project: nothing else has to know of them."""
