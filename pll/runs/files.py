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

CONFIG_FILE, STATE_FILE, METRICS_FILE, LOG_FILE = "config.json", "state.json", "metrics.csv", "log.txt"
CHECKPOINT_FILE, RECIPE_FILE, OUTSIDE_FILE = "checkpoint/checkpoint.pt", "recipe.json", "outside.npz"
COMPUTED_FILE, READING_FILE = "computed.npz", "reading.json"
HELD_OUT_FILE, HELD_OUT_SO_FAR = "held_out.npz", "checkpoint/held_out.npz"
LABELS_FILE, NO_ANSWER_FILE, MODEL_FILE = "labels.csv", "no_answer.csv", "model.json"
MANIFEST_FILE, NAME_FILE, ACCESS_FILE = "manifest.json", "name.json", "access.json"
DELETED_FILE, LOCK_FILE, COMPARISON_FILE = "deleted.json", "run.lock", "comparison.json"

FITTED = ("model.*", "features.*", "history/final.*", HELD_OUT_FILE)
"""The fitted model, its label weights and held-out weights: what predictions and exports need."""
RESULT_FILES = (LABELS_FILE, NO_ANSWER_FILE, *FITTED)
"""What is written when a run ends, or is stopped."""
PER_EPOCH = (METRICS_FILE, "history/*")
"""What goes back to the checkpoint when a run is resumed."""
FRAMES = "history/frames/*"
"""Some of these are deleted while the run trains."""
GROWING = (METRICS_FILE, LOG_FILE)
"""Files that are appended to while the run trains."""
UNLISTED = (
    *(MANIFEST_FILE, NAME_FILE, ACCESS_FILE, DELETED_FILE, LOCK_FILE, COMPARISON_FILE, "review/*", f"*{PART}*"),
    *("experiment.lock", "progress.json"),  # of an experiment, which has a manifest too
)
"""Not results, without a checksum in the manifest; the files in review/ are named by theirs."""
OF_A_RUN = frozenset(
    {
        *(CONFIG_FILE, STATE_FILE, METRICS_FILE, LOG_FILE, RECIPE_FILE, OUTSIDE_FILE, COMPUTED_FILE, READING_FILE),
        *(HELD_OUT_FILE, LABELS_FILE, NO_ANSWER_FILE, MODEL_FILE, "model.safetensors"),
        *("features.json", "features.safetensors", "checkpoint", "history", "source", "source-test", "review"),
        *(MANIFEST_FILE, NAME_FILE, ACCESS_FILE, DELETED_FILE, LOCK_FILE, COMPARISON_FILE),
    }
)
"""All files and folders that a run writes; others in its folder are somebody's own."""
