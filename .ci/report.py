"""Tells what a JUnit report says: each failure with its text, then one closing line.

Exits with 1 if there is no report or no test in it: a suite that did not run has not passed.
"""

import sys
from pathlib import Path
from xml.etree import ElementTree

LINES_PER_FAILURE = 60


def main(path: Path) -> int:
    """Print the report at `path`; 0 if it holds at least one executed test."""
    try:
        cases = list(ElementTree.parse(path).iter("testcase"))
    except FileNotFoundError:
        print(f"no test report: {path} was not written, so the suite did not run or did not end")
        return 1
    except ElementTree.ParseError as error:
        print(f"unreadable test report {path}: {error}")
        return 1
    failed = skipped = 0
    for case in cases:
        bad = [one for one in case if one.tag in ("failure", "error")]
        if bad:
            failed += 1
            print(f"FAILED {case.get('classname')}::{case.get('name')}")
            for one in bad:
                print("\n".join((one.text or "").splitlines()[-LINES_PER_FAILURE:]), end="\n\n")
        elif case.find("skipped") is not None:
            skipped += 1
            reason = case.find("skipped").get("message", "")
            print(f"SKIPPED {case.get('classname')}::{case.get('name')}: {reason}")
    passed = len(cases) - failed - skipped
    print(f"{passed} passed, {failed} failed, {skipped} skipped")
    return 0 if passed + failed else 1


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1])))
