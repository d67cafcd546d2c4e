"""Files of every kind that is cited by a unit of its own, and what each unit of them holds.

What a unit holds is read from the file by the standard library alone, never by the product.
"""
