"""Fortran programs with the installed module: installed_test.py CMAKE BUILD_DIR FORTRAN_COMPILER

The installation is moved. An example is built with find_package(svengine) and the compiled module; a program by hand, with the module compiled
from the installed sources in the order that FORTRAN.md says. Both are run.
"""
import glob
import os
import re
import shutil
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.join(HERE, '../..')
PROGRAM = '''program by_hand
use svengine
type(sv_network) :: network
type(sv_context) :: context
real, target :: x(3, 5), y(2, 5)
x = 0.5
call network%load('mlp32.onnx')
call context%create(network)
call context%run(sv_array(x), sv_array(y))
if (any(y(:, 2:) /= y(:, :4))) error stop 'equal columns give different results'
end program
'''


def run(folder, *command):
    done = subprocess.run(command, cwd=folder, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    if done.returncode:
        sys.exit('%s\n%s\nexit code %d' % (' '.join(command), done.stdout, done.returncode))
    return done.stdout


def found(prefix, name):
    return glob.glob(os.path.join(prefix, '**', name), recursive=True)[0]


def order_of_sources():
    with open(os.path.join(ROOT, 'FORTRAN.md'), encoding='utf-8') as file:
        order = re.search(r'in this\s+order:(.*?);', file.read(), re.DOTALL)[1]
    return re.findall(r'`(\w+\.[fF]90)`', order)


def main():
    cmake, build, compiler = sys.argv[1:]
    with tempfile.TemporaryDirectory(prefix='svengine_installed_') as folder:
        first, prefix, example, by_hand = (os.path.join(folder, n) for n in ('first', 'moved', 'example', 'by_hand'))
        for component in ('library', 'development', 'fortran'):
            run(folder, cmake, '--install', build, '--prefix', first, '--component', component)
        shutil.move(first, prefix)

        run(folder, cmake, '-G', 'Ninja', '-S', os.path.join(ROOT, 'examples/05_online_training'), '-B', example,
            '-Dsvengine_DIR=' + os.path.dirname(found(prefix, 'svengineConfig.cmake')), '-DCMAKE_Fortran_COMPILER=' + compiler)
        run(folder, cmake, '--build', example)
        run(folder, os.path.join(example, 'online_training_network'), 'first.onnx')
        print(run(folder, os.path.join(example, 'online_training'), 'first.onnx', 'trained.onnx', '2000'))

        os.mkdir(by_hand)
        run(by_hand, sys.executable, os.path.join(HERE, 'models.py'), by_hand)
        with open(os.path.join(by_hand, 'by_hand.f90'), 'w', encoding='utf-8') as file:
            file.write(PROGRAM)
        sources = [found(prefix, name) for name in order_of_sources()]
        libraries = os.path.dirname(found(prefix, 'libsvengine.a'))
        run(by_hand, compiler, *sources, 'by_hand.f90', '-o', 'by_hand', '-L' + libraries, '-Wl,-rpath,' + libraries, '-lsvengine', '-lstdc++', '-fopenmp')
        run(by_hand, os.path.join(by_hand, 'by_hand'))


if __name__ == '__main__':
    main()
