"""Runs an example at reduced size, in a folder of its own: example_test.py EXAMPLE BUILD [EMULATOR...]

Every example looks at its own result, and ends with another code than 0 where that is not what it should be. Programs that have not been
built, for want of a Fortran compiler, are left out.
"""
import os
import subprocess
import sys
import tempfile

# Commands in their order; the first word is a program of BUILD.
COMMANDS = {
    '03_shallow_water': ['tests/shallow_water_network drag.onnx 400', 'tests/shallow_water_fortran drag.onnx 40 30 40',
                         'tests/shallow_water_cpp drag.onnx 40 30 40'],
    '04_column_physics': ['tests/column_physics_network single.onnx', 'svengine convert single.onnx double.onnx --type double',
                          'tests/column_physics single.onnx double.onnx 200'],
    '05_online_training': ['tests/online_training_network first.onnx', 'tests/online_training first.onnx trained.onnx 1000'],
    '07_wave_inversion': ['tests/wave_inversion 8 30 3'],
}
# Smaller yet where an emulator takes minutes of both cores for the same.
EMULATED = {'07_wave_inversion': ['tests/wave_inversion 6 20 3']}


def main():
    example, build, *emulator = sys.argv[1:]
    with tempfile.TemporaryDirectory(prefix='svengine_example_') as folder:
        for command in (emulator and EMULATED.get(example)) or COMMANDS[example]:
            program, *arguments = command.split()
            path = os.path.join(build, program)
            if program.endswith('_fortran') and not os.path.exists(path):
                continue
            done = subprocess.run([*emulator, path, *arguments], cwd=folder, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
            print('$ %s\n%s' % (command, done.stdout))
            if done.returncode:
                return 'exit code %d' % done.returncode
    return 0


if __name__ == '__main__':
    sys.exit(main())
