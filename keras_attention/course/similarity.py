"""How much of two students' code is the same, by copydetect's fingerprints (the method of MOSS).

Names and spaces do not count, and what the stub has does not either.
"""

import tempfile
from collections.abc import Iterator
from itertools import combinations
from pathlib import Path

import numpy as np

from keras_attention.course.places import content

GRAM, WINDOW = 12, 4  # tokens of a fingerprint, and fingerprints of which one is kept
ALIKE, TOKENS = 0.8, 60


def pairs(exercise: str, sources: dict[str, str]) -> Iterator[tuple[str, str, float]]:
    """Pairs of students who share more than `ALIKE`; none where copydetect is not installed."""
    try:
        from copydetect import CodeFingerprint, compare_files
    except ImportError:
        return
    stub = content("exercises") / f"{exercise}.py"
    with tempfile.TemporaryDirectory() as folder:
        common = np.array(list(CodeFingerprint(str(stub), GRAM, 1).hashes))
        prints = {}
        for number, (student, source) in enumerate(sources.items()):
            path = Path(folder) / f"{number}.py"
            path.write_text(source, encoding="utf-8")
            prints[student] = CodeFingerprint(str(path), GRAM, WINDOW, boilerplate=common)
        for first, second in combinations(prints, 2):
            overlap, shares, _ = compare_files(prints[first], prints[second])
            if overlap >= TOKENS and min(shares) >= ALIKE:
                yield first, second, round(float(min(shares)), 2)
