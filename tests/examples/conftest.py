"""A service of its own for each test, and one browser for the tests of a module."""

import os
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page, expect, sync_playwright

from tests.examples.chromium import installed
from tests.examples.service import Service

#: Only a test that is failing waits this long, in milliseconds.
PATIENCE = 8_000

HOME = Path(os.path.expanduser("~"))  # before any test has a home of its own

expect.set_options(timeout=PATIENCE)


@pytest.fixture
def service(tmp_path: Path) -> Iterator[Service]:
    """A port and a file. No worker is started yet."""
    with Service(tmp_path) as service:
        yield service


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    """A real browser. It is not kept for other modules: it has an event loop in this thread."""
    chromium = installed(HOME)
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(
            executable_path=chromium.program, env={**chromium.environment}
        )
        yield browser
        browser.close()


@pytest.fixture
def window(browser: Browser) -> Iterator[Callable[[str], Page]]:
    """Opens windows at addresses. All have one session of a browser, and no error in any script."""
    context = browser.new_context(viewport={"width": 820, "height": 640})
    context.set_default_timeout(PATIENCE)
    errors: list[str] = []
    context.on("weberror", lambda found: errors.append(str(found.error)))

    def opened(url: str) -> Page:
        page = context.new_page()
        page.goto(url)
        return page

    yield opened
    context.close()
    assert errors == []
