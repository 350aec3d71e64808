"""Runs a group of the Fortran tests, or what has to end the program: fortran_test.py GROUP [EMULATOR...] PROGRAM"""
import os
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
# Calls without status and error: how the program ends, and what it says.
ENDS = {
    'end_of_load': "no-such-file.onnx",
    'end_of_run': 'dimension 1 is 2, not 3',
    'end_of_copy': 'cannot be assigned',
}


def run(folder, *arguments):
    program = [os.path.abspath(a) if os.path.exists(a) else a for a in sys.argv[2:]]
    return subprocess.run([*program, *arguments], cwd=folder, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, timeout=600)


def main():
    group = sys.argv[1]
    with tempfile.TemporaryDirectory(prefix='svengine_fortran_') as folder:
        subprocess.run([sys.executable, os.path.join(HERE, 'models.py'), folder], check=True)
        if group != 'ends':
            done = run(folder, group)
            print(done.stdout)
            return done.returncode
        for name, words in ENDS.items():
            done = run(folder, name)
            if done.returncode != 1 or 'svengine: ' not in done.stdout or words not in done.stdout:
                sys.exit('%s: exit code %d\n%s' % (name, done.returncode, done.stdout))
    return 0


if __name__ == '__main__':
    sys.exit(main())
