"""Names are for people; what proves a hold is minted once and never again."""

import os
import subprocess
import sys

from tenure.kernel.identity import Executor, mint_token, new_id, this_process


def test_ids_and_secrets_are_never_the_same_twice():
    assert len({new_id() for _ in range(1000)}) == 1000
    assert len({mint_token().secret for _ in range(1000)}) == 1000
    assert [mint_token(n).n for n in (1, 2, 7)] == [1, 2, 7]


def test_a_process_is_one_incarnation():
    assert this_process() == this_process()
    assert this_process().owner_id == f"{os.uname().nodename}:{os.getpid()}"


FORK = """
import os, sys
from tenure.kernel.identity import this_process
here = this_process()
child = os.fork()
if child == 0:
    here = this_process()
else:
    os.waitpid(child, 0)
    assert this_process() == here
sys.stdout.write(here.incarnation_id + "\\n")
sys.stdout.flush()
os._exit(0)
"""


def test_a_forked_child_is_another_incarnation():
    done = subprocess.run([sys.executable, "-c", FORK], capture_output=True, check=True, text=True)
    child, parent = done.stdout.splitlines()
    assert len(child) == len(parent) == 32
    assert child != parent


def test_owners_and_executors_are_named_for_people():
    owner = this_process()
    assert str(owner) == f"{owner.owner_id}#{owner.incarnation_id[:8]}"
    executor = Executor(owner=owner, executor_id="0123456789abcdef")
    assert str(executor) == f"{owner}/01234567"
