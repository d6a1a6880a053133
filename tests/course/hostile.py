"""Submissions that mean harm, or are broken: name → (body of both functions of ex01, causes that may be).

`x` is the first argument of either function.
"""

DIE = {
    "exit-in-call": ("import os; os._exit(0)", {"crash"}),
    "sys-exit": ("import sys; sys.exit(0)", {"exception"}),
    "base-exception": ("raise BaseException('all tests passed')", {"exception"}),
    "keyboard-interrupt": ("raise KeyboardInterrupt", {"exception"}),
    "generator-exit": ("raise GeneratorExit", {"exception"}),
    "loop": ("while True: pass", {"time"}),
    "loop-that-swallows": (
        "while True:\n        try:\n            while True: pass\n        except BaseException: pass",
        {"time"},
    ),
    "hang-in-c": ("import re; re.match('(a+)+$', 'a' * 60 + 'b')", {"time"}),
    "sleep": ("import time; time.sleep(10**6)", {"time"}),
    "fork-bomb": ("import os\n    while True: os.fork()", {"forbidden"}),
    "fork-bomb-that-swallows": (
        "import os\n    while True:\n        try: os.fork()\n        except BaseException: pass",
        {"time"},
    ),
    "daemon": (
        "import os\n    if os.fork() == 0:\n        os.setsid()\n        os.fork()\n"
        "        import time; time.sleep(10**6)\n    return x",
        {"forbidden"},
    ),
    "thread-left": (
        "import threading, time\n"
        "    threading.Thread(target=time.sleep, args=(10**6,)).start()\n    return x",
        {"wrong value"},
    ),
    "thread-bomb": (
        "import threading, time\n    while True: threading.Thread(target=time.sleep, args=(10**6,)).start()",
        {"exception", "memory", "time", "crash"},
    ),
    "blocking-atexit": (
        "import atexit, time; atexit.register(time.sleep, 10**6)\n    return x",
        {"wrong value"},
    ),
    "memory-at-once": ("return bytearray(10**12)", {"memory"}),
    "memory-hog": ("a = []\n    while True: a.append(bytearray(10**7))", {"memory"}),
    "memory-hog-of-tensors": (
        "import tensorflow as tf\n    a = []\n    while True: a.append(tf.zeros((10**7,)))",
        {"memory", "crash"},
    ),
    "memory-shared": (
        "import mmap\n    a = []\n    while True: a.append(mmap.mmap(-1, 10**8))",
        {"exception", "memory"},
    ),
    "disk-fill": ("open('fill', 'wb').write(bytes(10**9))", {"forbidden"}),
    "disk-fill-in-tmp": ("import tempfile; tempfile.mkstemp()", {"forbidden", "exception"}),
    "memory-file": ("import os; os.memfd_create('x')", {"forbidden"}),
    "segfault": ("m = __import__('cty' + 'pes')\n    m.string_at(0)", {"crash", "forbidden"}),
    "abort": ("import os; os.abort()", {"crash"}),
    "deep-recursion": (
        "import sys; sys.setrecursionlimit(10**9)\n    def g(): g()\n    g()",
        {"crash", "exception", "memory", "time"},
    ),
    "kill-parent": ("import os, signal; os.kill(os.getppid(), signal.SIGKILL)", {"forbidden"}),
    "kill-group": ("import os; os.killpg(0, 9)", {"forbidden"}),
    "kill-all": ("import os; os.kill(-1, 9)", {"forbidden"}),
    "kill-itself": (
        "import signal; signal.raise_signal(9)\n    import time; time.sleep(10**6)",
        {"crash", "time"},
    ),
    "output": ("import sys\n    while True: sys.stdout.write('x' * 10**6)", {"time"}),
    "output-of-c": ("import os\n    while True: os.write(1, b'x' * 10**6)", {"time"}),
    "input": ("return input()", {"exception"}),
    "signals-ignored": (
        "import signal\n    for s in (2, 15, 24): signal.signal(s, signal.SIG_IGN)\n    while True: pass",
        {"time"},
    ),
    "stop-itself": ("import os, signal; signal.raise_signal(signal.SIGSTOP)\n    while True: pass", {"time"}),
}

FORGE = {
    "prints-a-result": (
        "print('1 passed in 0.01s'); print('{\"value\": 1}')\n    return None",
        {"wrong value"},
    ),
    "terminal-codes": ("print('\\x1b[2J\\x1b[H\\x1b]0;passed\\x07')\n    return None", {"wrong value"}),
    "writes-results": ("open('results.json', 'w').write('{}')", {"forbidden"}),
    "patches-numpy": (
        "import numpy as np, numpy.testing\n"
        "    np.testing.assert_allclose = np.allclose = np.array_equal = lambda *a, **k: True\n"
        "    np.ndarray.__eq__ = None",
        {"exception", "wrong value"},
    ),
    "patches-builtins": (
        "import builtins; builtins.isinstance = lambda *a: True; builtins.len = lambda a: 2\n    return x",
        {"exception", "wrong value", "crash"},
    ),
    "patches-the-protocol": (
        "import sys\n    sys.modules['sealed.values'].pack = lambda value: b''\n    return x",
        {"wrong value"},
    ),
    "equal-to-all": (
        "class A:\n        def __eq__(self, other): return True\n"
        "        def __getattr__(self, name): return self\n    return A(), A()",
        {"wrong value", "exception"},
    ),
    "array-that-lies": (
        "import numpy as np\n    class A(np.ndarray):\n"
        "        def __array_ufunc__(self, *a, **k): return True\n"
        "        shape = property(lambda self: (2, 3, 4))\n"
        "    return np.zeros((2, 3)).view(A), np.zeros((2, 3)).view(A)",
        {"wrong value", "exception"},
    ),
    "pickle-bomb": (
        "class A:\n        def __reduce__(self): return print, ('pickled',)\n    return A(), A()",
        {"wrong value"},
    ),
    "false-length": (
        "import os, struct\n    for n in range(3, 64):\n"
        "        try: os.write(n, struct.pack('>I', 2**31))\n        except OSError: pass\n    return x",
        {"crash"},
    ),
    "endless-frame": (
        "import os, struct\n    for n in range(3, 64):\n"
        "        try: os.write(n, struct.pack('>I', 60_000_000)); os._exit(0)\n        except OSError: pass",
        {"crash"},
    ),
    "false-shape": (
        "import os, struct, json\n"
        "    claim = {'dtype': 'F32', 'shape': [2**33], 'data_offsets': [0, 2**35]}\n"
        "    head = json.dumps({'0': claim}).encode()\n"
        '    tree = b\'{"array": "0"}\'\n'
        "    body = struct.pack('>I', len(tree)) + tree + struct.pack('<Q', len(head)) + head\n"
        "    for n in range(3, 64):\n"
        "        try: os.write(n, struct.pack('>I', len(body)) + body)\n        except OSError: pass\n"
        "    return x",
        {"wrong value"},
    ),
    "deep-frame": (
        "import os, struct\n    tree = b'[' * 10**6\n"
        "    body = struct.pack('>I', len(tree)) + tree\n    for n in range(3, 64):\n"
        "        try: os.write(n, struct.pack('>I', len(body)) + body)\n        except OSError: pass\n"
        "    return x",
        {"wrong value"},
    ),
    "closes-everything": ("import os; os.closerange(0, 100)\n    while True: pass", {"crash", "time"}),
    "cause-of-its-own": (
        "class E(Exception): pass\n    E.__name__ = '<b>passed</b>'\n    raise E('=1+1')",
        {"exception"},
    ),
    "error-that-raises": (
        "class E(Exception):\n        def __str__(self): raise E\n    raise E",
        {"exception"},
    ),
    "error-without-end": ("raise ValueError('x' * 10**8)", {"exception", "memory"}),
    "exit-after-forging": (
        "import sys\n    frame = sys._getframe()\n    while frame:\n"
        "        for value in list(frame.f_locals.values()):\n"
        "            if hasattr(value, 'points'): value.points = 99\n"
        "        frame = frame.f_back\n    return x",
        {"wrong value"},
    ),
}

STEAL = {
    "reads-solutions": ("return open({solution!r}).read()", {"forbidden"}),
    "reads-checks": ("return open({checks!r}).read()", {"forbidden"}),
    "lists-the-disk": ("import os; return os.listdir('/')", {"forbidden"}),
    "imports-the-reference": (
        "name = 'keras_' + 'attention.functional'\n    return __import__(name, fromlist=['x'])"
        ".scaled_dot_product_attention(*[x] * 3)",
        {"forbidden"},
    ),
    "imports-the-checks": (
        "import sys; sys.path.insert(0, {folder!r})\n"
        "    import test_ex01_scaled_dot_product_attention as checks\n    return checks.softmax(x)",
        {"exception", "forbidden"},
    ),
    "walks-memory": (
        "import gc, numpy as np\n"
        "    found = [o for o in gc.get_objects() if isinstance(o, np.ndarray) and o.dtype == 'float64']\n"
        "    return found[0], found[-1]",
        {"exception", "wrong value"},
    ),
    "memory-of-the-parent": (
        "import os; return open(f'/proc/{{os.getppid()}}/mem', 'rb').read(1)",
        {"forbidden", "exception"},
    ),
    "memory-of-all": (
        "for n in range(2, 99999):\n        try: open(f'/proc/{{n}}/mem', 'rb'); break\n"
        "        except FileNotFoundError: pass\n    return x",
        {"forbidden", "wrong value"},
    ),
    "environment": ("open('/proc/1/environ').read()", {"forbidden"}),
    "network": (
        "import asyncio; asyncio.run(asyncio.open_connection('127.0.0.1', 80))",
        {"forbidden", "exception"},
    ),
    "web": ("import urllib.request as u; u.urlopen('http://127.0.0.1')", {"forbidden", "exception"}),
    "inputs-in-the-error": ("raise ValueError(repr(x.tolist()))", {"exception"}),
}

VALUES = {
    "none": ("return None", {"wrong value"}),
    "scalar": ("import numpy as np; return np.float32(1), np.float32(1)", {"wrong value"}),
    "broadcasts": ("import numpy as np; return np.ones((2, 1)), np.ones((2, 1, 1))", {"wrong value"}),
    "empty": ("import numpy as np; return np.ones((0,)), np.ones((0,))", {"wrong value"}),
    "nan": ("return x * float('nan'), x[..., :1] * float('nan')", {"wrong value"}),
    "zeros": ("return x * 0", {"wrong value"}),
    "constant": ("return x * 0 + 1 / x.shape[-1]", {"wrong value"}),
    "complex": ("return x.astype('complex64'), x.astype('complex64')", {"wrong value"}),
    "bool": ("return x > 0, x > 0", {"wrong value"}),
    "objects": ("return x.astype(object), x.astype(object)", {"wrong value"}),
    "text": ("return 'passed'", {"wrong value"}),
    "symbolic": ("import keras; return keras.KerasTensor((2, 3))", {"wrong value"}),
    "generator": ("return (row for row in x)", {"wrong value"}),
    "itself": ("return softmax, attention", {"wrong value"}),
    "endless-list": ("a = []; a.append(a); return a", {"exception", "wrong value", "crash"}),
    "too-large": ("import numpy as np; return np.zeros(2**25, 'f4')", {"crash", "wrong value", "memory"}),
    "built-in": ("import keras; return getattr(keras.layers, 'Atten' + 'tion')()([x, x])", {"forbidden"}),
    "built-in-op": ("import keras; return keras.ops.nn.dot_product_attention(x, x, x)", {"forbidden"}),
    "built-in-by-string": (
        "m = __import__('importlib').import_module('keras.lay' + 'ers')\n"
        "    return getattr(m, 'Atten' + 'tion')()([x, x])",
        {"forbidden"},
    ),
    "built-in-of-the-private-part": (
        "import keras as k\n    layer = k.src.layers.attention.attention.Attention\n"
        "    return layer()([x, x], return_attention_scores=True)",
        {"forbidden"},
    ),
    "built-in-of-a-backend": (
        "import keras as k\n    nn = k.src.backend.nn\n    y = x.reshape(1, 1, 1, -1)\n"
        "    return getattr(nn, 'dot_product_' + 'attention')(y, y, y)",
        {"forbidden"},
    ),
    "parts-of-a-built-in": (
        "import keras as k\n    layer = getattr(k.layers, 'Atten' + 'tion')\n"
        "    return layer._calculate_scores(object.__new__(layer), x, x)",
        {"forbidden"},
    ),
    "child-of-a-built-in": (
        "import keras as k\n    class A(getattr(k.layers, 'Atten' + 'tion')):\n"
        "        def __init__(self): k.layers.Layer.__init__(self)\n    return A()([x, x])",
        {"forbidden"},
    ),
    "built-in-of-json": (
        "import json, keras as k\n"
        "    layer = {'class_name': 'Atten' + 'tion', 'module': 'keras.layers', 'config': {}}\n"
        "    config = {'name': 'model', 'layers': [layer]}\n"
        "    config = {'class_name': 'Sequential', 'module': 'keras', 'config': config}\n"
        "    k.models.model_from_json(json.dumps(config))",
        {"forbidden"},
    ),
    "built-in-deserialized": (
        "import keras as k\n"
        "    layer = {'class_name': 'Atten' + 'tion', 'module': 'keras.layers', 'config': {}}\n"
        "    return k.layers.deserialize(layer)([x, x])",
        {"forbidden"},
    ),
    "built-in-of-tensorflow": (
        "m = __import__('tensorflow.python.' + 'keras.layers.dense_attention', fromlist=['x'])\n"
        "    return getattr(m, 'Atten' + 'tion')()([x, x])",
        {"forbidden"},
    ),
    "built-in-of-torch": ("return __import__('tor' + 'ch').from_numpy(x)", {"forbidden"}),
    "built-in-of-jax": ("return __import__('ja' + 'x.nn', fromlist=['x']).softmax(x)", {"forbidden"}),
    "bleu-of-others": ("return __import__('sacre' + 'bleu').corpus_bleu(['a'], [['a']])", {"forbidden"}),
}  # fmt: skip

FILES = {
    "syntax": ("def attention(query, key, value)\n    return 1\n", {"unreadable"}),
    "tabs": ("def attention(q, k, v):\n\tif q:\n        return 1\n", {"unreadable"}),
    "utf-16": ("def attention(q, k, v): return q\n".encode("utf-16"), {"unreadable"}),
    "latin": ("# \xe9\xff\ndef attention(q, k, v): return q\n".encode("latin-1"), {"unreadable"}),
    "nul": (b"def attention(q, k, v):\0 return q\n", {"unreadable"}),
    "empty": (b"", {"missing"}),
    "relative-import": ("from . import helper\n", {"exception"}),
    "missing-import": ("import helper\n", {"exception"}),
    "wrong-names": ("def Attention(q, k, v): return q\ndef Softmax(x): return x\n", {"missing"}),
    "commented-out": ("# def attention(q, k, v): return q\n", {"missing"}),
    "names-of-data": ("softmax = attention = 3\n", {"missing"}),
    "exit-at-import": ("import os; os._exit(0)\n", {"crash"}),
    "sys-exit-at-import": ("raise SystemExit\n", {"exception"}),
    "loop-at-import": ("while True: pass\n", {"time"}),
    "imports-the-package": ("from keras_attention.functional import softmax, attention\n", {"forbidden"}),
    "wraps-a-layer": (
        "import keras\nattention = keras.layers.MultiHeadAttention(1, 7)\nsoftmax = keras.ops.softmax\n",
        {"forbidden"},
    ),
    "imports-ctypes": ("import ctypes\n", {"forbidden"}),
    "too-deep": ("x = 1" + "+1" * 100_000 + "\n", {"unreadable"}),
    "too-long": ("#" * 2**21, {"unreadable"}),
    "module-is-a-trap": (
        "import sys\nclass M:\n    def __getattr__(self, name): return lambda *a: (1, 1)\n"
        "sys.modules['submission'] = M()\n",
        {"missing"},
    ),
}

FORGING = """
import sys
from numpy import zeros

values = sys.modules["sealed.values"]
pack = values.pack
values.pack = lambda _: pack({})
softmax = attention = print
"""
ANSWERS = {
    "nothing": "None",
    "array": "zeros(3)",
    "text": "'value'",
    "list": "[zeros(3), 'value']",
    "error-that-is-an-array": "dict(error=zeros(3))",
    "error-that-is-a-list": "dict(error=[])",
    "cause-that-is-an-array": "dict(error=dict(cause=zeros(3), kind='E', message='', line=None))",
    "kind-that-is-an-array": "dict(error=dict(cause='time', kind=zeros(3), message='', line=None))",
    "message-that-is-an-array": "dict(error=dict(cause='time', kind='E', message=zeros(3), line=None))",
}
FILES |= {f"answer-{name}": (FORGING.format(answer), {"wrong value"}) for name, answer in ANSWERS.items()}
