"""Rows of the model shelf as the runtime tells them, for the window's tests."""

from __future__ import annotations

from typing import Any

Row = dict[str, Any]
GB = 1_000_000_000


def fit(verdict: str = "good", **changes: Any) -> Row:
    """A FIT."""
    made: Row = {
        "verdict": verdict,
        "memory": 4 * GB,
        "available": 6 * GB,
        "tokens_per_second": 18.7,
        "window": 8192,
        "gpu_layers": 0,
        "disk_free": 120 * GB,
        "disk_needed": 2_497_000_000,
        "code": "",
        "fields": {},
    }
    return made | changes


def variant(quantisation: str = "Q4_K_M", **changes: Any) -> Row:
    """One file of a CARD."""
    made: Row = {
        "file": f"Small-3-4B-{quantisation}.gguf",
        "files": [f"Small-3-4B-{quantisation}.gguf"],
        "quantisation": quantisation,
        "size": 2_497_000_000,
        "about": False,
        "fit": fit(),
        "recommended": True,
        "installed": "",
    }
    return made | changes


def offer(name: str = "maker/Small-3-4B-GGUF", **changes: Any) -> Row:
    """A CARD."""
    made: Row = {
        "id": name,
        "title": "Small 3 4B",
        "maker": "Maker",
        "about": "A quick all-rounder that writes well in many languages and calls tools reliably.",
        "licence": "Apache-2.0",
        "licence_url": "https://www.apache.org/licenses/LICENSE-2.0",
        "accept": False,
        "gated": False,
        "kind": "language",
        "parameters": 4.0,
        "window": 32768,
        "tools": True,
        "vision": False,
        "reasoning": True,
        "downloads": None,
        "variants": [
            variant(),
            variant("Q8_0", size=4_280_000_000, fit=fit("slow", tokens_per_second=3.1), recommended=False),
            variant("F16", size=8_050_000_000, fit=fit("too_large", memory=9 * GB), recommended=False),
        ],
    }
    return made | changes


def exam(**changes: Any) -> Row:
    """An EXAM."""
    made: Row = {
        "when": 1795300000.0,
        "seconds": 96.0,
        "tokens_per_second": 21.4,
        "prefill_per_second": 180.0,
        "badges": ["instructions", "json"],
        "roles": ["chat"],
        "scores": {
            "speed": score("passed", 1, 1),
            "instructions": score("passed", 9, 10),
            "tools": score("failed", 3, 10),
            "json": score("passed", 8, 8),
            "elements": score("failed", 4, 8),
            "pictures": score("not_taken", 0, 0, code="exam_not_for_this_model"),
            "clicks": score("not_taken", 0, 0, code="exam_not_for_this_model"),
        },
    }
    return made | changes


def score(state: str, points: float, of: float, code: str = "") -> Row:
    """One discipline's result."""
    return {"points": points, "of": of, "state": state, "code": code, "fields": {}}


def installed(name: str = "smollm2-135m", **changes: Any) -> Row:
    """An INSTALLED."""
    made: Row = {
        "name": name,
        "title": "SmolLM2 135M Instruct",
        "path": f"weights/{name}.gguf",
        "size": 91_000_000,
        "parts": 1,
        "origin": "bundled",
        "kind": "language",
        "architecture": "llama",
        "quantisation": "Q4_K_M",
        "parameters": 0.135,
        "window": 8192,
        "tools": False,
        "images": False,
        "error": "",
        "fields": {},
        "fit": fit(tokens_per_second=95.0),
        "exam": None,
        "roles": [],
        "in_use": False,
        "default": True,
        "deletable": False,
    }
    return made | changes


def stronger(**changes: Any) -> Row:
    """A second INSTALLED, which was fetched and examined."""
    made = installed(
        "maker/small-3-4b",
        title="Small 3 4B",
        size=2_497_000_000,
        origin="orion",
        parameters=4.0,
        window=32768,
        tools=True,
        fit=fit(),
        exam=exam(),
        roles=["chat"],
        in_use=False,
        default=False,
        deletable=True,
    )
    return made | changes


def machine(**changes: Any) -> Row:
    """A machine."""
    made: Row = {
        "processor": "A processor",
        "cores": 8,
        "memory": 16 * GB,
        "memory_available": 6 * GB,
        "cards": [],
        "disk_free": 120 * GB,
        "bandwidth": 20 * GB,
    }
    return made | changes


def here(*models: Row, **changes: Any) -> Row:
    """What models_here answers."""
    return {"machine": machine(**changes), "installed": list(models) or [installed()]}


def download(state: str = "running", **changes: Any) -> Row:
    """A DOWNLOAD."""
    made: Row = {
        "id": "d1",
        "repository": "maker/Small-3-4B-GGUF",
        "title": "Small 3 4B",
        "kind": "language",
        "files": ["Small-3-4B-Q4_K_M.gguf"],
        "state": state,
        "done": 1_248_500_000,
        "total": 2_497_000_000,
        "speed": 8_300_000.0,
        "seconds_left": 150.0,
        "code": "",
        "fields": {},
        "step": 1,
        "path": "",
        "name": "",
        "host": "",
    }
    return made | changes


def run(**changes: Any) -> Row:
    """An EXAMRUN."""
    made: Row = {
        "model": "maker/small-3-4b",
        "discipline": "instructions",
        "done": 2,
        "of": 5,
        "state": "running",
        "code": "",
        "fields": {},
    }
    return made | changes


def plan(path: str = "/models/mine.gguf", **changes: Any) -> Row:
    """One line of the plan of an import."""
    made: Row = {
        "path": path,
        "name": path.rpartition("/")[2],
        "size": 986_000_000,
        "modes": ["copy", "move", "in_place"],
        "code": "",
        "fields": {},
    }
    return made | changes
