"""Faults in the example service, its page included."""

from tests.mutations.planted import Mutation

CHAT = "examples/chat_service"
PAGE = "tests/examples/test_page.py"
REQUESTS = "tests/examples/test_requests.py"
LEAVING = "tests/examples/test_leaving.py"

SERVICE = (
    Mutation(
        "a page that comes back is told everything again",
        f"{CHAT}/stream.py",
        "after = place.cursor if post.number == place.post else None",
        "after = None",
        (f"{REQUESTS}::test_a_page_that_was_cut_off_after_any_event_is_told_the_rest",),
    ),
    Mutation(
        "a question that is sent again is another one",
        f"{CHAT}/web.py",
        "        chat, key = await self._chat(request), _key(request)\n",
        "        chat, key = await self._chat(request), _key(request) + str(id(request))\n",
        (f"{REQUESTS}::test_a_request_that_is_sent_again_is_carried_out_once",),
    ),
    Mutation(
        "a key stands for whatever is said under it",
        f"{CHAT}/chats.py",
        "        if known.text != text:\n            raise OtherText\n",
        "",
        (f"{REQUESTS}::test_a_request_that_is_sent_again_is_carried_out_once",),
    ),
    Mutation(
        "a page sends each time under another key",
        f"{CHAT}/static/sending.js",
        "await once(path, body, key)",
        "await once(path, body, newKey())",
        (f"{PAGE}::test_a_question_whose_answer_was_lost_on_the_way_is_asked_once",),
    ),
    Mutation(
        "a question is kept by nobody until it is taken",
        f"{CHAT}/static/sending.js",
        "if (response && response.status < 500) {",
        "if (!response || response.status < 500) {",
        (f"{PAGE}::test_what_is_said_while_no_worker_is_there_is_said_once",),
    ),
    Mutation(
        "whoever answers second believes to be the first",
        f"{CHAT}/web.py",
        '{"first": answered.first, ',
        '{"first": True, ',
        (f"{PAGE}::test_of_two_windows_that_answer_one_is_heard_and_the_other_is_told",),
    ),
    Mutation(
        "pages hold a worker that is to leave",
        f"{CHAT}/worker.py",
        "    web.leaving.set()",
        "    pass",
        (f"{LEAVING}::test_a_worker_that_leaves_while_a_page_looks_on_is_not_held_by_it",),
    ),
    Mutation(
        "a worker that leaves keeps its turns",
        f"{CHAT}/worker.py",
        "    driving.cancel()",
        "    os._exit(0)",
        (f"{LEAVING}::test_a_worker_that_leaves_in_the_middle_of_an_answer_holds_nothing",),
    ),
    Mutation(
        "a chat that is not there is anybody's",
        f"{CHAT}/web.py",
        "        if not await asyncio.to_thread(self._chats.known, chat):\n"
        '            raise HTTPException(404, "there is no such chat")\n',
        "",
        (f"{REQUESTS}::test_what_is_not_there_is_refused",),
    ),
    Mutation(
        "what people say is markup in the list",
        f"{CHAT}/web.py",
        "html.escape(text)",
        "text",
        (f"{PAGE}::test_what_people_say_is_text_and_nothing_else",),
    ),
    Mutation(
        "what people say is markup in the chat",
        f"{CHAT}/static/post.js",
        'this.part(".question").textContent = question;',
        'this.part(".question").innerHTML = question;',
        (f"{PAGE}::test_what_people_say_is_text_and_nothing_else",),
    ),
    Mutation(
        "an answer that is begun anew is added to what was there",
        f"{CHAT}/static/post.js",
        'this.stale.delete(step) ? "" : (this.steps.get(step) ?? "")',
        'this.steps.get(step) ?? ""',
        (f"{PAGE}::test_a_worker_that_has_to_leave_hands_over_to_another",),
    ),
)
