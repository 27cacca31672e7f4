"""What Cargo and Go can do wherever they are used."""

from tenure.gate.policy import Stage
from tenure.gate.proposal.proposed import Files, Findings, Proposed

READ = ("Cargo.toml", "go.mod", ".golangci.yml", ".golangci.yaml", ".golangci.toml")

_CARGO: tuple[tuple[str, Stage, str, str], ...] = (
    ("format", "fix", "cargo fmt --all", "cargo fmt"),
    ("lint", "check", "cargo clippy --all-targets", "cargo clippy"),
    ("test", "test", "cargo test", "cargo test"),
)
_GO: tuple[tuple[str, Stage, str, str], ...] = (
    ("format", "fix", "gofmt -l -w .", "gofmt"),
    ("vet", "check", "go vet ./...", "go vet"),
    ("test", "test", "go test ./...", "go test"),
)
_GOLANGCI: tuple[tuple[str, Stage, str, str], ...] = (
    ("lint", "check", "golangci-lint run", "golangci-lint run"),
)


def find(files: Files, found: Findings) -> None:
    """Propose what every project in these languages has."""
    linter = next((name for name in READ if name.startswith(".golangci") and name in files), None)
    for source, jobs in (("Cargo.toml", _CARGO), ("go.mod", _GO), (linter, _GOLANGCI)):
        if source is None or source not in files:
            continue
        for name, stage, command, key in jobs:
            tools = frozenset({key})
            job = Proposed(name=name, stage=stage, command=command, source=source, tools=tools)
            found.jobs.append(job)
