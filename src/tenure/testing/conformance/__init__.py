"""The law books: what every backend of the kernel must keep, as tests to inherit from.

A backend is bound to a book by a subclass in a test module that has a `backend` fixture:

    class TestAttempts(AttemptLaws):
        pass
"""

import pytest

# Failing asserts in the books show their values, as those in test modules do.
pytest.register_assert_rewrite(
    *(
        f"{__name__}.{book}"
        for book in (
            "attempts",
            "claims",
            "gate",
            "lanes",
            "races",
            "replies",
            "sessions",
            "store",
            "takers",
        )
    )
)
