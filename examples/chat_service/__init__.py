"""A chat service over the runtime: what a host writes, in full.

desk.py        the agent: instructions and tools, as of two releases
rehearsed.py   a model that needs no key and no network
chats.py       the service's own tables, in the same file as the sessions
web.py         requests and answers
stream.py      what a page is told, from any point on
worker.py      one process, from its start to its SIGTERM
static/        the page
"""
