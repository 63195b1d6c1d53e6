"""Engines: in memory, DuckDB and Spark. They move rows and never change them; see :mod:`.engine` for what they can."""
