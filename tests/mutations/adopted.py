"""Faults in runs of agents of other frameworks."""

from tests.mutations.planted import Mutation

RUNS = ("tests/runtime/test_adopted.py", "tests/runtime/test_adopted_given.py")
WAITS = ("tests/runtime/test_adopted_waits.py",)
KILLED = ("tests/crash/test_adopted_killed.py",)

ADOPTED = (
    Mutation(
        "a plugin is passed over for the tools of an adopted agent",
        "faces/host.py",
        "        agent.stand(plugin)\n",
        "        pass\n",
        ("tests/runtime/test_adopted_given.py",),
    ),
    Mutation(
        "a run that is gone through again asks its parts anew",
        "runtime/effects/calls.py",
        "        if known is not None and known.outcome is not None:\n"
        "            return Part(_value(name, known.outcome), replayed=True)\n",
        "",
        KILLED,
    ),
    Mutation(
        "a tool in doubt is called again whatever its agent says",
        "runtime/effects/calls.py",
        '        if known is not None and in_doubt != "rerun":\n'
        "            raise PartInDoubt(part=name, turn=self._held.turn.id)\n",
        "",
        KILLED,
    ),
    Mutation(
        "a part is carried out before anybody knows that it will be",
        "runtime/effects/calls.py",
        "        self._entries.intend(part)  # with what came before, and before anything happens\n"
        "        await self._entries.stored()\n",
        "        self._entries.intend(part)\n",
        KILLED,
    ),
    Mutation(
        "a part that is asked for something else is answered from the journal",
        "runtime/effects/calls.py",
        "            raise ReplayMismatch(turn=self._held.turn.id, key=part.key)\n",
        "            pass\n",
        RUNS,
    ),
    Mutation(
        "tools are known by the order in which they begin",
        "runtime/frameworks/pydantic_ai/parts.py",
        '            return f"tool.{_call(params)}", _call_request',
        '            return "tool", _call_request',
        RUNS,
    ),
    Mutation(
        "a run that somebody else took over goes on in its own loop",
        "runtime/adopted.py",
        "            if not self._ended.done():\n                self._ended.set_exception(error)\n"
        "        finally:\n",
        "            raise\n        finally:\n",
        RUNS,
    ),
    Mutation(
        "a run is suspended while a tool of it is under way",
        "runtime/adopted.py",
        "            if self._moving:\n                self._looking = None\n                return\n",
        "",
        WAITS,
    ),
    Mutation(
        "a run that waits keeps its lane",
        "runtime/adopted.py",
        "        except Suspended as suspended:\n            self._waits += suspended.on\n",
        "        except Suspended:\n            pass\n",
        WAITS,
    ),
    Mutation(
        "anything but no is a yes",
        "runtime/frameworks/pydantic_ai/waits.py",
        "        except ValidationError:\n            return ToolDenied()\n",
        "        except ValidationError:\n            return True\n",
        WAITS,
    ),
    Mutation(
        "whoever is asked for an answer before it suspended is asked again after",
        "runtime/frameworks/pydantic_ai/waits.py",
        '        said = await run.part(f"ask.{name}", {"wait": opened.id}, "rerun", asking)\n'
        "        found: JsonValue = said.value\n",
        "        found: JsonValue = await asking()\n",
        WAITS,
    ),
    Mutation(
        "an agent runs outside of a turn as if nothing were missing",
        "runtime/frameworks/pydantic_ai/durability.py",
        '            if not inside() and self._outside == "refuse":\n',
        "            if False:\n",
        RUNS,
    ),
    Mutation(
        "an agent in a tool is a run of its own",
        "runtime/frameworks/pydantic_ai/backend.py",
        '            with running("inside"), durable_unit_scope():\n',
        "            with durable_unit_scope():\n",
        RUNS,
    ),
    Mutation(
        "the next run is told the same twice",
        "runtime/frameworks/pydantic_ai/history.py",
        "            plain.clear()\n            continue\n",
        "            continue\n",
        RUNS,
    ),
    Mutation(
        "a model that is busy is asked for ever",
        "runtime/frameworks/pydantic_ai/backend.py",
        "        if delay is None:\n            return",
        "        if delay is None and tries > 1000:\n            return",
        RUNS,
    ),
    Mutation(
        "what an adopted agent's framework keeps is not stored",
        "runtime/stores/sqlite/shapes.py",
        "    of_adopted = isinstance(message, AssistantMessage) and message.kept is not None\n",
        "    of_adopted = False\n",
        RUNS,
    ),
    Mutation(
        "what a tool returned is stored when something else is",
        "runtime/effects/calls.py",
        "        self._entries.end(part.key, outcome)\n        if not lazily:\n"
        "            await self._entries.stored()\n",
        "        self._entries.end(part.key, outcome)\n",
        KILLED,
    ),
    Mutation(
        "a turn that ends early forgets what its run did",
        "runtime/driver.py",
        "            await self._look_back()\n",
        "",
        RUNS,
    ),
    Mutation(
        "a turn that ends early goes on with its run to see what that did",
        "runtime/adopted.py",
        "        if self.over:\n"
        "            return await self._moved(lambda: self._known(name, request))\n",
        "",
        RUNS,
    ),
)
