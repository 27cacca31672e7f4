"""What a repository may add to have the gate asked: shown, never installed."""

from typing import NamedTuple


class Snippet(NamedTuple):
    """Text for a file of somebody else's."""

    name: str
    where: str
    text: str


SNIPPETS = (
    Snippet(
        "pre-push",
        "git, before a push: .git/hooks/pre-push, executable",
        '#!/bin/sh\nexec tenure hook pre-push "$@"\n',
    ),
    Snippet(
        "claude-code",
        "Claude Code, before it stops: .claude/settings.json",
        '{ "hooks": { "Stop": [ { "hooks": [\n'
        '  { "type": "command", "command": "tenure hook claude-code", "timeout": 600 } ] } ] } }\n',
    ),
    Snippet(
        "codex",
        "Codex, before it stops: config.toml",
        "[[hooks.Stop]]\n[[hooks.Stop.hooks]]\n"
        'type = "command"\ncommand = "tenure hook codex"\ntimeout = 600\n',
    ),
    Snippet(
        "ci",
        "CI, after installing what the jobs need, in a clone that reaches the merge base",
        "git fetch --quiet origin '+refs/heads/*:refs/remotes/origin/*'\n"
        "git remote set-head origin --auto\n"
        "tenure done --ci --foreground\n",
    ),
)
