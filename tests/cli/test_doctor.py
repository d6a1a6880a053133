import json
import subprocess
import sys
from importlib import metadata
from pathlib import Path

import pytest

import keras_attention
from keras_attention.cli import doctor, main
from keras_attention.cli.doctor import Finding

ROOT = Path(keras_attention.__file__).parents[1]


def test_reports_this_machine_and_nothing_of_tensorflow_s_log():
    command = [sys.executable, "-m", "keras_attention", "doctor", "--json"]
    result = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert result.stderr == ""
    report = json.loads(result.stdout.splitlines()[-1])
    findings = {finding["name"]: finding for finding in report["findings"]}
    broken = {name: f for name, f in findings.items() if f["status"] == "broken"}
    assert not broken
    assert report["ok"] is True
    assert result.returncode == 0
    for package in ("tensorflow", "keras", "sacrebleu", "tensorflow-datasets"):
        assert findings[package]["value"] == metadata.version(package)
    assert "cpu" in findings["devices"]["value"].lower()
    assert findings["toy:en-fr"]["value"].endswith("training pairs")
    assert findings["isolation"]["value"].split()[0] in ("full", "partial", "process-only")


def exit_status(monkeypatch, findings, *options):
    monkeypatch.setattr(doctor, "examine", lambda: iter(findings))
    with pytest.raises(SystemExit) as end:
        main(["doctor", *options])
    return end.value.code


def test_the_table_says_what_to_do(monkeypatch, capsys):
    findings = [Finding("a", "1"), Finding("b", "[2] none", "warning", "install [b]")]
    assert exit_status(monkeypatch, findings) == 0
    lines = [line.split() for line in capsys.readouterr().out.splitlines()]
    assert lines == [["✓", "a", "1"], ["!", "b", "[2]", "none"], ["→", "install", "[b]"]]


def test_what_is_broken_makes_it_fail(monkeypatch, capsys):
    findings = [Finding("a", "1"), Finding("b", "gone", "broken", "install b")]
    assert exit_status(monkeypatch, findings, "--json") == 1
    *table, line = capsys.readouterr().out.splitlines()
    assert [row.split() for row in table] == [["✓", "a", "1"], ["✗", "b", "gone"], ["→", "install", "b"]]
    report = json.loads(line)
    assert report["ok"] is False
    assert report["findings"][1] == {
        "name": "b",
        "value": "gone",
        "status": "broken",
        "advice": "install b",
    }


def test_a_version_that_is_too_old_is_broken(monkeypatch):
    from packaging.specifiers import SpecifierSet

    monkeypatch.setattr(doctor, "_requirements", lambda: {"sacrebleu": SpecifierSet(">=99")})
    finding = doctor.check_package("sacrebleu")
    assert finding.status == "broken"
    assert finding.value == f"{metadata.version('sacrebleu')}, not >=99"
    assert "sacrebleu>=99" in finding.advice


def test_a_check_that_fails_is_a_finding():
    finding = doctor._try("no-such-package", lambda: doctor.check_package("no-such-package"), "install it")
    assert finding.status == "broken"
    assert "no-such-package" in finding.value
    assert finding.advice == "install it"


def test_missing_fonts_and_an_unwritable_folder_are_warnings(monkeypatch, tmp_path):
    from keras_attention.plotting import fonts

    monkeypatch.setattr(fonts, "cjk_fonts", list)
    assert doctor.check_fonts().status == "warning"
    assert "fonts-wqy-microhei" in doctor.check_fonts().advice
    monkeypatch.setattr(doctor.os, "access", lambda path, mode: False)
    assert doctor.check_data_folder().status == "warning"
