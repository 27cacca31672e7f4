"""The contracts of the tools that call `tenure hook`: what each hands over, what it takes for an answer.

Nothing here asks about a checkout; `tenure.faces.cli.verb_hook` does, and answers through these.
"""
