"""What goes wrong beside a turn and does not concern it: told to whoever handles such things."""

import asyncio


def tell(what: str, error: Exception) -> None:
    """Tell the running loop's exception handler, which logs unless the host replaced it."""
    asyncio.get_running_loop().call_exception_handler({"message": what, "exception": error})
