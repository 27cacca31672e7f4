"""`python -m tenure`: the command, where its script is not on the path."""

from tenure.faces.cli import main

main()
