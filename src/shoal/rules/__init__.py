"""Edit rules: what must hold in every record, before and after protection, in either of two notations."""
