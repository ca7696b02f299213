#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Installs into an empty folder, runs what is there from somewhere else, and builds a program against it.

    check_install.py BUILD_FOLDER MODEL CXX_COMPILER CXX_FLAGS
"""
import json
import pathlib
import subprocess
import sys
import tempfile


def run(*command, cwd, errors=False, **more):
    done = subprocess.run([str(c) for c in command], cwd=cwd, capture_output=True, text=True, **more)
    if done.returncode != 0:
        sys.exit(f"{' '.join(map(str, command))}\nfailed with {done.returncode}:\n{done.stdout}{done.stderr}")
    return done.stderr if errors else done.stdout


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

        consumer = pathlib.Path(__file__).parent / "consumer"
        run("cmake", "-S", consumer, "-B", folder / "build", "-G", "Ninja", f"-DCMAKE_PREFIX_PATH={prefix}",
            f"-DCMAKE_CXX_COMPILER={compiler}", f"-DCMAKE_CXX_FLAGS={flags}", cwd=folder)
        run("cmake", "--build", folder / "build", cwd=folder)
        library = float(run(folder / "build/consumer", prefix / "share/joulecast/joulecast.jcpack", model, "a30", "32",
                            cwd=folder))
        if not 1e-6 < program < 10 or abs(library / program - 1) > 1e-5:
            sys.exit(f"the program says {program} s, the library {library} s")
        run("cmake", "-S", consumer / "in_c", "-B", folder / "build_in_c", "-G", "Ninja", f"-DCMAKE_PREFIX_PATH={prefix}",
            cwd=folder)
        run("cmake", "--build", folder / "build_in_c", cwd=folder)
        said_in_c = run(prefix / "bin/joulecast", "measure", "--json", "--", folder / "build_in_c/consumer_in_c", cwd=folder,
                        errors=True)
        if [phase["name"] for phase in json.loads(said_in_c)["phases"]] != ["work"]:
            sys.exit(f"the phase of a program in C is not found: {said_in_c}")
        print(f"installed program and library both say {program} s")


if __name__ == "__main__":
    main(*sys.argv[1:])
