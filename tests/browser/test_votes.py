"""From three exports as the tools write them to labels in hand, in a real browser: five clicks on the defaults."""

from __future__ import annotations

import io
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

pytestmark = [pytest.mark.browser, pytest.mark.slow]
NewPage = Callable[..., Any]
NAMES = ("late", "lost", "praise")
TEXTS = ("the parcel came late", "nothing has arrived", "thank you very much")
N = 80


def exports() -> tuple[list[dict[str, Any]], Any]:
    """A batch result, evaluation samples and a Label Studio export of the same examples, and their truth."""
    rng = np.random.default_rng(0)
    y = rng.integers(0, 3, N)
    said = [np.where(rng.random(N) < right, y, rng.integers(0, 3, N)) for right in (0.9, 0.8, 0.8)]
    batch, samples, tasks = [], [], []
    for k in range(N):
        text = "Hm, it may be anything." if k % 16 == 2 else f"```json\n{json.dumps({'label': NAMES[said[0][k]]})}\n```"
        message = {"role": "assistant", "content": text, "refusal": None}
        body = {"id": f"chatcmpl-{k}", "object": "chat.completion", "created": 1, "model": "gpt-5-mini",
                "choices": [{"index": 0, "message": message, "logprobs": None, "finish_reason": "stop"}],
                "usage": {"prompt_tokens": 9, "completion_tokens": 3, "total_tokens": 12}}  # fmt: skip
        fine = {"status_code": 200, "request_id": f"req_{k}", "body": body}
        error = {"code": "rate_limit_exceeded", "message": "slow down"}
        failed = k == 7
        batch.append({"id": f"batch_req_{k}", "custom_id": str(k), "response": None if failed else fine,
                      "error": error if failed else None})  # fmt: skip
        answer = "[invalid]" if k % 20 == 4 else f" {NAMES[said[1][k]].upper()}"
        samples.append({"doc_id": k, "doc": {"text": "x"}, "target": "", "arguments": {}, "resps": [[answer]],
                        "filtered_resps": [answer], "filter": "none", "doc_hash": "a", "prompt_hash": "b",
                        "target_hash": "c"})  # fmt: skip
        result = {"id": "r", "type": "choices", "from_name": "kind", "to_name": "words",
                  "value": {"choices": [NAMES[said[2][k]]]}}  # fmt: skip
        guess = {"id": k, "model_version": "bert", "score": 0.7, "result": [result]}
        data = {"text": f"{TEXTS[y[k]]} on day {k % 9}"}
        tasks.append({"id": k, "data": data, "annotations": [], "predictions": [guess]})
    lines = "".join(json.dumps(line) + "\n" for line in batch), "".join(json.dumps(line) + "\n" for line in samples)
    contents = {"batch.jsonl": lines[0], "samples_mail.jsonl": lines[1], "tasks.json": json.dumps(tasks)}
    files = [{"name": n, "mimeType": "text/plain", "buffer": text.encode()} for n, text in contents.items()]
    return files, y


def test_from_three_exports_to_labels_in_five_clicks(app: str, new_page: NewPage) -> None:
    files, y = exports()
    page = new_page()
    page.goto(app)
    page.get_by_role("link", name="Data").first.click()  # 1
    page.locator("input[type=file]").set_input_files(files)  # 2: one drop
    page.get_by_text("3 models answered 230 times").wait_for()
    page.get_by_text("5 answers name no class").wait_for()
    page.get_by_role("button", name="Get labels").click()  # 3
    with page.expect_download() as download:
        page.get_by_role("button", name="Download", exact=True).click(timeout=120_000)  # 4
    tasks = json.loads(Path(download.value.path()).read_text())
    ours = {task["id"]: task["predictions"][-1] for task in tasks}
    assert all(len(task["predictions"]) == 2 and 0 < ours[task["id"]]["score"] <= 1 for task in tasks)
    right = [ours[k]["result"][0]["value"]["choices"] == [NAMES[y[k]]] for k in range(N)]
    assert np.mean(right) > 0.85
    with page.expect_download() as download:
        page.get_by_role("button", name="labels.csv").click()
    labels = pd.read_csv(io.BytesIO(Path(download.value.path()).read_bytes()), dtype=str)
    assert labels["id"].tolist() and set(labels["id"]) == {str(k) for k in range(N)}
    assert page.get_by_test_id("stException").count() == 0
