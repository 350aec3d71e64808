"""Installs svengine, moves the installation, and builds and runs programs with it: other people's ways to find a library.

consumer_test.py --cmake CMAKE --build DIR --cc CC --cxx CXX --nm NM --others ARCHIVE,... [--flags FLAGS] [--toolchain FILE]
                 [--emulator COMMAND] [--libraries DIR:...] [--not-shared] [--fortran COMPILER]

--others are libraries that a host program may have a copy of; --libraries are for a cross build, where its shared libraries are.
"""
import argparse
import glob
import os
import re
import shutil
import subprocess
import sys
import tempfile
import unittest

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, '../cli'))
import onnx_writer  # noqa: E402

OPTIONS = argparse.Namespace()  # set by main()
C11 = ['-std=c11', '-Wall', '-Wextra', '-pedantic', '-Werror']


def run(*command, **options):
    done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, **options)
    if done.returncode:
        raise AssertionError('%s\n%s\nexit code %d' % (' '.join(command), done.stdout, done.returncode))
    return done.stdout


def read(*names):
    with open(os.path.join(*names)) as file:
        return file.read()


def shared_only(test):
    return lambda self: self.skipTest('built without a shared library') if OPTIONS.not_shared else test(self)


class Consumer(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        folder = tempfile.TemporaryDirectory(prefix='svengine_consumer_')
        cls.addClassCleanup(folder.cleanup)
        cls.folder, cls.prefix, cls.model = (os.path.join(folder.name, n) for n in ('', 'moved here', 'add.onnx'))
        first = cls.path('first')
        for component in ('program', 'library', 'development', 'fortran'):
            run(OPTIONS.cmake, '--install', OPTIONS.build, '--prefix', first, '--component', component)
        shutil.move(first, cls.prefix)
        cls.lib = os.path.dirname(cls.installed('libsvengine.a'))
        with open(cls.model, 'wb') as f:
            f.write(onnx_writer.add_model())

    @classmethod
    def path(cls, *names):
        return os.path.join(cls.folder, *names)

    @classmethod
    def installed(cls, name):
        found = glob.glob(os.path.join(glob.escape(cls.prefix), '**', name), recursive=True)
        if len(found) != 1:
            raise AssertionError('%s is installed %d times' % (name, len(found)))
        return found[0]

    def works(self, program, *arguments):
        """What a program says that found nothing wrong; our library is found by its own path, others of a cross build by the environment."""
        environment = dict(os.environ, LD_LIBRARY_PATH=OPTIONS.libraries) if OPTIONS.libraries else None
        self.assertRegex(run(*OPTIONS.emulator, program, *(arguments or [self.model]), env=environment), r'^svengine [0-9.]+ works for')

    def compiled(self, source, *flags):
        """An object of a source of this folder, or of `self.folder`."""
        name = os.path.basename(source)
        out = self.path(name + '.o')
        compiler = [OPTIONS.cc, *C11] if source.endswith('.c') else [OPTIONS.cxx, '-std=c++17']
        run(*compiler, *OPTIONS.flags, *flags, '-c', os.path.join(HERE, source), '-o', out)
        return out

    def linked(self, name, objects, *flags):
        out = self.path(name)
        linker = OPTIONS.cc if all(o.endswith('.c.o') for o in objects) else OPTIONS.cxx
        run(linker, *OPTIONS.flags, *objects, '-o', out, *flags)
        return out

    def shared_flags(self):
        search = ['-Wl,-rpath-link,' + d for d in OPTIONS.libraries.split(':') if d]
        return ['-L' + self.lib, '-lsvengine', '-Wl,-rpath,' + self.lib, *search]

    def static_flags(self):
        return [os.path.join(self.lib, 'libsvengine.a'), '-fopenmp', '-lpthread', *(['-static'] if OPTIONS.toolchain else [])]

    def pkg_config(self, *arguments, of='svengine'):
        environment = dict(os.environ, PKG_CONFIG_LIBDIR=os.path.dirname(self.installed('svengine.pc')))
        text = run('pkg-config', *arguments, of, env=environment)
        return [word.replace('\\ ', ' ') for word in re.findall(r'(?:\\.|\S)+', text)]

    def by_cmake(self, kind, *options):
        build = self.path('cmake_' + kind)
        if OPTIONS.toolchain:
            options += ('-DCMAKE_TOOLCHAIN_FILE=' + OPTIONS.toolchain,)
        # A toolchain looks for packages below its own root only, so the folder is given by itself.
        run(OPTIONS.cmake, '-G', 'Ninja', '-S', HERE, '-B', build, '-Dsvengine_DIR=' + os.path.dirname(self.installed('svengineConfig.cmake')),
            '-DSVENGINE_FORTRAN=%d' % bool(OPTIONS.fortran),
            *('-DCMAKE_%s_FLAGS=%s' % (language, ' '.join(OPTIONS.flags)) for language in ('C', 'CXX', 'Fortran')), *options)
        run(OPTIONS.cmake, '--build', build)
        self.works(os.path.join(build, 'consumer'))
        self.works(os.path.join(build, 'c_consumer'))
        if OPTIONS.fortran:
            self.works(os.path.join(build, 'fortran_consumer'))

    def test_cmake_static(self):
        self.by_cmake('static', *(['-DCMAKE_EXE_LINKER_FLAGS=-static'] if OPTIONS.toolchain else []))

    @shared_only
    def test_cmake_shared(self):
        self.by_cmake('shared', '-DSVENGINE_KIND=shared', '-DCMAKE_EXE_LINKER_FLAGS=' + ' '.join(self.shared_flags()[3:]))

    @shared_only
    def test_pkg_config(self):
        """Its paths are relative to its own: the prefix has moved, and there is a blank in it."""
        program = self.linked('by_pkg_config', [self.compiled('c_consumer.c', *self.pkg_config('--cflags'))],
                              *self.pkg_config('--libs'), *self.shared_flags()[2:])
        self.works(program)

    @shared_only
    def test_pkg_config_fortran(self):
        if not OPTIONS.fortran:
            self.skipTest('built without the Fortran module')
        program = self.path('fortran_by_pkg_config')
        run(OPTIONS.fortran, *OPTIONS.flags, os.path.join(HERE, 'fortran_consumer.f90'), '-o', program,
            *self.pkg_config('--cflags', '--libs', of='svengine-fortran'), *self.shared_flags()[2:])
        self.works(program)

    def test_pkg_config_static(self):
        if OPTIONS.flags:
            self.skipTest('sanitizers do not work in static programs')
        self.works(self.linked('by_pkg_config_static', [self.compiled('c_consumer.c', *self.pkg_config('--cflags'))],
                               '-static', *self.pkg_config('--static', '--libs')))

    @shared_only
    def test_makefile(self):
        """Make knows no blanks in names."""
        plain = self.path('plain')
        os.symlink(self.prefix, plain)
        shutil.copy(os.path.join(HERE, 'Makefile'), self.folder)
        shutil.copy(os.path.join(HERE, 'c_consumer.c'), self.folder)
        flags = ' '.join(OPTIONS.flags)
        run('make', '-C', self.folder, 'PREFIX=' + plain, 'CC=' + OPTIONS.cc, 'CFLAGS=' + flags,
            'LDFLAGS=' + ' '.join([flags] + ['-Wl,-rpath-link,' + d for d in OPTIONS.libraries.split(':') if d]))
        self.works(self.path('with_shared'))
        if not OPTIONS.toolchain:
            self.works(self.path('with_static'))

    @shared_only
    def test_plugin(self):
        """It is compiled with the headers alone, and linked with nothing."""
        include, plugin, model = '-I' + os.path.join(self.prefix, 'include'), self.path('periodic_difference.so'), self.path('periodic.onnx')
        run(OPTIONS.cc, *C11, *OPTIONS.flags, include, '-shared', '-fPIC', '-o', plugin,
            os.path.join(HERE, '../../examples/06_plugin/periodic_difference.c'))
        with open(model, 'wb') as file:
            file.write(onnx_writer.plugin_model())
        consumer = self.compiled('plugin_consumer.c', include)
        self.works(self.linked('plugin_by_shared', [consumer], *self.shared_flags()), model, plugin)
        if not OPTIONS.toolchain:
            self.works(self.linked('plugin_by_static', [consumer], *self.static_flags(), '-lstdc++', '-lm'), model, plugin)

    def traps(self):
        """What a host program with a protobuf and a zlib of its own has: every one of their names. These end the program when called."""
        names = set()
        for library in OPTIONS.others:
            for line in run(OPTIONS.nm, '-g', '--defined-only', library).splitlines():
                words = line.split()
                if len(words) == 3 and words[1] in 'TWVBDR' and not re.match(r'_ZN?K?S|_ZT[ISV]N?K?S|_ZNSt|_ZT[ISV]c$|_ZNK?9__gnu', words[2]):
                    names.add(words[2])
        self.assertIn('inflate', names)
        self.assertGreater(len([n for n in names if 'google8protobuf' in n]), 500)
        source = self.path('traps.cc')
        with open(source, 'w') as f:
            f.write('#include <cstdlib>\n')
            f.writelines('void trap%d() __asm__("%s");\nvoid trap%d() { std::abort(); }\n' % (i, n, i) for i, n in enumerate(sorted(names)))
        return self.compiled(source)

    @shared_only
    def test_host_with_other_protobuf(self):
        """The host's names come first in the search for the library's symbols, and take part in the link of the static library."""
        program = self.compiled('consumer.cc', '-I' + os.path.join(self.prefix, 'include'))
        traps = self.traps()
        shared = self.linked('host_shared', [program, traps], '-rdynamic', *self.shared_flags())
        self.assertIn(' T inflate\n', run(OPTIONS.nm, '-D', shared))
        self.works(shared)
        self.works(self.linked('host_static', [program, traps], *self.static_flags()))

    def headers(self):
        folder = os.path.join(self.prefix, 'include', 'svengine')
        return {name: read(folder, name) for name in os.listdir(folder) if name.endswith(('.h', '.hpp'))}

    def check_exported(self, symbols):
        """Every function of the C header, and of the rest only what is marked as the API in the C++ headers."""
        headers = self.headers()
        declared = set(re.findall(r'^SVENGINE_API [^;(]*?\b(svengine_\w+)\(', headers['svengine.h'] + headers['operators.h'], re.MULTILINE))
        self.assertGreater(len(declared), 20)
        cpp = headers['svengine.hpp'] + headers['nn.hpp']
        classes = set(re.findall(r'^class SVENGINE_API (\w+)', cpp, re.MULTILINE))
        functions = set(re.findall(r'^SVENGINE_API .*?\b(\w+|operator..?)\(', cpp, re.MULTILINE))
        self.assertEqual({s for s in symbols if s.startswith('svengine_')}, declared)
        for symbol in symbols - declared:
            name = re.sub(r'\[abi:\w+\]', '', re.sub(r'^(typeinfo name|typeinfo|vtable) for ', '', symbol))
            found = re.match(r'svengine::(?:nn::)?(\w+::|operator[-+*/]|\w+)', name)
            self.assertTrue(found, symbol)
            self.assertIn(found[1].removesuffix('::'), classes if found[1].endswith('::') else classes | functions, symbol)

    def symbols(self, *arguments):
        lines = [re.match(r'[0-9a-f]+ (\w) (.*)', line) for line in run(OPTIONS.nm, '-C', '--defined-only', *arguments).splitlines()]
        return {m[2].split('@')[0] for m in lines if m and m[1] != 'A' and not m[2].startswith('__')}  # those are a sanitizer's

    @shared_only
    def test_symbols_of_shared_library(self):
        self.check_exported(self.symbols('-D', os.path.join(self.lib, 'libsvengine.so')))

    def test_symbols_of_static_library(self):
        """Also templates of the standard library, which are weak."""
        symbols = self.symbols('-g', self.installed('libsvengine.a'))
        self.check_exported({s for s in symbols if not re.search(r'\b(std|__gnu_cxx)::', s) or re.match(r'(svengine|google)', s)})

    def test_nothing_has_a_path(self):
        """A prefix that was moved has nothing to say of where it was installed or built."""
        for name in glob.glob(os.path.join(glob.escape(self.prefix), '**'), recursive=True):
            if os.path.isfile(name) and re.search(r'\.(cmake|pc|h|hpp)$', name):
                self.assertNotIn(os.path.abspath(OPTIONS.build), read(name), name)
                self.assertNotIn(self.path('first'), read(name), name)

    def test_modulefile(self):
        """Tcl, as the module command would run it: every folder it names is there."""
        if not shutil.which('tclsh'):
            self.skipTest('no tclsh')
        first = self.path('modules')
        run(OPTIONS.cmake, '--install', OPTIONS.build, '--prefix', first, '--component', 'modulefile')
        shutil.copytree(os.path.join(first, 'share'), os.path.join(self.prefix, 'share'), dirs_exist_ok=True)
        [file] = glob.glob(os.path.join(glob.escape(self.prefix), 'share/modulefiles/svengine/*'))
        script = ('proc module-whatis {text} {}\nproc conflict {name} {}\nproc setenv {name value} {puts $value}\n'
                  'proc prepend-path {name value} {puts $value}\nset ModulesCurrentModulefile {%s}\nsource $ModulesCurrentModulefile\n' % file)
        for folder in run('tclsh', input=script).splitlines():
            self.assertTrue(folder.startswith(os.path.realpath(self.prefix)) and os.path.isdir(folder), folder)


def main():
    parser = argparse.ArgumentParser()
    for name in ('cmake', 'build', 'cc', 'cxx', 'nm'):
        parser.add_argument('--' + name, required=True)
    for name in ('flags', 'toolchain', 'emulator', 'libraries', 'others', 'fortran'):
        parser.add_argument('--' + name, default='')
    parser.add_argument('--not-shared', action='store_true')
    options, rest = parser.parse_known_args()
    options.flags = [flag for flag in options.flags.split() if 'sanitize' in flag]
    options.emulator, options.others = options.emulator.split(), options.others.split(',')
    OPTIONS.__dict__.update(options.__dict__)
    unittest.main(argv=sys.argv[:1] + rest)


main()
