"""`plan`, `certify` and `verify`, as they are run."""

from __future__ import annotations

import json
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

from pll.cli.main import main
from pll.review.certificate import DrawnPlan

N = 200


@pytest.fixture
def files(tmp_path, monkeypatch):
    """labels.csv, a plan of it, and all controls answered."""
    monkeypatch.setenv("PLL_HOME", str(tmp_path / "home"))
    rng = np.random.default_rng(0)
    frame = pd.DataFrame(
        {
            "id": [f"x{i}" for i in range(N)],
            "identified_label": rng.choice(["NA", "b,c", "d"], N),
            "confidence": rng.random(N).round(2),
            "source": np.where(np.arange(N) < 80, "web", "lab"),
        }
    )
    frame["truth"] = np.where(rng.random(N) < 0.6 * (1 - frame.confidence) ** 2, "e", frame.identified_label)
    frame.drop(columns="truth").to_csv(tmp_path / "labels.csv", index=False)
    assert (
        main(
            ["plan", str(tmp_path / "labels.csv"), "--error", "0.1", "--seed", "1", "--out", str(tmp_path / "plan.csv")]
        )
        == 0
    )
    answer(tmp_path, frame)
    return tmp_path, frame.set_index("id")


def answer(folder, frame, extra=()):
    plan = pd.read_csv(folder / "plan.csv")
    ids = [*plan.loc[plan.purpose == "control", "id"], *extra]
    frame = frame.set_index("id") if "id" in frame else frame
    pd.DataFrame({"id": ids, "label": frame.truth.loc[ids].to_numpy()}).to_csv(folder / "checked.csv", index=False)
    return ids


def certify(folder, *more, labels="labels.csv", decisions="checked.csv"):
    options = [
        "--plan",
        str(folder / "plan.csv"),
        "--decisions",
        str(folder / decisions),
        "--out",
        str(folder / "c.json"),
    ]
    return main(["certify", str(folder / labels), *options, *more])


def last_json(capsys):
    return json.loads(capsys.readouterr().out.strip().splitlines()[-1])


def test_plan_certify_verify(files, capsys):
    folder, frame = files
    again = ["--error", "0.1", "--seed", "1", "--out", str(folder / "plan.csv")]
    assert main(["plan", str(folder / "labels.csv"), *again]) == 0
    planned = last_json(capsys)
    settings = json.loads((folder / "plan.json").read_text())
    plan = pd.read_csv(folder / "plan.csv")
    assert list(plan.columns) == ["id", "purpose"] and set(plan.id) == set(frame.index)
    k = settings["controls"]
    assert k <= planned["expected_decisions"] <= N
    assert (
        planned["controls"] == k and (plan.purpose[:k] == "control").all() and not (plan.purpose[k:] == "control").any()
    )
    assert {"error", "confidence", "controls", "seed", "fingerprint", "draw_hash"} <= settings.keys()
    assert certify(folder, "--labels-out", str(folder / "final.csv")) == 0
    result = last_json(capsys)
    assert result["bound"] == 20 and result["attained_alpha"] <= 0.05 and result["looked_at"] == k
    final = pd.read_csv(folder / "final.csv", keep_default_na=False)
    assert list(final.columns) == ["id", "identified_label", "confidence", "source", "accepted"]
    assert final.id.tolist() == frame.index.tolist() and (final.source == "human").sum() == k
    assert final.accepted.sum() == k + result["accepted_unseen"] == N - result["to_be_looked_at"]
    human = final[final.source == "human"].set_index("id")
    assert (human.identified_label == frame.truth[human.index]).all()
    later = [one for one in plan.id[k:] if final.set_index("id").accepted[one] == 0]
    assert later == plan.id[k : k + len(later)].tolist()  # plan.csv is the order in which to look
    assert main(["verify", str(folder / "c.json")]) == 0
    assert last_json(capsys)["valid"] is True
    assert "<html" in (folder / "c.html").read_text()

    answer(folder, frame, later)  # they have looked at the rest
    assert certify(folder, "--labels-out", str(folder / "final.csv")) == 0
    result = last_json(capsys)
    assert result["complete"] and result["to_be_looked_at"] == 0
    final = pd.read_csv(folder / "final.csv", keep_default_na=False)
    assert (final.accepted == 1).all()
    assert (final.identified_label.to_numpy() != frame.truth.to_numpy()).sum() <= 20


def edit(path, change):
    frame = pd.read_csv(path, dtype=str, keep_default_na=False)
    change(frame).to_csv(path, index=False)


@pytest.mark.parametrize(
    ("file", "change", "words"),
    [
        (
            "checked.csv",
            lambda f: pd.concat([f, pd.DataFrame({"id": ["zz"], "label": ["d"]})]),
            "'zz' is not in the labels",
        ),
        ("checked.csv", lambda f: pd.concat([f, f[3:4]]), "have the same id"),
        ("checked.csv", lambda f: f[:10], "not answered yet"),
        ("checked.csv", lambda f: f.drop(columns="label"), "no column 'label'"),
        ("labels.csv", lambda f: f.assign(confidence=["0.5", *f.confidence[1:]]), "have changed"),
        ("labels.csv", lambda f: f[:-1], "have changed"),
        ("labels.csv", lambda f: pd.concat([f, f[3:4]]), "Rows 5 and 202 have the same id 'x3'"),
        ("labels.csv", lambda f: f.assign(confidence=["high", *f.confidence[1:]]), "row 2: the confidence 'high'"),
        (
            "labels.csv",
            lambda f: f.assign(identified_label=["", *f.identified_label[1:]]),
            "row 2 has no identified_label",
        ),
        ("labels.csv", lambda f: f.drop(columns="confidence"), "no column 'confidence'"),
        ("plan.csv", lambda f: f.assign(purpose=["review", *f.purpose[1:]]), "does not name, though it was drawn"),
        ("plan.csv", lambda f: f.assign(purpose=[*f.purpose[:-1], "control"]), "did not choose it"),
    ],
)
def test_what_makes_a_certificate_invalid_is_refused(files, capsys, file, change, words):
    folder, _ = files
    edit(folder / file, change)
    capsys.readouterr()
    assert certify(folder) == 2
    message = capsys.readouterr().err
    assert words in message and "Traceback" not in message


def test_a_second_draw_is_refused_in_place_and_noted_elsewhere(files, capsys):
    folder, _ = files
    again = ["plan", str(folder / "labels.csv"), "--error", "0.1", "--out"]
    assert main([*again, str(folder / "plan.csv")]) == 2 and "second draw" in capsys.readouterr().err
    before = (folder / "plan.csv").read_bytes()
    assert main([*again, str(folder / "plan.csv"), "--seed", "1"]) == 0  # the same draw once more
    assert (folder / "plan.csv").read_bytes() == before
    assert "drawn 2 times" not in capsys.readouterr().err
    other = ["--seed", "2"]  # another certificate of the same labels: its draw is a second one too
    assert main([*again, str(folder / "other.csv"), *other]) == 0
    message = capsys.readouterr().err
    assert "drawn 2 times" in message and "0.9." in message
    assert json.loads((folder / "other.json").read_text())["draw_number"] == 2


def test_formats_and_shares(files, capsys):
    folder, frame = files
    labels = pd.read_csv(folder / "labels.csv", keep_default_na=False)
    labels.to_parquet(folder / "labels.parquet")
    labels.to_csv(folder / "labels.tsv", sep="\t", index=False)
    labels.to_json(folder / "labels.jsonl", orient="records", lines=True)
    hashes = set()
    for ending in ("csv", "parquet", "tsv", "jsonl"):
        assert (
            main(["plan", str(folder / f"labels.{ending}"), "--seed", "5", "--out", str(folder / f"{ending}-plan.csv")])
            == 0
        )
        hashes.add(last_json(capsys)["draw_hash"])
    assert len(hashes) == 1
    options = ["plan", str(folder / "labels.csv"), "--error", "0.1", "--controls", "0.5", "--seed", "2"]
    (folder / "plan.json").unlink()
    assert main([*options, "--out", str(folder / "plan.csv")]) == 0
    assert last_json(capsys)["controls"] == 100
    answer(folder, frame)
    assert certify(folder) == 0
    assert main(["verify", str(folder / "c.json")]) == 0


@pytest.mark.parametrize("more", [10, 1000])
def test_a_plan_that_proves_nothing_is_refused_whatever_its_hash(files, capsys, more):
    folder, _ = files
    plan = DrawnPlan.from_json(json.loads((folder / "plan.json").read_text()))
    (folder / "plan.json").write_text(json.dumps(replace(plan, tolerated=plan.tolerated + more).to_json()))
    assert certify(folder) == 2 and "not valid" in capsys.readouterr().err
    assert not (folder / "c.json").exists()


def test_a_class_that_no_label_has_is_noted_and_another_file_refused(files, capsys):
    folder, _ = files
    capsys.readouterr()
    assert certify(folder) == 0
    message = capsys.readouterr().err
    assert "'e' in row" in message and message.count("'e' in row") == 1
    edit(folder / "checked.csv", lambda f: f.assign(label="yes"))
    assert certify(folder) == 2 and "no decision names a class" in capsys.readouterr().err


def test_a_run_folder_and_files_that_are_not_there(files, capsys):
    folder, _ = files
    run = folder / "run"
    run.mkdir()
    (run / "labels.csv").write_bytes((folder / "labels.csv").read_bytes())
    assert main(["plan", str(run), "--seed", "1", "--error", "0.1", "--out", str(folder / "run-plan.csv")]) == 0
    assert pd.read_csv(folder / "run-plan.csv").equals(pd.read_csv(folder / "plan.csv"))
    for command in (
        ["plan", "nowhere.csv", "--out", "p.csv"],
        ["verify", "nowhere.json"],
        ["plan", str(folder / "labels.csv"), "--error", "0", "--out", "z.csv"],
    ):
        assert main(command) == 2
    (folder / "c.json").write_text("{not json")
    assert main(["verify", str(folder / "c.json")]) == 2
    assert "Traceback" not in capsys.readouterr().err


def test_an_altered_audit_trail_shows(tmp_path, capsys):
    from pll.review.events import chained

    rows = chained([{"kind": "pick", "id": f"x{k}", "label": "cat"} for k in range(4)])
    entries = [{"kind": "version", "id": None}, *({"event": k, "undone": False} | row for k, row in enumerate(rows))]
    file = tmp_path / "audit.jsonl"
    file.write_text("".join(json.dumps(row) + "\n" for row in entries))
    assert main(["verify", str(file)]) == 0 and last_json(capsys)["events"] == 5
    entries[2]["label"] = "dog"
    file.write_text("".join(json.dumps(row) + "\n" for row in entries))
    assert main(["verify", str(file)]) == 2 and "'x1'" in capsys.readouterr().err
    file.write_text("{")
    assert main(["verify", str(file)]) == 2
