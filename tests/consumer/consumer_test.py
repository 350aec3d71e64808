"""Installs the library, moves the installation, and builds and runs a program with find_package(svengine).

consumer_test.py CMAKE BUILD_DIR TOOLCHAIN CXX_FLAGS NM [EMULATOR...]      TOOLCHAIN may be empty
"""
import os
import shutil
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, '../cli'))
import onnx_writer  # noqa: E402


def run(*command):
    done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    if done.returncode:
        sys.exit('%s\n%s\nexit code %d' % (' '.join(command), done.stdout, done.returncode))
    return done.stdout


def check_symbols(prefix, nm):
    """Of the engine only the API is visible, and nothing of protobuf; templates of the standard library may be."""
    for folder, _, files in os.walk(prefix):
        for file in files:
            if file == 'libsvengine.a':
                text = run(nm, '-C', '-g', '--defined-only', os.path.join(folder, file))
                symbols = [line.split(maxsplit=2)[2] for line in text.splitlines() if len(line.split(maxsplit=2)) == 3]
                strange = [s for s in symbols if ('google::' in s or 'svengine::' in s) and
                           not s.removeprefix('typeinfo for ').startswith(('svengine::Network', 'svengine::version', 'svengine::nn::'))]
                if strange or not symbols:
                    sys.exit('%s: %d symbols, not of the API: %s' % (file, len(symbols), strange[:20]))
                return
    sys.exit('no library is installed in ' + prefix)


def main():
    cmake, build, toolchain, flags, nm, *emulator = sys.argv[1:]
    with tempfile.TemporaryDirectory(prefix='svengine_consumer_') as folder:
        first, prefix, consumer = (os.path.join(folder, n) for n in ('first', 'moved', 'build'))
        run(cmake, '--install', build, '--prefix', first, '--component', 'development')
        shutil.move(first, prefix)
        check_symbols(prefix, nm)
        options = ['-DCMAKE_TOOLCHAIN_FILE=' + toolchain, '-DCMAKE_EXE_LINKER_FLAGS=-static'] if toolchain else []
        # The toolchain looks for packages below its own root only; the folder is given by itself.
        config = [d for d, _, files in os.walk(prefix) if 'svengineConfig.cmake' in files]
        run(cmake, '-G', 'Ninja', '-S', HERE, '-B', consumer, '-Dsvengine_DIR=' + config[0], '-DCMAKE_CXX_FLAGS=' + flags, *options)
        run(cmake, '--build', consumer)
        model = os.path.join(folder, 'add.onnx')
        with open(model, 'wb') as f:
            f.write(onnx_writer.add_model())
        print(run(*emulator, os.path.join(consumer, 'consumer'), model))


main()
