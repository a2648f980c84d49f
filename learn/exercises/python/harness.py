# SPDX-License-Identifier: Apache-2.0
"""Serves the functions of an exercise to `locus learn`: harness.py FILE.

The questions come and the answers go over file descriptor 3, so that whatever the file prints stays apart. A question is

    call NAME COUNT        and COUNT values; the answer is `result` and a value, or `error KIND LINE BYTES` and a text

While it works on one, a function that was passed to it is called back by `ask ID COUNT` and COUNT values; a value answers. A
value is one line and its bytes, little endian: `real RANK SIZES...` (float64), `integer RANK SIZES...` (int64), `text BYTES`,
or `function ID` without bytes.
"""
import os
import sys
import traceback

FILE = sys.argv[1]
MOST_NUMBERS = 1 << 26
questions = os.fdopen(3, "rb")
answers = os.fdopen(os.dup(3), "wb")
sys.stdout.reconfigure(line_buffering=True)  # the grader ends this process without a chance to flush


class WrongType(Exception):
    pass


def say_error(kind, text, line=0):
    data = text.encode("utf-8", "replace")
    answers.write(f"error {kind} {line} {len(data)}\n".encode() + data)
    answers.flush()


def line_of(error):
    """The last line of the learner's file that took part in an error; 0 if none did."""
    if isinstance(error, SyntaxError) and error.filename == FILE:
        return error.lineno or 0
    frames = traceback.extract_tb(error.__traceback__)
    return next((frame.lineno or 0 for frame in reversed(frames) if frame.filename == FILE), 0)


try:
    import numpy as np
except ImportError:
    say_error("no_numpy", sys.executable)
    sys.exit(0)


def read_value():
    kind, *words = questions.readline().split()
    sizes = [int(word) for word in words]
    if kind == b"text":
        return questions.read(sizes[0]).decode()
    if kind == b"function":
        return callback(sizes[0])
    shape = tuple(sizes[1:])
    count = int(np.prod(shape, dtype=np.int64))
    numbers = np.frombuffer(questions.read(8 * count), "<f8" if kind == b"real" else "<i8")
    if shape == ():
        return numbers[0].item()
    return numbers.reshape(shape).copy()


def write_value(value):
    if isinstance(value, str):
        data = value.encode()
        answers.write(f"text {len(data)}\n".encode() + data)
        return
    if value is None:
        raise WrongType("None")
    try:
        array = np.asarray(value)
    except ValueError as error:  # rows of several lengths
        raise WrongType(str(error)) from error
    if array.dtype.kind not in "biuf" and array.size > 0:
        is_text = array.dtype.kind in "US"
        raise WrongType(type(value).__name__ if array.dtype == object else "str" if is_text else str(array.dtype))
    kind, stored = ("real", "<f8") if array.dtype.kind == "f" or array.size == 0 else ("integer", "<i8")
    sizes = " ".join(str(size) for size in (array.ndim, *array.shape))
    answers.write(f"{kind} {sizes}\n".encode())
    if array.size <= MOST_NUMBERS:  # the grader refuses more by their shape and reads no further
        answers.write(np.ascontiguousarray(array, stored).tobytes())


def callback(number):
    def call(*arguments):
        answers.write(f"ask {number} {len(arguments)}\n".encode())
        for argument in arguments:
            write_value(argument)
        answers.flush()
        return read_value()

    return call


def load():
    with open(FILE, encoding="utf-8") as source:
        program = compile(source.read(), FILE, "exec")
    names = {"__name__": "exercise", "__file__": FILE}
    sys.path.insert(0, os.path.dirname(os.path.abspath(FILE)))
    exec(program, names)
    return names


def answer(names, name, arguments):
    if not callable(names.get(name)):
        say_error("missing", name)
        return
    result = names[name](*arguments)
    answers.write(b"result\n")
    try:
        write_value(result)
    except WrongType as error:
        # The grader has read `result` and expects a value: one that says what is wrong with it.
        data = str(error).encode()
        answers.write(f"unusable {len(data)}\n".encode() + data)


def serve():
    names = None
    while True:
        words = questions.readline().split()
        if not words:
            return
        try:
            arguments = [read_value() for _ in range(int(words[2]))]
            names = load() if names is None else names
            answer(names, words[1].decode(), arguments)
            answers.flush()
        except NotImplementedError as error:
            say_error("not_written", words[1].decode(), line_of(error))
        except Exception as error:
            say_error("raised", f"{type(error).__name__}: {error}", line_of(error))


serve()
