"""Children: what they may do, what becomes of them, and that nothing of them is left."""

import json
import os
import signal
import subprocess
import sys
import time

import numpy as np
import pytest

from keras_attention.course import catalog, forked
from keras_attention.course.channels import Ended
from keras_attention.course.fresh import Fresh
from keras_attention.course.sealed import hooks, linux, protocol, sandbox
from keras_attention.course.sealed.sandbox import LAYERS, Limits, isolation
from keras_attention.course.sealed.values import pack, unpack
from keras_attention.course.student import Student
from keras_attention.course.verdict import Failure, GraderFault

EX01 = catalog.exercises()[0]
INPUT = np.arange(6, dtype="float32").reshape(2, 3)


def answers(channel, source, *calls):
    requests = [{"verb": "load", "source": source, "filename": "answer.py"}]
    requests += [{"verb": "call", "name": "f", "args": [value], "kwargs": {}} for value in calls or [INPUT]]
    return [unpack(channel.ask(pack(request))) for request in requests]


def last_answer(channel, source):
    return answers(channel, source)[-1]


def test_a_child_answers_with_arrays(open_channel):
    with open_channel() as channel:
        _, first, second = answers(channel, "count = 0\ndef f(x):\n    return x + 1, 'ok'", INPUT, 2 * INPUT)
    assert first["value"][1] == "ok"
    assert np.array_equal(first["value"][0], INPUT + 1)
    assert np.array_equal(second["value"][0], 2 * INPUT + 1)


def test_a_child_can_run_keras_and_tensorflow(open_channel):
    source = (
        "import keras, tensorflow as tf\n"
        "def f(x):\n    return keras.layers.Dense(4)(x) * 0, tf.function(tf.nn.softmax)(x)\n"
    )
    with open_channel() as channel:
        dense, softmax = last_answer(channel, source)["value"]
    assert dense.shape == (2, 4)
    assert np.allclose(softmax.sum(-1), 1)


def test_errors_are_data(open_channel):
    with open_channel() as channel:
        error = last_answer(channel, "def f(x):\n    return x.T @ x.T")["error"]
        assert (error["cause"], error["kind"], error["line"]) == ("exception", "ValueError", 2)
        assert "mismatch" in error["message"]
        ends = unpack(channel.ask(pack({"verb": "call", "name": "g", "args": [], "kwargs": {}})))["error"]
        assert (ends["cause"], ends["message"]) == ("missing", "g")


@pytest.mark.parametrize(
    ("body", "cause"),
    [
        ("raise SystemExit(0)", "exception"),
        ("raise BaseException('x')", "exception"),
        ("return f(x)", "exception"),
        ("return input()", "exception"),
        ("return (row for row in x)", "wrong value"),
        ("return x.astype('complex64')", "wrong value"),
        ("return bytearray(2**40)", "memory"),
        ("import keras_attention", "forbidden"),
        ("import keras\n    return keras.layers.MultiHeadAttention(2, 3)(x, x)", "forbidden"),
        ("import keras\n    return getattr(keras.ops, 'dot_product_' + 'attention')(x, x, x)", "forbidden"),
        ("import tensorflow as tf\n    return tf.keras.layers.Attention()([x, x])", "forbidden"),
        ("import os\n    os.fork()", "forbidden"),
        ("import subprocess\n    subprocess.run(['true'])", "forbidden"),
        ("import os\n    os.kill(os.getppid(), 9)", "forbidden"),
        ("import socket\n    socket.create_connection(('127.0.0.1', 9))", "forbidden"),
        ("open('/tmp/keras-attention-test', 'w')", "forbidden"),
        (f"open({sandbox.__file__!r}).read()", "forbidden"),
        (f"open({str(EX01.solution)!r}).read()", "forbidden"),
        (f"open({str(EX01.checks)!r}).read()", "forbidden"),
    ],
)
def test_what_fails_has_its_cause(request, open_channel, body, cause):
    if "keras" in body and "fresh" in request.node.name:
        pytest.skip("the import of Keras takes long")
    with open_channel() as channel:
        assert last_answer(channel, f"def f(x):\n    {body}")["error"]["cause"] in (cause, "crash")


def test_an_error_that_cannot_say_what_it_is(open_channel):
    source = (
        "class E(Exception):\n    def __str__(self): raise E\nE.__name__ = 'x' * 9999\ndef f(x): raise E\n"
    )
    with open_channel() as channel:
        error = last_answer(channel, source)["error"]
    assert error["message"] == "(the error cannot say what it is)"
    assert error["kind"] == "x" * 80


@pytest.mark.parametrize(
    "body",
    [
        "while True: pass",
        "while True:\n        try:\n            while True: pass\n        except BaseException: pass",
        "import time; time.sleep(1000)",
        "import sys\n    while True: sys.stdout.write('x' * 10**6)",
        "import threading; threading.Event().wait()",
    ],
)
def test_time_is_limited(open_channel, body):
    with open_channel(seconds=1.0) as channel:
        answers(channel, "def f(x): return x")
        began = time.monotonic()
        with pytest.raises(Ended, match="time"):
            last_answer(channel, f"def f(x):\n    {body}")
        assert time.monotonic() - began < 60


@pytest.mark.parametrize(
    "body", ["import os; os._exit(0)", "import os; os.abort()", "import os; os.close(3)\n    os._exit(7)"]
)
def test_a_child_that_ends_is_a_crash(open_channel, body):
    with open_channel() as channel, pytest.raises(Ended, match="crash"):
        last_answer(channel, f"def f(x):\n    {body}")


def test_output_is_kept_up_to_a_limit_and_never_holds_up(open_channel):
    source = "def f(x):\n    print('said')\n    print('x' * 10**7)\n    return x"
    with open_channel() as channel:
        assert np.array_equal(last_answer(channel, source)["value"], INPUT)
        time.sleep(0.1)
    assert channel.output.startswith(b"said\nxxx")
    assert len(channel.output) <= 2**16


def test_what_is_printed_is_there_when_the_answer_is(zygote):
    with zygote.open(Limits(60)) as channel:
        last_answer(channel, "def f(x):\n    print('said')\n    return x")
        assert channel.output == b"said\n"


def test_a_child_gets_copies_and_cannot_read_further_input(open_channel):
    with open_channel() as channel:
        first = last_answer(channel, "def f(x):\n    x += 1\n    return x")
        second = last_answer(channel, "def f(x):\n    import sys\n    return sys.stdin.read()")
    assert np.array_equal(first["value"], INPUT + 1)
    assert second["value"] == ""


def test_no_process_is_left(open_channel, alive):
    source = (
        "import threading, atexit, time\n"
        "atexit.register(time.sleep, 1000)\n"
        "def f(x):\n    threading.Thread(target=time.sleep, args=(1000,)).start()\n    return x\n"
    )
    before = alive()
    with open_channel() as channel:
        last_answer(channel, source)
    deadline = time.monotonic() + 20
    while alive() - before and time.monotonic() < deadline:
        time.sleep(0.05)
    assert not alive() - before


# the zygote


def test_no_operation_has_run_in_the_zygote(zygote):
    assert zygote.clean


def test_a_zygote_that_has_run_an_operation_says_so():
    import keras

    from keras_attention.course.sealed.zygote import clean

    keras.ops.ones(3)
    assert not clean()


def test_the_zygote_knows_neither_checks_nor_the_package(zygote):
    source = (
        "import sys, gc\n"
        "def f(x):\n"
        "    ours = [name for name in sys.modules if 'keras_attention' in name and sys.modules[name]]\n"
        "    text = [o for o in gc.get_objects() if isinstance(o, str) and 'MISTAKES' in o]\n"
        "    return ours, len(text), sys.path\n"
    )
    with zygote.open(Limits(60)) as channel:
        ours, texts, path = last_answer(channel, source)["value"]
    assert (ours, texts) == ([], 0)
    assert not any("wt-grader" in folder or folder == "" for folder in path)


@pytest.mark.parametrize("count", [10, pytest.param(200, marks=pytest.mark.slow)])
def test_forks_in_a_row_all_work(count, zygote):
    source = "import keras\ndef f(x): return keras.ops.matmul(x, x.T)"
    for _ in range(count):
        with zygote.open(Limits(60)) as channel:
            assert np.allclose(last_answer(channel, source)["value"], INPUT @ INPUT.T)


@pytest.mark.parametrize("layers", [(), ("limits",), ("namespaces",), ("files",), ("calls",), LAYERS])
def test_keras_works_behind_each_wall_alone(layers, zygote, monkeypatch):
    monkeypatch.setattr(zygote, "layers", tuple(layer for layer in layers if layer in zygote.layers))
    with zygote.open(Limits(60)) as channel:
        assert answers(channel, "import keras\ndef f(x): return keras.ops.softmax(x)")


@pytest.mark.parametrize(
    ("layer", "body"),
    [
        ("namespaces", "import os; return os.getpid() == 1"),
        ("files", "import os\n    try: os.listdir('/')\n    except PermissionError: return True"),
        ("calls", "import os\n    try: os.fork()\n    except PermissionError: return True"),
        ("limits", "\n    try: bytearray(2**27)\n    except MemoryError: return True"),
    ],
)
def test_each_wall_holds_alone(layer, body, zygote, monkeypatch):
    if layer not in zygote.layers:
        pytest.skip(f"this machine has no {layer}")
    for layers, expected in (((layer,), True), ((), False)):
        monkeypatch.setattr(zygote, "layers", layers)
        with zygote.open(Limits(60, 2**26)) as channel:
            answer = last_answer(channel, f"def f(x):\n    {body}")
        assert (answer.get("value") is True) == expected, answer


@pytest.mark.parametrize("layers", [("namespaces", "calls", "limits"), ("limits",), ()])
def test_where_files_have_no_wall_python_refuses_those_of_the_course(layers, zygote, monkeypatch, tmp_path):
    monkeypatch.setattr(zygote, "layers", layers)
    new = tmp_path / "new"
    for body in (
        f"return open({str(EX01.solution)!r}).read()",
        f"return open({str(EX01.checks)!r}).read()",
        f"import os\n    return os.open({str(EX01.solution)!r}, os.O_RDONLY)",
        f"open({str(new)!r}, 'w')",
        f"import os\n    os.mkdir({str(new)!r})",
    ):
        with zygote.open(Limits(60)) as channel:
            assert last_answer(channel, f"def f(x):\n    {body}")["error"]["cause"] == "forbidden"
    assert not new.exists()


CHANGES = {
    "mode": lambda path: os.chmod(path, 0),
    "mode-of-open": lambda path: os.fchmod(os.open(path, os.O_RDONLY), 0),
    "owner": lambda path: os.chown(path, os.getuid(), -1),
    "owner-of-open": lambda path: os.fchown(os.open(path, os.O_RDONLY), os.getuid(), -1),
    "time": lambda path: os.utime(path, (0, 0)),
    "attribute": lambda path: os.setxattr(path, "user.x", b"1"),
    "no-attribute": lambda path: os.removexattr(path, "user.y"),
    "length": lambda path: os.truncate(path, 0),
}
BY_NUMBER = {
    "mode": ("fchmodat2", -100, "PATH", 0, 0),
    "attribute": ("setxattrat", -100, "PATH", 0, 0, 0, 0),
    "no-attribute": ("removexattrat", -100, "PATH", 0, 0),
    "flags": ("file_setattr", -100, "PATH", 0, 0, 0),
}


@pytest.fixture
def own_file(tmp_path):
    path = tmp_path / "grades.csv"
    path.write_text("precious")
    return str(path)


@pytest.mark.parametrize("change", CHANGES)
def test_system_calls_that_change_a_file_are_refused(change, own_file, zygote):
    if "calls" not in zygote.layers:
        pytest.skip("this machine has no filter of system calls")

    def trial():
        sandbox.seal(["calls"], Limits(), sandbox.Readable((), ()), set())
        return sandbox._refused(lambda: CHANGES[change](own_file))

    before = os.stat(own_file)
    assert sandbox._holds(trial)
    assert os.stat(own_file) == before


@pytest.mark.parametrize("change", BY_NUMBER)
def test_so_are_those_that_python_does_not_know(change, own_file, zygote):
    if "calls" not in zygote.layers:
        pytest.skip("this machine has no filter of system calls")
    name, *arguments = BY_NUMBER[change]
    arguments = [own_file.encode() if argument == "PATH" else argument for argument in arguments]

    def trial():
        sandbox.seal(["calls"], Limits(), sandbox.Readable((), ()), set())
        return sandbox._refused(lambda: linux._syscall(linux._NEWER[name], *arguments))

    assert sandbox._holds(trial)


@pytest.mark.parametrize(
    "body",
    [
        "os.chmod({path!r}, 0)",
        "os.utime({path!r}, (0, 0))",
        "os.setxattr({path!r}, 'user.x', b'1')",
        "os.truncate({path!r}, 0)",
    ],
)
def test_no_file_of_the_user_is_changed_behind_all_walls(body, own_file, zygote):
    if zygote.isolation != "full":
        pytest.skip(f"isolation is {zygote.isolation} here")
    before = os.stat(own_file)
    with zygote.open(Limits(60)) as channel:
        error = last_answer(channel, f"import os\ndef f(x):\n    {body.format(path=own_file)}")["error"]
    assert error["cause"] == "forbidden"
    assert os.stat(own_file) == before


def test_signals_and_limits_are_for_the_process_itself(zygote):
    if "calls" not in zygote.layers:
        pytest.skip("this machine has no filter of system calls")
    import platform
    import resource

    to = linux._TO[platform.machine()]

    def trial():
        sandbox.seal(["calls"], Limits(), sandbox.Readable((), ()), set())
        signal.signal(signal.SIGUSR1, lambda *_: None)
        signal.raise_signal(signal.SIGUSR1)
        resource.getrlimit(resource.RLIMIT_CORE)
        parent = os.getppid()
        return sandbox._refused(lambda: linux._syscall(to["tgkill"], parent, parent, 0)) and sandbox._refused(
            lambda: resource.prlimit(parent, resource.RLIMIT_CORE)
        )

    assert sandbox._holds(trial)


@pytest.mark.parametrize("layers", [("calls",), ("files",)])
def test_behind_any_wall_there_are_no_capabilities(layers, zygote, monkeypatch):
    if layers[0] not in zygote.layers:
        pytest.skip(f"this machine has no {layers[0]}")
    monkeypatch.setattr(zygote, "layers", layers)
    source = "def f(x):\n    return [line for line in open('/proc/self/status') if line.startswith('CapEff')]"
    with zygote.open(Limits(60)) as channel:
        assert last_answer(channel, source)["value"] == ["CapEff:\t0000000000000000\n"]


def test_a_sandbox_that_cannot_be_built_is_the_grader_s_fault(zygote):
    if "limits" not in zygote.layers:
        pytest.skip("this machine has no limits")
    with pytest.raises(GraderFault, match="The sandbox could not be built: OverflowError"):
        zygote.open(Limits(60, memory=2**70))


@pytest.mark.skipif(sys.platform != "linux", reason="elsewhere address space has no limit")
def test_many_processors_give_no_more_memory(monkeypatch):
    import resource

    def space(processors):
        limits = {}
        monkeypatch.setattr(os, "cpu_count", lambda: processors)
        monkeypatch.setattr(resource, "setrlimit", lambda what, most: limits.update({what: most[0]}))
        sandbox.set_limits(Limits())
        return limits[resource.RLIMIT_AS]

    monkeypatch.setattr(sandbox, "_sizes", lambda: (0, 0))
    monkeypatch.setattr(resource, "getrlimit", lambda what: (0, resource.RLIM_INFINITY))
    assert space(64) == space(8) > space(2)


# what a child may read


def test_python_s_path_has_no_folder_of_the_user_s(tmp_path, monkeypatch):
    checkout, installed = tmp_path / "checkout", tmp_path / "lib" / "site-packages"
    monkeypatch.setattr(sys, "path", [str(tmp_path), "", ".", str(checkout), str(installed), *sys.path])
    path = forked.libraries()
    assert str(installed) in path
    assert os.path.dirname(os.__file__) in path
    assert {os.path.dirname(os.path.dirname(module.__file__)) for module in (np, pytest)} <= {*path}
    assert not {str(tmp_path), "", ".", os.getcwd(), str(checkout), str(forked.PACKAGE.parent)} & {*path}


def test_a_worker_is_of_this_very_package(tmp_path, monkeypatch):
    package = tmp_path / "keras_attention"
    package.mkdir()
    (package / "__init__.py").touch()
    (package / "cli.py").write_text("import sys\ndef main(): print('this one', sys.argv[1:], sys.path[0])\n")
    monkeypatch.setattr(forked, "PACKAGE", package)
    done = subprocess.run(forked.own_command("grade"), capture_output=True, text=True, check=False)
    assert done.stdout == f"this one ['grade'] {forked.libraries()[0]}\n"


def test_what_a_child_may_read_has_neither_the_course_nor_other_python_s_libraries(tmp_path, monkeypatch):
    for name in ("libz.so", "x86_64-linux-gnu/libm.so", "python3/dist-packages/a.py"):
        (tmp_path / "lib" / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / "lib" / name).touch()
    packages = tmp_path / "lib" / "python3.11" / "site-packages"
    for name in ("keras", "keras_attention", "keras_attention_course-1.dist-info", "python_dateutil"):
        (packages / name).mkdir(parents=True)
    for name in ("linked", "checkout/keras_attention"):
        (tmp_path / "elsewhere" / name).mkdir(parents=True)
    for name in ("linked", "checkout"):
        (packages / name).symlink_to(tmp_path / "elsewhere" / name)
    monkeypatch.setattr(sandbox, "LIBRARIES", (str(tmp_path / "lib"),))
    readable = sandbox.readable([str(packages)])
    files = {file for file in readable.files if file.startswith(str(tmp_path))}
    assert {os.path.relpath(file, tmp_path) for file in files} == {
        "lib/libz.so",
        "lib/x86_64-linux-gnu",
        "lib/python3.11/site-packages/keras",
        "lib/python3.11/site-packages/python_dateutil",
        "elsewhere/linked",
    }


def test_fonts_may_be_read_wherever_they_are(tmp_path, monkeypatch):
    from matplotlib import font_manager

    from keras_attention.course.sealed.zygote import _drawing

    font = font_manager.FontEntry(fname=str(tmp_path / "a.ttf"), name="A")
    monkeypatch.setattr(font_manager.fontManager, "ttflist", [*font_manager.fontManager.ttflist, font])
    assert font.fname in _drawing()


def test_a_library_in_a_folder_of_our_name_that_is_private_may_be_read(tmp_path, monkeypatch):
    packages = tmp_path / "keras_attention_course" / "site-packages"
    packages.mkdir(parents=True)
    (packages / "some_library.py").write_text("one = 1\n")
    monkeypatch.syspath_prepend(packages)
    monkeypatch.setenv(hooks.PRIVATE, json.dumps([str(tmp_path)]))
    with Fresh(Limits(60)) as channel:
        answer = last_answer(channel, "def f(x):\n    import some_library\n    return some_library.one")
    assert answer["value"] == 1


def test_folders_that_the_environment_names_are_not_read(tmp_path, monkeypatch):
    (tmp_path / "Grades").mkdir()
    for name in ("Grades/run.json", "Grades-of-2020"):
        (tmp_path / name).write_text("seed")
    monkeypatch.setenv(hooks.PRIVATE, json.dumps([str(tmp_path / "Grades")]))
    with Fresh(Limits(60)) as channel:
        read = f"import os\ndef f(x):\n    os.chdir({str(tmp_path)!r})\n    return open(NAME).read()"
        assert last_answer(channel, read.replace("NAME", "'Grades-of-2020'"))["value"] == "seed"
        for name in ("Grades/run.json", "Grades/../Grades/run.json"):
            assert last_answer(channel, read.replace("NAME", repr(name)))["error"]["cause"] == "forbidden"


# what becomes of children


def test_what_a_child_without_walls_starts_ends_with_it(zygote, monkeypatch, alive):
    monkeypatch.setattr(zygote, "layers", ())
    source = (
        "import os, time\n"
        "def f(x):\n"
        "    if not os.fork():\n"
        "        os.setsid()\n"
        "        if os.fork(): os._exit(0)\n"
        "        time.sleep(1000)\n"
        "    return x\n"
    )
    before = alive()
    with zygote.open(Limits(60)) as channel:
        last_answer(channel, source)
    deadline = time.monotonic() + 20
    while left := alive() - before:
        assert time.monotonic() < deadline, left
        time.sleep(0.05)  # a keeper is ending


def test_a_zygote_that_is_killed_is_started_again(zygote):
    zygote._process.kill()
    zygote._process.wait()
    with zygote.open(Limits(60)) as channel:
        assert "value" in last_answer(channel, "def f(x): return x")


def test_a_frame_that_lies_about_its_length_costs_only_its_own_time(zygote):
    source = "import os, struct\ndef f(x):\n    os.write(3, struct.pack('>I', 2**31)); return x"
    with zygote.open(Limits(60)) as channel:
        descriptor = "[int(n) for n in os.listdir('/proc/self/fd') if int(n) > 2]"
        source = source.replace("os.write(3,", f"[os.write(n, b) for n in {descriptor} for b in (").replace(
            "2**31));", "2**31),)];"
        )
        with pytest.raises(Ended):
            last_answer(channel, source)
    assert protocol.LARGEST < 2**31


def test_the_name_of_the_isolation():
    assert isolation(LAYERS) == "full"
    assert isolation(["namespaces", "limits"]) == "partial"
    assert isolation(["limits"]) == isolation([]) == "process-only"


def test_seconds_of_waiting_for_a_processor_are_not_the_submission_s(zygote, monkeypatch):
    source = "import time\ndef nap(): time.sleep(2)\n"
    with zygote.open(Limits(seconds=1.0)) as channel:
        monkeypatch.setattr(channel, "_waited", lambda: 60.0)
        student = Student(lambda: channel, source, "a.py")
        assert student.call("nap") is None
    with zygote.open(Limits(seconds=1.0)) as channel:
        monkeypatch.setattr(channel, "_waited", lambda: 0.0)
        with pytest.raises(Failure) as caught:
            Student(lambda: channel, source, "a.py").call("nap")
        assert caught.value.cause == "time"
