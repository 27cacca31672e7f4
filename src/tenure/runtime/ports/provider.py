"""The provider: whoever answers for the model."""

from abc import ABC, abstractmethod
from collections.abc import Awaitable, Callable, Sequence

import msgspec

from tenure.runtime.errors import BlobMissing
from tenure.runtime.machine.answers import Answer
from tenure.runtime.model.json import Json
from tenure.runtime.model.message import Attachment, Message
from tenure.runtime.model.program import ToolSpec

#: Told each piece of text as it arrives.
Say = Callable[[str], None]


#: Reads an attachment. Raises: BlobMissing.
ReadAttachment = Callable[[Attachment], Awaitable[bytes]]


async def _nothing(attachment: Attachment) -> bytes:
    raise BlobMissing(digest=attachment.digest)


class ModelRequest(msgspec.Struct, frozen=True, kw_only=True):
    """One question to the model. `messages` is the whole history that the agent shows it."""

    model: str
    instructions: str
    messages: Sequence[Message]
    tools: tuple[ToolSpec, ...]
    settings: dict[str, Json]
    session: str
    turn: str
    step: int
    effect_key: str  #: stable for every try of this question, for APIs that know such keys
    content: ReadAttachment = _nothing  #: the bytes of what is attached to a message


class Provider(ABC):
    """Answers model requests. Subclass it to inherit the default `close`."""

    @abstractmethod
    async def answer(self, request: ModelRequest, say: Say) -> Answer:
        """One complete answer. `say` is told its text while it arrives, and may be ignored.

        A stream that ends without its terminator is no answer.

        Raises:
            ProviderError: with `retryable` and, where the vendor says so, `retry_after` seconds.
            StreamCut: the stream ended early.
        """
        ...

    async def close(self) -> None:
        """End pooled transports properly (a WebSocket with a close frame). Idempotent.

        By default there is nothing to end.
        """
