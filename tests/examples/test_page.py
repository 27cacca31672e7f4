"""The page of the chat service, in a real browser, before workers that really come and go."""

from collections.abc import Callable

import pytest
from playwright.sync_api import Locator, Page, Route, expect

from tests.examples.service import Service, Worker

pytestmark = pytest.mark.timeout(400)  # the first one ever installs the browser

Window = Callable[[str], Page]

LETTER = (
    "Hello, this is Ada. I answer from a script, word by word and slowly, so that you can see how an "
    "answer arrives. Reload the page in the middle of it, open it in a second window, or stop the "
    "process that says this: nothing that was said is lost, and nobody is asked twice. Then ask me "
    "to refund 40 € for order 7, and take your time to agree."
)
REFUND = "Refund 40 € for order 7"
REFUNDED = "40 € were paid back. Order 7 was paid and delivered. Yours, Ada."


def words(count: int) -> str:
    """The beginning of the letter."""
    return " ".join(LETTER.split()[:count])


def begun(window: Window, service: Service) -> Page:
    """A page of a new chat."""
    page = window(service.url)
    page.get_by_role("button", name="New chat").click()
    page.wait_for_url("**/chats/*")
    return page


def say(page: Page, text: str) -> None:
    page.get_by_label("Your question").fill(text)
    page.get_by_role("button", name="Send").click()


def answer(page: Page, number: int = 1) -> Locator:
    """The text of an answer."""
    return page.locator(f"[data-post='{number}'] .text")


def expect_state(page: Page, state: str, number: int = 1) -> None:
    expect(page.locator(f"[data-post='{number}'][data-state='{state}']")).to_be_attached()


def expect_worker(page: Page, worker: Worker) -> None:
    expect(page.locator("#link[data-state='live']")).to_contain_text(f"worker {worker.pid}")


def expect_letter(page: Page, count: int | None = None) -> None:
    """The letter is there, so many words of it, and not one more or twice."""
    text = LETTER if count is None else words(count)
    expect(answer(page)).to_have_text(text, use_inner_text=True)


def test_an_answer_is_seen_as_it_is_said(service: Service, window: Window) -> None:
    service.start()
    page = begun(window, service)
    service.allow(0)
    say(page, "Hello!")
    expect_state(page, "thinking")
    for count in (1, 2, 17):
        service.allow(count)
        expect_letter(page, count)
        expect_state(page, "answering")
    service.allow(None)
    expect_letter(page)
    expect_state(page, "done")
    assert service.calls() == {1: 1}


def test_a_reload_in_the_middle_goes_on_where_it_was(service: Service, window: Window) -> None:
    service.start()
    service.allow(0)
    page = begun(window, service)
    say(page, "Hello!")
    expect_state(page, "thinking")
    for count in (0, 1, 5, 40):
        service.allow(count)
        expect_letter(page, count)
        page.reload()
        expect_letter(page, count)
    other = window(page.url)  # a second window is no different
    expect_letter(other, 40)
    service.allow(None)
    for one in (page, other):
        expect_letter(one)
        expect_state(one, "done")
        one.reload()
        expect_letter(one)
        expect_state(one, "done")
    assert service.calls() == {1: 1}


def test_what_one_window_asks_is_seen_in_the_other(service: Service, window: Window) -> None:
    service.start()
    page = begun(window, service)
    other = window(page.url)
    service.allow(3)
    say(page, "Hello!")
    expect_letter(other, 3)
    say(other, "Can you help?")
    expect_state(page, "queued", 2)
    service.allow(None)
    for one in (page, other):
        expect_letter(one)
        expect(answer(one, 2)).to_have_text("I am Ada, and this is what I can do: look_up, refund.")
        expect(one.locator(".post")).to_have_count(2)


def test_an_approval_waits_for_a_deploy_and_its_turn_keeps_its_program(
    service: Service, window: Window
) -> None:
    old = service.start(release=1)
    page = begun(window, service)
    say(page, REFUND)
    expect_state(page, "waiting")
    expect(page.get_by_text("Refund 40 € for order 7?")).to_be_visible()
    old.terminate()
    old.left()
    expect(page.locator("#link[data-state='reconnecting']")).to_be_visible()

    new = service.start(release=2)
    expect_worker(page, new)
    page.reload()
    expect_state(page, "waiting")
    page.get_by_role("button", name="Approve").click()
    # Ada's instructions, and a tool that this release has no more
    expect(answer(page)).to_have_text(
        "40 € were paid back. I could not check the order: unavailable. Yours, Ada."
    )
    expect(page.locator(".wait .outcome")).to_have_text("You said yes.")
    say(page, "What can you do?")
    expect(answer(page, 2)).to_have_text("I am Grace, and this is what I can do: refund.")
    assert service.paid() == [40]


def test_a_worker_that_has_to_leave_hands_over_to_another(service: Service, window: Window) -> None:
    leaving = service.start()  # its leases never lapse: only what is handed back can be had
    page = begun(window, service)
    service.allow(9)
    say(page, "Hello!")
    expect_letter(page, 9)
    staying = service.start()
    leaving.terminate()
    expect_worker(page, staying)
    leaving.left()
    service.asked(2)  # what was under way is asked anew, of a script that says the same
    expect_letter(page, 9)
    expect_state(page, "answering")
    service.allow(None)
    expect_letter(page)
    expect_state(page, "done")
    assert service.calls() == {1: 2}


def test_a_worker_that_is_killed_is_taken_over_from(service: Service, window: Window) -> None:
    killed = service.start(ttl=0.9)
    page = begun(window, service)
    service.allow(9)
    say(page, "Hello!")
    expect_letter(page, 9)
    staying = service.start(ttl=0.9)
    killed.end()
    expect_worker(page, staying)
    service.allow(None)
    expect_letter(page)
    expect_state(page, "done")


def test_a_page_at_another_worker_than_the_one_that_drives_sees_the_same(
    service: Service, window: Window
) -> None:
    service.start()
    service.allow(5)
    page = begun(window, service)
    say(page, "Hello!")
    expect_letter(page, 5)
    elsewhere = service.start(port=0)
    other = window(page.url.replace(service.url, elsewhere.url))
    expect_state(other, "thinking")
    service.allow(None)
    expect_letter(other)
    assert service.calls() == {1: 1}


def test_of_two_windows_that_answer_one_is_heard_and_the_other_is_told(
    service: Service, window: Window
) -> None:
    service.start()
    page = begun(window, service)
    say(page, REFUND)
    other = window(page.url)
    for one in (page, other):
        expect_state(one, "waiting")
    sent: list[Route] = []

    def kept(route: Route) -> None:
        sent.append(route)

    for one, name in ((page, "Approve"), (other, "Deny")):
        one.route("**/answers", kept)
        with one.expect_request("**/answers"):
            one.get_by_role("button", name=name).click()
    for route in sent:  # both have clicked before either is heard
        route.continue_()
    expect(page.locator(".wait .outcome")).to_be_visible()
    said = {one: one.locator(".wait .outcome") for one in (page, other)}
    won = "yes" if "yes" in said[page].inner_text() else "no"
    if won == "yes":
        expect(said[page]).to_have_text("You said yes.")
        expect(said[other]).to_have_text("Too late: It was approved.")
    else:
        expect(said[other]).to_have_text("You said no.")
        expect(said[page]).to_have_text("Too late: It was denied.")
    for one in (page, other):
        expect_state(one, "done")
        expect(answer(one)).to_contain_text("were paid" if won == "yes" else "nothing was paid")
    assert service.paid() == ([40] if won == "yes" else [])


def test_a_second_click_changes_nothing(service: Service, window: Window) -> None:
    service.start()
    page = begun(window, service)
    say(page, REFUND)
    page.get_by_role("button", name="Approve").dblclick()
    expect(answer(page)).to_have_text(REFUNDED)
    assert service.paid() == [40]


def test_a_turn_is_stopped_by_hand(service: Service, window: Window) -> None:
    service.start()
    service.allow(3)
    page = begun(window, service)
    say(page, "Hello!")
    expect_letter(page, 3)
    page.get_by_role("button", name="Stop").click()
    expect_state(page, "cancelled")
    service.allow(None)
    say(page, "Can you help?")
    expect_state(page, "done", 2)


@pytest.mark.parametrize(
    "text", ["<img src=x onerror=document.title='gotcha'>", "a & b <b>c</b> \"'"]
)
def test_what_people_say_is_text_and_nothing_else(
    service: Service, window: Window, text: str
) -> None:
    service.start()
    page = begun(window, service)
    say(page, text)
    expect(page.locator(".question")).to_have_text(text, use_inner_text=True)
    expect(answer(page)).to_contain_text(f"You said “{text}”.")
    assert page.locator("img, b").count() == 0
    assert page.title() == "Help desk"
    page.goto(service.url)
    expect(page.locator("#chats a")).to_have_text(text, use_inner_text=True)
    assert page.locator("img, b").count() == 0


def test_a_question_whose_answer_was_lost_on_the_way_is_asked_once(
    service: Service, window: Window
) -> None:
    service.start()
    page = begun(window, service)
    sent: list[int] = []

    def lose_two(route: Route) -> None:
        if len(sent) == 2:
            return route.continue_()
        sent.append(route.fetch().status)
        return route.abort()

    page.route("**/posts", lose_two)
    with page.expect_response("**/posts"):
        say(page, "Hello!")
    expect_letter(page)
    page.reload()
    expect_letter(page)
    expect(page.locator(".post")).to_have_count(1)
    assert sent == [202, 202]
    assert service.calls() == {1: 1}


def test_what_is_said_while_no_worker_is_there_is_said_once(
    service: Service, window: Window
) -> None:
    gone = service.start()
    page = begun(window, service)
    gone.terminate()
    gone.left()
    say(page, "Hello!")
    expect(page.locator("[data-state='sending']")).to_be_visible()
    service.start()
    expect_letter(page)
    expect(page.locator(".post")).to_have_count(1)
    page.reload()
    expect_letter(page)
    expect(page.locator(".post")).to_have_count(1)
    assert service.calls() == {1: 1}
