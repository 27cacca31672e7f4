"""What a job's environment holds, exactly."""

import pytest

from tenure.gate.jobs.environment import is_reserved, job_environment, job_id, marker_ids
from tenure.kernel.errors import ConfigurationError

ALWAYS = {
    "CI": "1",
    "NO_COLOR": "1",
    "TERM": "dumb",
    "LANG": "C.UTF-8",
    "LC_ALL": "C.UTF-8",
    "TZ": "UTC",
    "GIT_OPTIONAL_LOCKS": "0",
    "TENURE_CHECKOUT": "c0ffee",
    "TENURE_RUN": "r1",
    "TENURE_JOB": "r1/test",
}


def of(outer, **declared):
    declared.setdefault("run_ids", ["r1"])
    declared.setdefault("job", "test")
    return job_environment(outer, checkout_id="c0ffee", **declared)


def test_a_job_finds_the_same_records_and_slots_as_its_run():
    ours = {"TENURE_STORE": "/records", "TENURE_SLOTS": "/slots"}
    assert of({**ours, "TENURE_FAULTS": "x"}) == {**ALWAYS, **ours}


def test_nothing_but_the_base_set_passes():
    outer = {
        "PATH": "/usr/bin",
        "HOME": "/home/ada",
        "USER": "ada",
        "TMPDIR": "/tmp/ada",
        "VIRTUAL_ENV": "/home/ada/.venv",
        "XDG_RUNTIME_DIR": "/run/user/1",
        "XDG_CACHE_HOME": "/home/ada/.cache",
        "http_proxy": "http://proxy:1",
        "HTTPS_PROXY": "http://proxy:2",
        "no_proxy": "localhost",
        "ALL_PROXY": "socks5://proxy:3",
        "SSL_CERT_FILE": "/etc/ca.pem",
        "SSL_CERT_DIR": "/etc/ca",
        "REQUESTS_CA_BUNDLE": "/etc/ca.pem",
        "NODE_EXTRA_CA_CERTS": "/etc/ca.pem",
    }
    noise = {
        "SECRET_TOKEN": "x",
        "PYTHONPATH": "/x",
        "PIP_INDEX_URL": "x",
        "LC_TIME": "de_DE",
        "LANGUAGE": "de",
        "SHELL": "/bin/zsh",
        "XDGISH": "x",
        "Path": "/x",
    }
    assert of(outer | noise) == outer | ALWAYS


def test_locale_zone_and_terminal_are_pinned_over_the_callers():
    theirs = {
        "LANG": "hu_HU",
        "LC_ALL": "hu_HU",
        "TZ": "Europe/Budapest",
        "TERM": "xterm",
        "CI": "",
    }
    assert of(theirs) == ALWAYS


def test_a_definition_may_set_what_is_pinned():
    assert of({}, set_env={"TZ": "Asia/Tokyo", "NO_COLOR": ""}) == ALWAYS | {
        "TZ": "Asia/Tokyo",
        "NO_COLOR": "",
    }


def test_a_named_variable_passes_and_an_absent_one_stays_absent():
    outer = {"DATABASE_URL": "postgres:///x", "EMPTY": "", "SSH_AUTH_SOCK": "/s"}
    result = of(outer, env=["DATABASE_URL", "EMPTY", "ABSENT"], pass_env=["SSH_AUTH_SOCK"])
    assert result == ALWAYS | outer
    assert "ABSENT" not in result


def test_a_named_pin_takes_the_callers_value():
    assert of({"TZ": "Europe/Budapest"}, env=["TZ"])["TZ"] == "Europe/Budapest"


def test_a_set_value_wins_over_a_passed_one():
    assert of({"A": "outer"}, env=["A"], set_env={"A": "set"})["A"] == "set"


def test_no_variable_of_git_passes():
    outer = {
        "GIT_DIR": "/repo/.git",
        "GIT_INDEX_FILE": "/repo/.git/index",
        "GIT_WORK_TREE": "/repo",
        "GIT_SSL_CAINFO": "/etc/ca.pem",
        "GIT_OPTIONAL_LOCKS": "1",
    }
    assert of(outer) == ALWAYS


@pytest.mark.parametrize(
    "name", ["GIT_DIR", "GIT_ANYTHING", "TENURE_RUN", "TENURE_JOB", "TENURE_X"]
)
@pytest.mark.parametrize(
    "declare",
    [
        lambda name: {"env": [name]},
        lambda name: {"pass_env": [name]},
        lambda name: {"set_env": {name: "x"}},
    ],
    ids=["env", "pass_env", "set_env"],
)
def test_a_definition_that_names_a_reserved_variable_is_refused(name, declare):
    assert is_reserved(name)
    with pytest.raises(ConfigurationError, match=name):
        of({name: "x"}, **declare(name))


@pytest.mark.parametrize("name", ["", "A=B", "A\0B"])
def test_what_cannot_name_a_variable_is_refused(name):
    with pytest.raises(ConfigurationError, match="cannot name a variable"):
        of({}, set_env={name: "x"})


def test_a_value_with_a_nul_byte_is_refused_without_showing_it():
    with pytest.raises(ConfigurationError) as caught:
        of({}, set_env={"A": "hidden\0"})
    assert "A" in str(caught.value)
    assert "hidden" not in str(caught.value)


def test_an_inner_run_extends_the_list_of_runs_and_jobs():
    outer = of({}, run_ids=["r1"], job="test")
    inner = of(outer, run_ids=["r2"], job="lint")
    assert inner["TENURE_RUN"] == "r1:r2"
    assert inner["TENURE_JOB"] == "r1/test:r2/lint"
    assert marker_ids(inner) == ("r1", "r2")
    assert inner["TENURE_CHECKOUT"] == "c0ffee"


def test_a_run_is_listed_once():
    assert of({"TENURE_RUN": "r1:r2"}, run_ids=["r1", "r2"])["TENURE_RUN"] == "r1:r2"


def test_outside_any_run_there_are_no_markers():
    assert marker_ids({}) == ()
    assert marker_ids({"TENURE_RUN": ""}) == ()
    assert marker_ids({"TENURE_RUN": ":r1::"}) == ("r1",)


def test_any_job_name_is_one_member_of_the_list():
    assert job_id("r1", "unit:fast") == "r1/unit%3Afast"
    assert job_id("r1", "unit%3Afast") == "r1/unit%253Afast"
    assert of({}, job="unit:fast")["TENURE_JOB"] == "r1/unit%3Afast"


def test_the_callers_environment_is_left_as_it_is():
    outer = {"PATH": "/bin", "GIT_DIR": "x"}
    of(outer, set_env={"PATH": "/x"})
    assert outer == {"PATH": "/bin", "GIT_DIR": "x"}
