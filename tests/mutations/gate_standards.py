"""Faults in what is read, judged and pinned of standards."""

from tests.mutations.planted import Mutation

NUMBER = "tests/gate/test_number.py"
STANDARD = "tests/gate/test_standard.py"
METRIC = "tests/gate/test_metric.py"
REQUIRED = "tests/gate/test_required_standards.py"
POLICY = "tests/gate/test_policy_standard.py"
PIN = "tests/gate/test_pin.py"
RUN = "tests/gate/test_measuring.py"
DONE = "tests/faces/test_standards.py"
VERB = "tests/faces/test_measuring.py"

READ = (
    Mutation(
        "a limit goes through a float",
        "gate/policy_text.py",
        "parse_float=Float)",
        "parse_float=lambda text: Float(str(float(text))))",
        (f"{POLICY}::test_a_limit_is_the_decimal_that_is_written_and_never_a_float",),
    ),
    Mutation(
        "a number of a JSON document goes through a float",
        "gate/metric.py",
        "parse_float=_Number,",
        "parse_float=lambda text: _Number(str(float(text))),",
        (f"{METRIC}::test_a_number_of_a_json_document_is_read_as_it_is_written",),
    ),
    Mutation(
        "of a key that is there twice the last one counts",
        "gate/metric.py",
        "found[key] = _TWICE if key in found else value",
        "found[key] = value",
        (f"{METRIC}::test_a_key_that_is_there_twice_is_not_chosen_from",),
    ),
    Mutation(
        "of different numbers the first one counts",
        "gate/metric.py",
        "if len(different) > 1:",
        "if not different:",
        (f"{METRIC}::test_the_same_number_twice_is_one_number_and_different_ones_are_none",),
    ),
    Mutation(
        "a rate of nothing is taken for what it says",
        "gate/metric.py",
        'if counted and root.get(counted) is not None and _number(_attribute(root, counted)) == "0":',
        "if not counted and root is None:",
        (f"{METRIC}::test_a_rate_of_nothing_is_unmeasured_and_not_zero",),
    ),
    Mutation(
        "entities of a report are expanded",
        "gate/markup.py",
        "return fromstring(content)",
        "return fromstring(content, forbid_entities=False)",
        (f"{METRIC}::test_a_document_that_declares_entities_is_refused",),
    ),
    Mutation(
        "a huge exponent is worked out",
        "gate/number.py",
        "exponent < -DIGITS or value.adjusted() >= DIGITS",
        "exponent < -DIGITS",
        (f"{NUMBER}::test_what_is_no_handy_decimal_number_is_refused",),
    ),
    Mutation(
        "what was not measured counts as zero",
        "gate/measuring.py",
        "return measured(required, None, receipt=receipt.id, detail=str(reason))",
        'return measured(required, "0", receipt=receipt.id, detail=str(reason))',
        (f"{DONE}::test_a_missing_number_is_unmeasured_and_not_zero",),
    ),
    Mutation(
        "a report is read from the tree",
        "gate/captured.py",
        '            with open(self._kept(output.digest), "rb") as file:\n                content = file.read()',
        '            with open(os.path.join(self._top, output.path), "rb") as file:\n                content = file.read()',
        (f"{DONE}::test_a_job_that_forges_a_report_of_another_job_changes_nothing",),
    ),
    Mutation(
        "a receipt forgets the lines that were printed",
        "gate/bench.py",
        'metrics=_metrics(result) if outcome == "passed" else (),',
        "metrics=(),",
        (f"{RUN}::test_a_receipt_keeps_the_lines_that_a_pass_printed",),
    ),
)

JUDGED = (
    Mutation(
        "exactly the margin is too much",
        "gate/standard.py",
        "return at_most(self.bound, value) if up else at_most(value, self.bound)",
        "return not (at_most(value, self.bound) if up else at_most(self.bound, value))",
        (f"{STANDARD}::test_a_limit_is_kept_exactly",),
    ),
    Mutation(
        "differences are rounded as floats are",
        "gate/number.py",
        "return _written(_EXACT.subtract(Decimal(one), Decimal(other)))",
        "return _written(Decimal(str(float(one) - float(other))))",
        (f"{STANDARD}::test_every_pair_of_tenths_at_exactly_the_margin_is_met",),
    ),
    Mutation(
        "a loosened standard is not named",
        "gate/requirement.py",
        "    found += _changed_standards(judging, candidate)\n",
        "",
        (f"{REQUIRED}::test_a_standard_that_is_removed_or_loosened_is_named_until_it_is_accepted",),
    ),
    Mutation(
        "a raised margin is no loosening",
        "gate/standard.py",
        "if at_most(old.bound, new.bound) if up else at_most(new.bound, old.bound):",
        "if at_most(old.limit, new.limit) if up else at_most(new.limit, old.limit):",
        (f"{STANDARD}::test_what_allows_more_than_before_is_looser",),
    ),
    Mutation(
        "a number read elsewhere need not be met as it was",
        "gate/requirement.py",
        "and (name in remade_names or standard.job in old)",
        "and standard.job in old",
        (f"{REQUIRED}::test_a_number_that_is_read_elsewhere_has_to_be_met_old_and_new",),
    ),
    Mutation(
        "a standard is measured from a job that was made to please it",
        "gate/requirement.py",
        "and (name in remade_names or standard.job in old)",
        "and name in remade_names",
        (f"{REQUIRED}::test_a_standard_of_a_job_that_changed_is_measured_from_the_old_job_too",),
    ),
    Mutation(
        "a Proof is for whatever limits",
        "gate/situation.py",
        "found.identities.values(), found.required.standards\n",
        "found.identities.values()\n",
        (f"{DONE}::test_a_reading_that_was_accepted_once_is_not_accepted_for_whoever_asks_next",),
    ),
    Mutation(
        "a measurement passes over what a branch loosened",
        "gate/inquiry.py",
        "if found.required.objections and (kind.proves or kind.measures):",
        "if found.required.objections and kind.proves:",
        (f"{VERB}::test_a_loosened_standard_is_named_and_measured_only_if_it_is_accepted",),
    ),
)

PINNED = (
    Mutation(
        "a pin loosens",
        "gate/standard.py",
        "return self.limit if looser else wanted",
        "return wanted",
        (f"{STANDARD}::test_a_pin_stays_a_margin_short_of_what_was_measured_and_never_loosens",),
    ),
    Mutation(
        "a pin takes the luckiest run for the usual one",
        "gate/standard.py",
        "wanted = (minus if up else plus)(value, self.margin)",
        "wanted = value",
        (
            f"{STANDARD}::test_a_number_that_scatters_within_its_margin_never_turns_red_by_being_pinned",
        ),
    ),
    Mutation(
        "a pin overwrites what was edited meanwhile",
        "gate/pin.py",
        "if found.standards.get(pin.standard) != judged.standards[pin.standard]:",
        "if pin.standard not in found.standards:",
        (f"{PIN}::test_a_standard_that_was_edited_meanwhile_is_not_overwritten",),
    ),
    Mutation(
        "something is pinned where not everything was met",
        "faces/cli/verb_standards.py",
        'if answer.outcome != "met":',
        'if answer.outcome == "running":',
        (f"{VERB}::test_nothing_is_pinned_where_something_was_not_met",),
    ),
    Mutation(
        "a merged tree is judged by the trunk as it is known",
        "gate/reading.py",
        "if question.against is not None:",
        "if question.against is None and begun is None and store is None:",
        (f"{VERB}::test_two_branches_that_each_improve_are_measured_as_they_will_be_together",),
    ),
)

STANDARDS = (*READ, *JUDGED, *PINNED)
