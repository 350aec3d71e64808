#!/usr/bin/python3
"""Real trained networks beside themselves, nothing fused: `svengine compare` finds no guilty node. Where a folder of them is at hand.

  real_compare_test.py --svengine PROGRAM --folder FOLDER NAME...
"""
import argparse
import json
import os
import subprocess
import sys

parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
parser.add_argument('--svengine', required=True)
parser.add_argument('--folder', required=True)
parser.add_argument('names', nargs='+')
a = parser.parse_args()
failures = 0
for name in a.names:
    folder = os.path.join(a.folder, name)
    command = [a.svengine, 'compare', os.path.join(folder, 'model.onnx'), '--data-set', folder, '--against', 'no-optimize', '--json']
    run = subprocess.run(command, capture_output=True, text=True)
    report = json.loads(run.stdout) if run.returncode in (0, 1) else {'guilty': None, 'values': []}
    good = report['guilty'] == 0 and len(report['values']) > 0 and all('local' in v for v in report['values'])
    print(f'{name}: {"ok" if good else "FAILED"}, {len(report["values"])} values')
    if not good:
        failures += 1
        print(run.stderr, json.dumps(report.get('first_guilty'), indent=1))
sys.exit(1 if failures else 0)
