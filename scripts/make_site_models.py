#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Retrains the models of the site's page "A mini-GPT that breaks", site/public/models. Takes ten minutes on two cores.

    scripts/make_site_models.py [build/release/bin/locus]

One model per scheme of the lab (those of the preset full), of the task verbs, seed 1, at the size of the preset standard, in
16 bits. They are tested at 1 and 4 times their trained length, so a learned table has 4 times the rows that it learns. Beside
them: index.json, which lists them with what the lab measured (guess: the loss of the best fixed distribution of characters), and verbs.txt, sentences that no model saw in training.
Training rounds differently on other machines."""
import json
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
TARGET = ROOT / "site/public/models"
TEXT_LENGTH = 4096


def main():
    locus = sys.argv[1] if len(sys.argv) > 1 else str(ROOT / "build/release/bin/locus")

    def output(*words):
        return subprocess.run([locus, *words], check=True, stdout=subprocess.PIPE, text=True).stdout

    titles = {scheme["name"]: scheme["title"] for scheme in json.loads(output("list", "--json"))["schemes"]}
    plan = json.loads(output("lab", "plan", "--preset", "full", "--tasks", "verbs", "--seeds", "1", "--json"))
    schemes = [trial["scheme"] for trial in plan["trials"]]
    with tempfile.TemporaryDirectory() as folder:
        options = ["--preset", "standard", "--tasks", "verbs", "--schemes", ",".join(schemes), "--seeds", "1"]
        options += ["--lengths", "1x,4x", "--save-models", "gguf:float16", "--no-report", "--no-speed", "--out", folder]
        subprocess.run([locus, "lab", *options], check=True)
        results = json.loads((Path(folder) / "results.json").read_text())
        shutil.rmtree(TARGET, ignore_errors=True)
        TARGET.mkdir(parents=True)
        for scheme in schemes:
            shutil.copy(Path(folder) / f"models/verbs-{scheme}-seed1.gguf", TARGET / f"{scheme}.gguf")

    task = results["tasks"][0]
    measured = {(one["line"], one["name"], one["length"]): one["mean"] for one in results["numbers"]}
    models = [{"scheme": scheme, "title": titles[scheme],
               "bytes": (TARGET / f"{scheme}.gguf").stat().st_size,
               "loss": {length: measured[scheme, "loss", length] for length in task["lengths"]},
               "agreement": {length: measured[scheme, "agreement", length] for length in task["lengths"]}}
              for scheme in schemes]
    index = {"trained_length": task["train_length"], "steps": task["steps"], "guess": task["majority"],
             "version": results["run"]["versions"]["locus"], "models": models}
    lines = [json.dumps(model) for model in index.pop("models")]
    text = json.dumps(index)[:-1] + ', "models": [\n' + ",\n".join(lines) + "\n]}\n"
    (TARGET / "index.json").write_text(text)
    sentences = output("lab", "text", "verbs", "--length", str(TEXT_LENGTH)).split("\n")
    (TARGET / "verbs.txt").write_text("\n".join(sentences[1:-1]) + "\n")  # without the parts at both ends


if __name__ == "__main__":
    main()
