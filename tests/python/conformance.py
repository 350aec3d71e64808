#!/usr/bin/env python3
"""Runs ONNX's own backend tests (onnx.backend.test.runner) on svengine.backend, and says how many pass.

  conformance.py [--kernels SET[,SET]] [--filter REGEX] [--expect FILE] [--report DIR] [--table README]

Needs the packages svengine and onnx, whose newest suite is the one that counts. Tests of devices other than the CPU, which the runner
makes too, are not run.
  --expect FILE   exit code 1 unless exactly the tests in FILE fail: a name a line, one that may pass by chance behind "?"
  --report DIR    report.json, trend.json, nodes.csv, models.csv and metadata.csv, as the ONNX Backend Scoreboard keeps them
  --table README  writes the totals between its marks "<!-- onnx runner -->" and "<!-- end -->"
"""
import argparse
import datetime
import io
import json
import os
import re
import sys
import tempfile
import unittest

import numpy
import onnx
import onnx.backend.test.runner

import svengine
import svengine.backend


class Outcomes(unittest.TestResult):
    """Names of tests, as the scoreboard writes them, by outcome."""

    def __init__(self):
        super().__init__()
        self.passed, self.failed, self.left_out = [], {}, []

    def addSuccess(self, test):
        self.passed.append(test)

    def addFailure(self, test, err):
        self.failed[test] = str(err[1]).strip()

    addError = addFailure

    def addSkip(self, test, reason):
        self.left_out.append(test)


def name_of(test):
    return f'{type(test).__name__}::{test._testMethodName}'


def run(kernels, pattern):
    """The outcomes, and the runner with its models."""
    class Chosen(svengine.backend.SVEngineBackend):
        @classmethod
        def is_compatible(cls, model, device='CPU', **kwargs):
            return True  # a model that is refused is a failure, not one left out

        @classmethod
        def prepare(cls, model, device='CPU', **kwargs):
            return super().prepare(model, device, kernels=kernels, **kwargs)

    numpy.random.seed(0)  # the cases are made now, some of them of random numbers
    runner = onnx.backend.test.runner.Runner(Chosen, __name__)
    runner.exclude('_cuda$')
    if pattern:
        runner.include(pattern)
    outcomes = Outcomes()
    # Networks with inputs of the runner's own making are kept where ONNX_MODELS says.
    with tempfile.TemporaryDirectory(prefix='svengine_onnx_') as folder:
        os.environ['ONNX_MODELS'] = folder
        runner.test_suite.run(outcomes)
    return outcomes, runner


def expected_failures(path):
    """Names, and those of tests that may pass by chance."""
    with open(path, encoding='utf-8') as file:
        lines = [line.split('#')[0].strip() for line in file]
    return {line for line in lines if line and line[0] != '?'}, {line[1:].strip() for line in lines if line.startswith('?')}


def differences(outcomes, path):
    certain, by_chance = expected_failures(path)
    found = {name_of(test) for test in outcomes.failed}
    return [f'fails, and must pass: {name}' for name in sorted(found - certain - by_chance)] + [
        f'passes, and is listed as failing in {path}: {name}' for name in sorted(certain - found)]


def coverage_of(outcomes, runner):
    """What onnx.backend.test.report counts, which its pytest plugin fills otherwise."""
    from onnx.backend.test.report.coverage import Coverage
    coverage, passed = Coverage(), {name_of(test) for test in outcomes.passed}
    for category, items in runner._test_items.items():
        for name, item in items.items():
            for proto in item.proto:
                if proto is not None:
                    is_model = category == 'RealModel'
                    coverage.add_proto(proto, 'loaded', is_model)
                    if f'OnnxBackend{category}Test::{name}' in passed:
                        coverage.add_proto(proto, 'passed', is_model)
    return coverage


def write_report(folder, outcomes, runner):
    """The scoreboard's files. trend.json gets an entry more, unless the last one has the same totals."""
    os.makedirs(folder, exist_ok=True)
    versions = [{'name': 'svengine', 'version': svengine.__version__}, {'name': 'onnx', 'version': onnx.__version__}]
    date = datetime.datetime.now(datetime.timezone.utc).strftime('%m/%d/%Y %H:%M:%S')
    lists = {'passed': outcomes.passed, 'failed': outcomes.failed, 'skipped': outcomes.left_out}
    coverage = coverage_of(outcomes, runner)
    write_json(os.path.join(folder, 'report.json'), {
        'date': date, 'versions': versions, **{kind: sorted(name_of(t) for t in tests if not name_of(t).endswith('_cuda')) for kind, tests in lists.items()}})
    path = os.path.join(folder, 'trend.json')
    trend = []
    if os.path.exists(path):
        with open(path, encoding='utf-8') as file:
            trend = json.load(file)
    entry = {'date': date, 'failed': len(outcomes.failed), 'passed': len(outcomes.passed), 'skipped': 0,
             'total_ops': len(coverage.buckets['passed']), 'versions': versions}
    same = trend and {**trend[-1], 'date': date} == entry
    write_json(path, trend[:-1] + [entry] if same else trend + [entry])
    os.environ.update(CSVDIR=folder, BACKEND='svengine')
    coverage.report_text(io.StringIO())


def write_json(path, value):
    with open(path, 'w', encoding='utf-8') as file:
        json.dump(value, file, indent=4, sort_keys=True)
        file.write('\n')


def write_table(path, totals):
    """totals: kernel set, passed and failed of each row."""
    with open(path, encoding='utf-8') as file:
        text = file.read()
    rows = [f'| ONNX {onnx.__version__} | {kernels} | {passed} | {failed} | {passed + failed} |\n' for kernels, passed, failed in totals]
    marks = re.compile(r'(<!-- onnx runner -->\n)(.*?)(<!-- end -->)', re.DOTALL)
    if not marks.search(text):
        sys.exit(f'conformance.py: {path} has no "<!-- onnx runner -->"')
    head = '| tests | kernels | passed | failed | of |\n|---|---|---|---|---|\n'
    with open(path, 'w', encoding='utf-8') as file:
        file.write(marks.sub(lambda m: m[1] + head + ''.join(rows) + m[3], text))


def judge(kernels, options):
    """Runs one kernel set and prints what came of it: passed, failed, and how many differ from what --expect says."""
    outcomes, runner = run(kernels, options.filter)
    for test, why in sorted(outcomes.failed.items(), key=lambda item: name_of(item[0])):
        print(f'failed: {name_of(test)}: {" ".join(why.split())[:200]}')
    if options.report:
        write_report(options.report, outcomes, runner)
    passed, failed = len(outcomes.passed), len(outcomes.failed)
    print(f'ONNX {onnx.__version__}, its own runner, kernels {kernels}: {passed} passed, {failed} failed, of {passed + failed}')
    different = differences(outcomes, options.expect) if options.expect else []
    print('\n'.join(different), end='\n' if different else '')
    return passed, failed, len(different)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument('--kernels', default=svengine.kernel_sets()[0])
    for option in ('--filter', '--expect', '--report', '--table'):
        parser.add_argument(option)
    options = parser.parse_args()
    sets = options.kernels.split(',')
    totals = [(kernels, *judge(kernels, options)) for kernels in sets]
    if options.table:
        write_table(options.table, [total[:3] for total in totals])
    return 1 if any(different or passed == 0 for _, passed, _, different in totals) else 0


if __name__ == '__main__':
    sys.exit(main())
