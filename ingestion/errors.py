"""The exception tree of Lithouse.

LithouseError                 anything we can explain: what, which, and what to do
├── PermanentFailure          a rerun cannot change it
│   ├── BadInput              an argument or a file that cannot be read as what it should be
│   └── NotFound              well formed, but we do not hold it
└── TransientFailure          a rerun may succeed

Every layer raises these; the command line turns them into their exit code and one message.
"""


class LithouseError(Exception):
    """An error with its culprit and the advice that goes with it.

    Args:
        what: what went wrong, without a final stop.
        which: the culprit as data (an id, a path, a column), "" where there is none.
        advice: what the reader can do about it, "" where nothing helps.
    """

    is_retryable = False
    exit_code = 1
    """Of the command that it ends: 3 where what was done before is kept and the same command goes on from there."""

    def __init__(self, what: str, *, which: str = "", advice: str = "") -> None:
        self.what = what
        self.which = which
        self.advice = advice
        super().__init__(self.message)

    @property
    def message(self) -> str:
        """One line: what, which, advice."""
        text = self.what
        if self.which:
            text += f": {self.which}"
        text += "." if not text.endswith((".", "!", "?")) else ""
        return f"{text} {self.advice}".strip()


class PermanentFailure(LithouseError):
    """A rerun cannot change it."""


class BadInput(PermanentFailure):
    """An argument or a file that cannot be read as what it should be."""


class NotFound(PermanentFailure):
    """Well formed, but not held."""


class TransientFailure(LithouseError):
    """A rerun may succeed."""

    is_retryable = True
