"""The files of RUN_DIR, the folder of a run: their names, what is in them, and which module writes them.

config.json      every parameter, seed, versions, fingerprint of the data                          folder
state.json       queued, running, paused, stopped, failed or finished; final metrics, health       folder
metrics.csv      a row an epoch                                                                    folder
checkpoint/      state from which the run continues to the same result                             folder
history/         label weights over epochs                                                         history
reading.json     what was understood of the data's file: roles of columns, marks of no answer …     run_data
recipe.json      settings chosen by a recipe, and what was tried                                   folder
outside.npz      labels added to candidate sets that may miss the truth, by a method that does so  folder
computed.npz     features made of texts, pictures and words; sets that votes or a classifier made  run_data
held_out.npz     held-out weights: how sure the labels are; none where that is not known           folder
labels.csv  no_answer.csv  model.json  model.safetensors  features.*    the result                 fit_loop
source/          a copy of the data file (up to 100 MB); source-test/ of the test file             folder
log.txt          events with their time, and the full trace of an error                            locked_folder
manifest.json    checksums of all these                                                            manifest
name.json        another display name, where the run was renamed                                   folder
access.json      who may open it, where people log in                                              access
deleted.json     when it was moved to the bin, and by whom                                         registry
review/          what Review works out about it                                                    pll.review
run.lock         held by the process that is at work on it; released when that process ends        folder

A comparison has a folder beside those of its lanes, with comparison.json and access.json.
"""

from __future__ import annotations

from pll.io import PART

CONFIG, STATE, METRICS, LOG = "config.json", "state.json", "metrics.csv", "log.txt"
CHECKPOINT, RECIPE, OUTSIDE = "checkpoint/checkpoint.pt", "recipe.json", "outside.npz"
COMPUTED, READING = "computed.npz", "reading.json"
HELD_OUT, HELD_OUT_SO_FAR = "held_out.npz", "checkpoint/held_out.npz"
LABELS, NO_ANSWER, MODEL = "labels.csv", "no_answer.csv", "model.json"
MANIFEST, NAME, ACCESS, DELETED, LOCK = "manifest.json", "name.json", "access.json", "deleted.json", "run.lock"
COMPARISON = "comparison.json"

FITTED = ("model.*", "features.*", "history/final.*", HELD_OUT)
"""The fitted model, its label weights and held-out weights: what predictions and exports need."""
RESULTS = (LABELS, NO_ANSWER, *FITTED)
"""What is written when a run ends, or is stopped."""
PER_EPOCH = (METRICS, "history/*")
"""What goes back to the checkpoint when a run is resumed."""
FRAMES = "history/frames/*"
"""Some of these are deleted while the run trains."""
GROWING = (METRICS, LOG)
"""Files that are appended to while the run trains."""
UNLISTED = (
    *(MANIFEST, NAME, ACCESS, DELETED, LOCK, COMPARISON, "review/*", f"*{PART}*"),
    *("experiment.lock", "progress.json"),  # of an experiment, which has a manifest too
)
"""Not results, without a checksum in the manifest; the files in review/ are named by theirs."""
