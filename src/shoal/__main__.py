"""Run the command line: python -m shoal."""

from shoal.cli import main

main()
