"""The gate as tools of the Model Context Protocol. Every tool is a command of ours, started by exec.

The server holds nothing and decides nothing: a run belongs to nobody who asked for it, so that a
client that goes away, or a server that is killed, ends none.
"""
