"""What each field of each format means, in words: the part of docs/formats.md that no code can tell."""

from __future__ import annotations

Rows = tuple[tuple[str, str], ...]

TABLE: Rows = (
    ("`id`", "name of the example; by default its number, from 0"),
    ("`candidates`", "the labels it may have: `cat|dog` (or `;`, a line each, a comma, a slash or \"or\" where no cell holds a `|`), a list of JSON or Python `[\"a|b\", \"c\"]`, a set `{'a', 'b'}`, or an array of a database `{a,b}`; where labels stand several times (`[\"a\", \"a\", \"b\"]`) or an object says how often or likely they are (`{\"a\": 2, \"b\": 1}`), these are the weights to start from"),
    ("`true_label`", "its true label, where known; empty where not"),
    ("`split`", "`train` or `test`"),
    ("`text`, `image`", "what there is to read or to see: a path or an address of a picture"),
    ("`annotator_1`, `annotator_2`, … or `annotator:ann`", "each person's answer: a label, or labels as in `candidates`, or a model's answer in JSON (`{\"label\": \"cat\", \"confidence\": 0.8}`); empty where nothing"),
    ("`candidate_cat`, `class_0`, `y0`, … or `candidate:cat`", "0/1 columns, one a class, in place of `candidates`; with any other beginning (`is_cat`) where the true labels are what follows it"),
    ("`label_0`, `label_1`, … of 0 and 1", "classes where the truth is among them, annotators where the truth is 0 and 1; asked where there is none"),
    ("`task`, `annotator`, `label`", "long form: a line for each label that somebody gave; several lines an example. What differs between the lines of one example (seconds spent) is no feature. Under other names it is asked"),
    ("`feature:…`, `category:…`, `keep:…`", "marks a column whose role its name would not tell"),
    ("`Option 1`, `Option 2`, …", "one candidate a cell"),
    ("`prob_cat`, `P(cat)`, … or `cat` beside a truth of `cat`", "probabilities of classes, or how many people named each, in place of `candidates`. The likeliest that make up 99 % are the candidates, with these weights to start from"),
    ("`gpt` beside `gpt_score`", "a voter's answer, and its confidence"),
    ("columns of words with one vocabulary", "voters, or a question: see above"),
    ("any other column", "numbers are features, words are categories; texts, pictures and dates are recognised by their cells"),
    ("`identified_label`, `confidence`, `margin`, `entropy`, `source`, `reviewer`, `decided_at`", "what a run adds; not read back"),
)  # fmt: skip

_OF_TOOLS: Rows = (
    ("`candidates`, `features`, `categories`, `true_label`, `split`", "as in a table, where the tool's file was written by Candid: `features` is `{\"width\": 1.5}` or a list, `categories` `{\"colour\": \"red\"}`"),
)  # fmt: skip

_BARE: Rows = (
    ("no header", "where the first row has numbers wherever the others have: columns are called `column 1`, `column 2`, … (evenly rising numbers are taken for names)"),
    ("encoding", "UTF-8; also UTF-16 with its mark, Windows-1252, Windows-1251 and Shift-JIS, which the notes then say; what could be two of them is refused. Written is UTF-8"),
)  # fmt: skip

FIELDS: dict[str, Rows] = {
    "csv": TABLE + _BARE,
    "tsv": TABLE + _BARE,
    "xlsx": (
        *TABLE,
        ("sheet", "the first visible one with a table; the data page asks where there are several, in the shell `--sheet NAME`. Titles above the header are left out"),
        ("values", "numbers and days as they are stored (`2025-03-04`), results of formulas as they were last computed. Files of Excel's old formats, of LibreOffice or with a password have to be saved as .xlsx or CSV first"),
    ),
    "parquet": (
        *TABLE,
        ("types", "`candidates` and annotators are lists of text (or text as above), features numbers, missing values null"),
        ("`image`", "may also be a struct `{bytes, path}` with the picture inside"),
        ("metadata `candid`", "the part of each column, the order of the classes, the shape of images"),
    ),
    "huggingface": (
        ("`candidates`", "`Sequence(ClassLabel)`: numbers, whose names stand in the metadata"),
        ("`label`", "`ClassLabel`: the true label, −1 where not known"),
        ("columns of annotators", "`Sequence(ClassLabel)`, null where somebody did not answer"),
        ("`image`", "`{bytes, path}`"),
        ("any other column", "as in a table"),
    ),
    "jsonl": (
        *TABLE,
        ("values", "`candidates` and annotators are lists of names; numbers are numbers; null is missing; lists and objects are carried along"),
        ("`annotations`, `votes`", "the votes on one example: `[{\"annotator\": \"anna\", \"label\": \"cat\"}, …]` (usual names, also `score`), under any name; or `{\"anna\": \"cat\"}` under a name like `votes` or `annotations`"),
    ),
    "npz": (
        ("`X`", "(n, d) or (n, C, H, W) numbers: the features, or images; (n, 0) where there are only texts or pictures"),
        ("`candidates`", "(n, c) true/false; or `indptr`, `indices` (and `n_classes`): sparse rows"),
        ("`y`", "(n,) true labels as class numbers, −1 where not known"),
        ("`prior`", "(nnz,) or (n, c) numbers, at least 0: prior of the candidates; label weights start from it and are prior × softmax on each set"),
        ("`votes`, `voters`, `vote_scores`", "(n, m) class numbers, −1 for no answer; (m,) names of the voters; (n, m) how sure each was, optional: the candidates are made of them"),
        ("`class_names`, `ids`, `feature_names`", "text, by default numbers from 0"),
        ("`is_test` (or `split`)", "(n,) the test part"),
        ("`images`", "(n, H, W) or (n, H, W, 3) uint8: what a person is shown"),
        ("`kind`", "`array`, `image`, or `table` (where NaN is a missing cell)"),
        ("other names", "`features`, `data`; `partial_labels`, `partial_target`, `S`, … as a mask, either way round; `y_true`, `labels`, `target`, … as numbers, words or one-hot (several marks a row are candidates); `x_train`, `y_train`, `x_test`, `y_test` (the test part is not trained on). What was read as what is in the notes"),
        ("a folder of the same arrays", "`X.npy`, `indptr.npy`, `indices.npy`, …, as `unzip data.npz -d data` makes it: DATA is the folder, or its `X.npy`. The arrays are memory-mapped; X of float32, row by row, stays in its file and may be larger than memory (docs/performance.md)"),
        ("`texts`, `picture_names`, `category_names`, `categories`, `extra_names`, `extras`, `answer_*`, `annotator_names`", "all else, as plain arrays; nothing in the file is ever unpickled"),
    ),
    "mat": (
        ("`data` (or `features`, `X`, …)", "n × d features, dense or sparse; d × n is recognised by the labels. The names of npz files will do too (but S)"),
        ("`partial_target` (or `p_labels`, `Y_P`)", "c × n or n × c, 1 where the class is a candidate"),
        ("`target` (or `logitlabels`, `Y`, `label`, `labels`)", "the true labels, one-hot either way round, or class numbers (then from 1 where none is 0)"),
        ("`tr`, `te`", "cells with the row numbers of folds; `ReadOptions(fold=1)` takes one as the test part"),
        ("`train_data`, `train_p_target`, `train_target`, `test_data`, `test_p_target`, `test_target`", "the split as two sets of matrices"),
        ("one struct", "may hold all of these as its fields"),
        ("version", "v5 to v7, either byte order, and v7.3 (HDF5, read in a process of its own); written as v7"),
        ("`identified_target`, `confidence`", "what a run adds: labels one-hot (c × n), and how sure they are; not read back"),
    ),
    "labelstudio": (
        ("`id`", "of the task; stays as it is (else `data.id`, else its place in the file)"),
        ("`data`", "the fields of the task: the text or picture is recognised, everything else is carried along"),
        ("`data.candidates`", "choices of this task alone: `[{\"value\": \"cat\"}]` or names; count where nobody has annotated"),
        ("`annotations[].result[].value.choices`", "what one person chose; the question answered most often is read, or the one you name"),
        ("`annotations[].completed_by`", "a number, or an object with `email` or `username`"),
        ("`annotations[].was_cancelled`", "such annotations do not count"),
        ("`annotations[].ground_truth`", "its one choice is the true label"),
        ("`predictions[]`", "not read; written with `model_version`, `score` (0-1) and the identified label; the version of a person's decision ends in `, decided by NAME`. Those of other models stay"),
        ("`….config.xml`", "the labelling configuration beside the file, with the names that the answers use"),
        *_OF_TOOLS,
    ),
    "doccano": (
        ("`id`", "lines of one id are one example, by several people"),
        ("`text` (or `data`), `filename`", "what there is to read or to see"),
        ("`label` (or `labels`)", "labels of the whole example, not of spans; all of them are candidates"),
        ("`username` (or `user`, `annotator`)", "who gave them"),
        ("`confidence`, `candidates`", "written with the identified label: how sure it is, and what it was chosen from"),
        *_OF_TOOLS,
    ),
    "prodigy": (
        ("`id` (or `_input_hash`)", "lines of one id are one example, by several people"),
        ("`text`, `image`", "what there is to read or to see"),
        ("`options[].id`", "what could be chosen: the candidates, where nobody has answered"),
        ("`accept`", "what was chosen (`label` in binary questions)"),
        ("`answer`", "`accept`; `reject` rules the label out; `ignore` does not count"),
        ("`_annotator_id` (or `_session_id`)", "who answered"),
        ("`meta.score`", "written: how sure the label is, which is accepted beforehand"),
        *_OF_TOOLS,
    ),
    "argilla": (
        ("`id` (or `external_id`)", "of the record"),
        ("`fields`", "what there is to read or to see"),
        ("`metadata`", "carried along; `metadata.candidates` are the candidates where nobody responded"),
        ("`responses`", "`{question: [{value, user_id, status}]}` (Argilla 2) or a list with `values` (Argilla 1); `discarded` does not count"),
        ("`vectors`", "the first is learnt from"),
        ("`suggestions`", "written: `{question: {value, score, agent}}`; those of other questions stay"),
        *_OF_TOOLS,
    ),
    "cleanlab": (
        ("first column", "the index: the id of the example"),
        ("every other column", "an annotator: a class number 0 … K−1, or empty"),
        ("`num_annotations`, `consensus_label`, `annotator_agreement`, `consensus_quality_score`", "what a run adds, under cleanlab's names; not read back"),
    ),
    "plcifar": (
        ("key", "the id of the example"),
        ("value", "a list of lists, the answers of each person; their union are the candidates (`combine=\"largest\"`: the largest alone)"),
    ),
    "imagezip": (
        ("pictures", "PNG, JPEG, WebP, BMP, GIF, TIFF, PPM, anywhere in the ZIP (or in a folder on disk)"),
        ("a table (CSV, TSV, JSONL, Parquet)", "its column `image` names the pictures; all other columns as in a table"),
        ("folders", "without a table: `cat/1.png`, `cat|dog/2.png` (or `cat;dog`); `train/` and `test/` around them are the split"),
        ("links, encrypted files, paths that lead out", "are refused"),
    ),
}  # fmt: skip
"""By format, its fields and what each means; Markdown."""
