#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Installs into an empty folder, runs what is there from somewhere else, and builds a program against it.

    check_install.py BUILD_FOLDER MODEL CXX_COMPILER CXX_FLAGS
"""
import json
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile


def run(*command, cwd, errors=False, **more):
    done = subprocess.run([str(c) for c in command], cwd=cwd, capture_output=True, text=True, **more)
    if done.returncode != 0:
        sys.exit(f"{' '.join(map(str, command))}\nfailed with {done.returncode}:\n{done.stdout}{done.stderr}")
    return done.stderr if errors else done.stdout


def check_c(examples, sources, prefix, words, program):
    """The shared library: linked by CMake, and by pkg-config after the tree was moved."""
    moved = examples / "moved"
    shutil.copytree(prefix, moved, symlinks=True)
    flags = run("pkg-config", "--cflags", "--libs", "joulecast", cwd=examples,
                env={**os.environ, "PKG_CONFIG_PATH": str(moved / "lib/pkgconfig")}).split()
    run("cc", sources / "predict.c", *flags, f"-Wl,-rpath,{moved}/lib", "-o", "by_pkg_config", cwd=examples)
    for name in ("predict_in_c", "by_pkg_config"):
        said = json.loads(run(examples / name, *words, cwd=examples))["predictions"][0]["time_s"]["value"]
        if abs(said / program - 1) > 1e-12:
            sys.exit(f"the program says {program} s, {name} {said} s")
    measured = json.loads(run(examples / "measure_in_c", cwd=examples))
    if not measured["time_s"]["mean"] > 0:
        sys.exit(f"a program in C measures no time of itself: {measured}")


def main(build, model, compiler, flags):
    build, model = pathlib.Path(build).resolve(), pathlib.Path(model).resolve()
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        prefix = folder / "prefix"
        run("cmake", "--install", build, "--prefix", prefix, cwd=folder)
        for part in ["bin/joulecast", "share/joulecast/joulecast.jcpack", "libexec/joulecast/joulecast-train",
                     "libexec/joulecast/joulecast-measure", "libexec/joulecast/joulecast-profile",
                     "libexec/joulecast/joulecast-run-python-torch", "libexec/joulecast/joulecast-run-onnxruntime",
                     "libexec/joulecast/joulecast_run/torch_ops/products.py", "libexec/joulecast/joulecast_run/onnx_ops/products.py",
                     "include/joulecast/predict.h", "include/joulecast/marks.h", "lib/libjoulecast_marks.a", "share/joulecast/hook/sitecustomize.py",
                     "share/joulecast/hook/joulecast_marks.py",
                     "share/joulecast/hook/joulecast_hook/pytorch.py"]:
            if not (prefix / part).is_file():
                sys.exit(f"{part} is not installed")
        if (prefix / "share/joulecast/hook/tests").exists():
            sys.exit("the hook's tests are installed: their folder would be in every program's module path")
        # Neither a home nor a variable helps to find the pack.
        said = run(prefix / "bin/joulecast", "predict", model, "--gpu", "a30", "--batch", "32", "--json",
                   cwd=folder, env={"PATH": "/usr/bin:/bin"})
        program = json.loads(said)["predictions"][0]["time_s"]["value"]
        run(prefix / "bin/joulecast", "train", "--help", cwd=folder)
        # A request before hello: the runner answers it, or says which library its interpreter lacks.
        said = subprocess.run([prefix / "libexec/joulecast/joulecast-run-python-torch"], cwd=folder, capture_output=True, text=True, input="x\n")
        if not said.stdout.startswith("error kind=protocol") and "this runner needs torch" not in said.stderr:
            sys.exit(f"the installed runner does not find its package: {said.stdout}{said.stderr}")
        hooked = run(prefix / "bin/joulecast", "measure", "-q", "--", sys.executable, "-c",
                     "import sys; print('joulecast_hook' in sys.modules)", cwd=folder)
        if hooked.strip() != "True":
            sys.exit("the installed program does not find its Python hook")

        sources = pathlib.Path(__file__).parents[2] / "examples/library"
        examples = folder / "examples"
        run("cmake", "-S", sources, "-B", examples, "-G", "Ninja", f"-DCMAKE_PREFIX_PATH={prefix}",
            f"-DCMAKE_CXX_COMPILER={compiler}", f"-DCMAKE_CXX_FLAGS={flags}", cwd=folder)
        run("cmake", "--build", examples, cwd=folder)
        library = float(run(examples / "predict", prefix / "share/joulecast/joulecast.jcpack", model, "a30", "32", cwd=folder))
        if not 1e-6 < program < 10 or abs(library / program - 1) > 1e-5:
            sys.exit(f"the program says {program} s, the library {library} s")
        check_c(examples, sources / "in_c", prefix, [model, "a30", "32"], program)
        said_in_c = run(prefix / "bin/joulecast", "measure", "--json", "--", examples / "mark_in_c", cwd=folder, errors=True)
        if [phase["name"] for phase in json.loads(said_in_c)["phases"]] != ["work"]:
            sys.exit(f"the phase of a program in C is not found: {said_in_c}")
        print(f"installed program and library both say {program} s")


if __name__ == "__main__":
    main(*sys.argv[1:])
