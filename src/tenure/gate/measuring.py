"""Measuring the standards of a run, from what its receipts kept and from nothing else.

So a job that is reused says the same number as when it ran, whatever lies in the tree by now.
"""

from tenure.gate.captured import CaptureLost
from tenure.gate.errors import CannotTell
from tenure.gate.measurement import Measurement, told
from tenure.gate.narration import Measured
from tenure.gate.receipt import Receipt
from tenure.gate.report import Failure, FailureKind
from tenure.gate.run_state import Run
from tenure.gate.standard import Metric, StandardRequirement, measured
from tenure.kernel.points import point

_KINDS: dict[str, FailureKind] = {"missed": "missed", "unmeasured": "unmeasured", "unrun": "unrun"}


def measure(run: Run) -> None:
    """Judge every standard that is required, and note those that are not met as failures.

    Raises:
        CannotTell: something a receipt kept is lost.
    """
    point("run.measure")
    for required in run.situation.required.standards:
        found = _measured(run, required)
        run.measurements.append(found)
        run.say(Measured(measurement=found))
        if found.verdict != "met":
            run.failures.append(
                Failure(requirement=required.name, kind=_KINDS[found.verdict], detail=told(found))
            )
    run.raise_if_stopping()


def _measured(run: Run, required: StandardRequirement) -> Measurement:
    receipt = run.receipts.get(required.job)
    if receipt is None or not receipt.passed:
        return measured(required, None, receipt=None, detail=f"{required.job} did not pass")
    from tenure.gate.metric import Unmeasured

    try:
        value = _value(run, required.standard.metric, receipt)
    except Unmeasured as reason:
        return measured(required, None, receipt=receipt.id, detail=str(reason))
    return measured(required, value, receipt=receipt.id)


def _value(run: Run, metric: Metric, receipt: Receipt) -> str:
    """The number that the metric reads from what the receipt kept."""
    from tenure.gate.metric import LARGEST, Unmeasured, read_file, read_lines

    if metric.kind == "line":
        return read_lines(metric, receipt.metrics)
    output = next((one for one in receipt.outputs if one.path == metric.file), None)
    if output is None or output.link:
        kept = "a link" if output else "not among the files that the job wrote"
        raise Unmeasured(f"{metric.file} is {kept}")
    if output.size > LARGEST:
        raise Unmeasured(f"{metric.file} is larger than {LARGEST >> 20} MB")
    try:
        content = run.captured.content(output)
    except CaptureLost as error:
        raise CannotTell(
            what=f"{metric} cannot be measured: {error}", next="ask again with --rerun"
        ) from error
    return read_file(metric, content)
