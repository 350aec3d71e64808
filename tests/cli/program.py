"""The svengine program from outside, for the tests here. Standard library only; models are made here or by `svengine zoo`."""
import json
import os
import re
import subprocess
import sys
import tempfile
import time
import unittest

PROGRAM = []  # set by main()
MOST_SECONDS, MOST_MIB = 1.0, 256  # that hostile input may take: of a processor, beyond the files
# What preset asan says by itself where the program asks for more memory than there is; the program then reports that.
SANITIZER_WARNING = re.compile(r'^==\d+==WARNING: AddressSanitizer failed to allocate .*\n', re.MULTILINE)


class Answer:
    def __init__(self, done):
        self.code, self.out, self.err = done.returncode, done.stdout, SANITIZER_WARNING.sub('', done.stderr)

    def json(self):
        return json.loads(self.out)

    def __str__(self):
        return 'exit code %s\n--- stdout\n%s\n--- stderr\n%s' % (self.code, self.out, self.err)


def svengine(*arguments, **options):
    done = subprocess.run(PROGRAM + [str(a) for a in arguments], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, timeout=600,
                          stdin=subprocess.DEVNULL, **options)
    return Answer(done)


class CliTest(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory(prefix='svengine_cli_')
        self.addCleanup(self.folder.cleanup)

    def path(self, name):
        return os.path.join(self.folder.name, name)

    def write(self, name, data):
        path = self.path(name)
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(path, 'wb') as f:
            f.write(data)
        return path

    def read(self, name):
        with open(self.path(name), 'rb') as f:
            return f.read()

    def succeeds(self, *arguments, **options):
        answer = svengine(*arguments, **options)
        self.assertEqual(answer.code, 0, answer)
        return answer

    def fails(self, *arguments, code=2, says=(), shows=(), **options):
        """An error is one message on standard error, and nothing on standard output but what `shows` names."""
        answer = svengine(*arguments, **options)
        self.assertEqual(answer.code, code, answer)
        self.assertTrue(answer.err.startswith('svengine: '), answer)
        for text in [says] if isinstance(says, str) else says:
            self.assertIn(text, answer.err, answer)
        for text in shows:
            self.assertIn(text, answer.out, answer)
        if code == 2 and not shows:
            self.assertEqual(answer.out, '', answer)
        for character in answer.err:
            self.assertTrue(character == '\n' or ord(character) >= 32, answer)
        return answer

    def bounded(self, code, *arguments, files=(), mib=MOST_MIB, **options):
        """Ends with this code, or one of several, within the bounds of hostile input; gives its output. Memory is beyond the files."""
        begin = time.time()
        process = subprocess.Popen(PROGRAM + [str(a) for a in arguments], stdout=subprocess.PIPE, stderr=subprocess.PIPE, stdin=subprocess.DEVNULL, **options)
        with process.stdout, process.stderr:
            out, err = process.stdout.read(), process.stderr.read()
        _, status, usage = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
        seconds, most = time.time() - begin, usage.ru_maxrss / 1024
        size = sum(os.path.getsize(f) for f in files if os.path.isfile(f)) / 2**20
        text = 'exit code %d in %.2f s and %.0f MiB\n%s%s' % (process.returncode, seconds, most, out.decode(), err.decode())
        self.assertIn(process.returncode, (code,) if isinstance(code, int) else code, text)
        ours = b'\n'.join(line for line in (out + err).split(b'\n') if not line.startswith(b'libgomp:'))  # of GCC 14 repeats what it was given
        for byte in ours:
            self.assertTrue(byte == 10 or byte >= 32, text)
        if len(PROGRAM) == 1 and not is_sanitized():
            self.assertLess(usage.ru_utime + usage.ru_stime, MOST_SECONDS, text)
            self.assertLess(most, mib + size, text)
        return text


def is_sanitized():
    """Whether the program is preset asan's, whose memory says nothing."""
    with open(PROGRAM[-1], 'rb') as file:
        return b'__asan_init' in file.read()


def main(usage):
    """Runs the tests of the calling file: FILE [EMULATOR...] PROGRAM. Under an emulator everything is the same, but slower."""
    PROGRAM[:] = sys.argv[1:]
    os.environ.setdefault('OMP_NUM_THREADS', '1')  # other tests may run beside this one
    if not PROGRAM:
        sys.exit(usage)
    unittest.main(module='__main__', argv=[sys.argv[0], '-v'] if os.environ.get('CLI_TEST_VERBOSE') else sys.argv[:1])
