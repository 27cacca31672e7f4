"""Guest sessions: what other frameworks keep in this store, written under a session's lane.

A guest session's messages or states are the framework's own. No turn of ours moves it; the
lane, the session's row and its deletion are those of every session.
"""
