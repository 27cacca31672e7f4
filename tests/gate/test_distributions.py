"""Which distributions an environment offers, without saying where."""

import os
import subprocess
import sys
from importlib import metadata
from pathlib import Path

import pytest

from tenure.gate.distributions import is_python, names_and_versions, of_interpreter, of_virtual
from tests.gate.repos import write


def make_venv(prefix: Path, *dists: str, system: bool = False, home: str = "/nowhere") -> Path:
    """Something that looks like a virtual environment, made in no time."""
    write(
        prefix,
        {
            "pyvenv.cfg": f"home = {home}\ninclude-system-site-packages = {str(system).lower()}\n",
            "bin/python": "",
        },
    )
    site = prefix / "lib/python3.11/site-packages"
    site.mkdir(parents=True)
    for dist in dists:
        (site / dist).mkdir()
    return site


def names(environment) -> list[str]:
    return names_and_versions(environment.sites)


def test_names_are_normalised_and_sorted(tmp_path):
    site = make_venv(
        tmp_path / "v",
        "Zope.Interface-5.0.dist-info",
        "ruamel_yaml-0.18.dist-info",
        "a-1.dist-info",
    )
    write(site, {"package/__init__.py": "", "single.py": "", "x.pth": "", "_distutils": ""})
    assert names(of_virtual(str(tmp_path / "v"), {})) == [
        "a==1",
        "ruamel-yaml==0.18",
        "zope-interface==5.0",
    ]


def test_eggs_and_links_count(tmp_path):
    site = make_venv(tmp_path / "v", "old-1.2-py3.11.egg-info")
    write(
        site,
        {
            "develop.egg-link": "/somewhere\n",
            "nameless.egg-info/PKG-INFO": "Name: nameless\nVersion: 7\n\nVersion: 8\n",
            "flat.egg-info": "Name: flat\nVersion: 3.1\n",
        },
    )
    assert names(of_virtual(str(tmp_path / "v"), {})) == [
        "develop==",
        "flat==3.1",
        "nameless==7",
        "old==1.2",
    ]


def test_a_directory_that_is_no_environment_offers_nothing_and_is_watched(tmp_path):
    found = of_virtual(str(tmp_path / "v"), {})
    assert found.sites == []
    assert found.watched == {f"{tmp_path}/v/pyvenv.cfg": None}


def test_what_was_read_is_watched(tmp_path):
    site = make_venv(tmp_path / "v")
    assert {str(site), f"{tmp_path}/v/pyvenv.cfg"} <= set(
        of_virtual(str(tmp_path / "v"), {}).watched
    )


def test_an_interpreter_in_an_environment_offers_that_environment(tmp_path):
    make_venv(tmp_path / "v", "a-1.dist-info")
    assert names(of_interpreter(f"{tmp_path}/v/bin/python", {"HOME": "/nowhere"})) == ["a==1"]


def test_a_base_interpreter_offers_its_own_version_only(tmp_path):
    write(
        tmp_path,
        {
            "py/bin/python3.11": "",
            "py/lib/python3.11/site-packages/a-1.dist-info/x": "",
            "py/lib/python3.12/site-packages/b-1.dist-info/x": "",
            "py/lib/python3/dist-packages/c-1.dist-info/x": "",
            "home/.local/lib/python3.11/site-packages/d-1.dist-info/x": "",
            "home/.local/lib/python3.12/site-packages/e-1.dist-info/x": "",
        },
    )
    (tmp_path / "py/bin/python").symlink_to("python3.11")
    env = {"HOME": f"{tmp_path}/home"}
    found = of_interpreter(f"{tmp_path}/py/bin/python", env)
    assert names(found) == ["a==1", "c==1", "d==1"]
    assert names(of_interpreter(f"{tmp_path}/py/bin/python", env | {"PYTHONNOUSERSITE": "1"})) == [
        "a==1",
        "c==1",
    ]


def test_an_environment_that_includes_the_system_offers_both(tmp_path):
    write(
        tmp_path,
        {
            "py/bin/python3.11": "",
            "py/lib/python3.11/site-packages/system-1.dist-info/x": "",
        },
    )
    (tmp_path / "py/bin/python3").symlink_to("python3.11")
    make_venv(tmp_path / "v", "own-1.dist-info", system=True, home=f"{tmp_path}/py/bin")
    assert names(of_virtual(str(tmp_path / "v"), {})) == ["own==1", "system==1"]


def test_a_user_directory_that_appears_later_is_noticed(tmp_path):
    write(tmp_path, {"py/bin/python3.11": ""})
    found = of_interpreter(f"{tmp_path}/py/bin/python3.11", {"HOME": f"{tmp_path}/home"})
    user = f"{tmp_path}/home/.local/lib/python3.11/site-packages"
    assert found.watched[user] is None


@pytest.mark.parametrize(
    "name", ["python", "python3", "python3.13", "python3.13t", "/a/b/pypy3", "pypy3.10"]
)
def test_interpreters_are_known_by_name(name):
    assert is_python(name)


@pytest.mark.parametrize(
    "name", ["pythonic", "ipython", "python-config", "python3.13-config", "py", "pytest"]
)
def test_other_programs_are_no_interpreters(name):
    assert not is_python(name)


def test_a_real_environment_is_read_as_python_itself_reads_it(tmp_path):
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", tmp_path / "v"], check=True)
    python = f"{tmp_path}/v/bin/python"
    site = subprocess.check_output(
        [python, "-c", "import sysconfig; print(sysconfig.get_path('purelib'))"], text=True
    ).strip()
    write(Path(site), {"demo_thing-2.5.dist-info/METADATA": "Name: demo-thing\nVersion: 2.5\n"})
    assert names(of_interpreter(python, dict(os.environ))) == ["demo-thing==2.5"]


def test_this_very_environment_is_read_as_python_itself_reads_it():
    found = of_interpreter(sys.executable, dict(os.environ))
    ours = names(found)
    for name in ("pytest", "msgspec", "pytest-xdist"):
        assert f"{name}=={metadata.version(name)}" in ours
