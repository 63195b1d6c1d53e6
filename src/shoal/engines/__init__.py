"""Engines move rows to where they are protected and never change them."""
