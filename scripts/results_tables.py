# SPDX-License-Identifier: Apache-2.0
"""Tables of docs/results.md, made from a results.json: `ranking`, `claims`, `costs`, or the name of a task."""


def interval(entry):
    half = (entry["high"] - entry["low"]) / 2
    return f"{entry['mean']:.3f} ±{half:.3f}"


def markdown(head, rows):
    lines = ["| " + " | ".join(head) + " |", "| " + " | ".join("---" for _ in head) + " |"]
    return "\n".join(lines + ["| " + " | ".join(row) + " |" for row in rows]) + "\n"


def labels(results):
    return {line["name"]: line["label"] for line in results["lines"]}


def ranking(results):
    name = labels(results)
    rows = []
    for one in results["ranking"]:
        half = (one["high"] - one["low"]) / 2
        least = f"{one['worst_gain']:.3f} in `{one['worst_task']}`"
        learned = f"{one['learned']} of {one['tested']}"
        rows.append((str(one["rank"]), name[one["line"]], f"{one['gain']:.3f} ±{half:.3f}", least, learned))
    return markdown(("rank", "line", "gain", "least gain", "tasks learned"), rows)


def claims(results):
    rows = [(one["claim"], one["source"], one["agrees"], one["seen"].split(";")[0]) for one in results["claims"]]
    return markdown(("claim", "source", "agrees", "seen"), rows)


def costs(results):
    """What a training step of the first task costs, as a multiple of the cheapest."""
    name, task = labels(results), results["tasks"][0]["name"]
    steps = {one["line"]: one for one in results["costs"] if one["task"] == task}
    least = min(one["seconds_per_step"] for one in steps.values())
    rows = [
        (name[line], f"{one['seconds_per_step'] / least:.1f}", f"{one['parameters']:.0f}")
        for line, one in sorted(steps.items(), key=lambda entry: entry[1]["seconds_per_step"])
    ]
    return markdown(("scheme", "time of a training step", "parameters"), rows)


def task_table(results, task):
    name = labels(results)
    cells = {}
    for one in results["numbers"]:
        if (one["task"], one["name"], one["place"]) == (task["name"], task["main"], -1):
            cells[one["line"], one["length"]] = interval(one)
    longest, paired = task["lengths"][-1], {}
    for one in results["pairs"]:
        if (one["task"], one["name"], one["length"], one["other"]) == (task["name"], task["main"], longest, "rope"):
            paired[one["line"]] = f"{one['difference']:.3f} ±{(one['high'] - one['low']) / 2:.3f}"
    verdicts = [one for one in results["verdicts"] if one["task"] == task["name"]]
    verdicts.sort(key=lambda one: (one["rank"] is None, one["rank"] or 0))
    rows = []
    for one in verdicts:
        numbers = (cells[one["line"], length] for length in task["lengths"])
        rank = str(one["rank"]) if one["learned"] else "not learned"
        rows.append((rank, name[one["line"]], *numbers, paired.get(one["line"], "")))
    at = (f"{task['main']} at {length}" for length in task["lengths"])
    return markdown(("rank", "line", *at, f"less RoPE's at {longest}"), rows)


def table(results, name):
    made = {"ranking": ranking, "claims": claims, "costs": costs}
    if name in made:
        return made[name](results)
    return task_table(results, next(task for task in results["tasks"] if task["name"] == name))
