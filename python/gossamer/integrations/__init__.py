"""Gossamer inside other people's programs; each module needs its program only when it is used."""
