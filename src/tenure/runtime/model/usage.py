"""Usage: what a turn cost, as the provider counts it."""

import msgspec


class Usage(msgspec.Struct, frozen=True, kw_only=True):
    """Tokens and calls. Adding two adds every field."""

    requests: int = 0
    input_tokens: int = 0
    output_tokens: int = 0
    tool_calls: int = 0

    def __add__(self, other: "Usage") -> "Usage":
        return Usage(
            requests=self.requests + other.requests,
            input_tokens=self.input_tokens + other.input_tokens,
            output_tokens=self.output_tokens + other.output_tokens,
            tool_calls=self.tool_calls + other.tool_calls,
        )
