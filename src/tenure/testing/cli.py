"""The command line with faults planted: `TENURE_FAULTS=… python -m tenure.testing.cli done`."""

import sys

from tenure.faces import cli
from tenure.testing.faults import install_from_environment


def main() -> int:
    """Plant what the environment says, then do what the command line says."""
    install_from_environment()
    return cli.command()


if __name__ == "__main__":
    sys.exit(main())
