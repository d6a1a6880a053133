"""A process that judges one job after the other, for a grading run: lines of JSON in, lines of JSON out."""

import hashlib
import json
import sys
from collections.abc import Callable
from typing import IO, Any

from keras_attention.course.channels import Channel
from keras_attention.course.forked import Zygote
from keras_attention.course.fresh import Fresh
from keras_attention.course.judge import Judge
from keras_attention.course.sealed.sandbox import LAYERS, Limits
from keras_attention.course.submission import Submission
from keras_attention.course.verdict import GraderFault


def serve(requests: IO[str], answers: IO[str]) -> None:
    """The first line in sets up; the first line out names the isolation."""
    settings = json.loads(requests.readline())
    limits = Limits(settings["seconds"], settings["memory"])
    if settings["fresh"] or sys.platform != "linux":
        _serve(requests, answers, settings["seed"], lambda: Fresh(limits), Fresh.isolation, [])
        return
    with Zygote(LAYERS) as zygote:
        layers = zygote.layers

        def open_channel() -> Channel:
            channel = zygote.open(limits)
            if zygote.layers != layers:  # it was started again
                channel.close()
                raise GraderFault("The sandbox is no longer the one that this worker began with.")
            return channel

        _serve(requests, answers, settings["seed"], open_channel, zygote.isolation, list(layers))


def _serve(
    requests: IO[str],
    answers: IO[str],
    seed: int,
    open_channel: Callable[[], Channel],
    isolation: str,
    layers: list[str],
) -> None:
    from keras_attention.course.catalog import exercises

    by_name = {exercise.name: exercise for exercise in exercises()}
    _say(answers, {"isolation": isolation, "layers": layers})
    for request in requests:
        job = json.loads(request)
        submission = Submission.from_json(job["submission"])
        judge = Judge(open_channel, _own_seed(seed, submission.source))
        try:
            verdicts = judge(by_name[job["exercise"]], submission)
            _say(answers, {"verdicts": [verdict.hidden().to_json() for verdict in verdicts]})
        except GraderFault as fault:
            _say(answers, {"fault": str(fault)})


def _own_seed(seed: int, source: str) -> int:
    """The same for the same text, and another for any other: what one has seen is of no use to the next."""
    return int.from_bytes(hashlib.sha256(json.dumps([seed, source]).encode()).digest()[:8])


def _say(answers: IO[str], values: dict[str, Any]) -> None:
    answers.write(json.dumps(values) + "\n")
    answers.flush()
