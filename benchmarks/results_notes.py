"""The words around the figures of docs/results.md: how they were obtained, and why some differ from the paper's."""

from __future__ import annotations

HEAD = """\
# Results

<!-- Written by `python -m benchmarks.results` from docs/results.csv and benchmarks/results_notes.py. -->

Test accuracy is the share of unseen examples whose argmax over all classes is the true label; transductive accuracy
the share of training examples whose identified label is. For methods trained by epochs both are means over the last 10,
then mean ± standard deviation over five folds, or for digits over five seeds with 20 % held out. Candidates are made
on the training part only; the same seed gives every method the same splits and sets.

Methods trained by gradient descent use a linear model, cross-entropy, SGD with momentum 0.9 and, on the paper's
datasets, PRODEN's published learning rate and weight decay, batch 100 and 500 epochs (GA and PN-decomp their own
learning rate; CC, RC, LWS, CAVL and POP, which are younger than the paper, PRODEN's); on digits Candid's defaults (the
learning rate by the data, weight decay 1e-3, batch 256, 100 epochs). SURE has a linear kernel on the paper's datasets,
as there, and on digits the one with the higher covering rate. The others use the defaults of
docs/methods.md. A number in brackets marks a figure outside the paper's mean ± 2 standard deviations, with what we know
of why below the table. The paper's folds, candidate sets and z-scores are not published, so equal figures are not to be
expected; a single draw of folds and sets moves a small dataset by several points. The paper's other datasets (MNIST and
its kin, CIFAR-10, Texture, 20Newsgroups, MSRCv2, Soccer Player, Yahoo! News) are not in these tables.

`python -m benchmarks.results` fits all of it (about an hour on two cores) and writes this page;
`python -m benchmarks.results_probes` gives the further figures that the notes mention. A few rows come quicker from
the shell, the same to the last digit:

```sh
python -m pll evaluate digits --methods proden,proden-naive --flip binomial --q 0.7 --holdout 0.2 --seeds 0,1,2,3,4 --recipe default --threads 1
python -m pll evaluate lost --methods proden --folds 5 --lr 0.01 --weight-decay 1e-2 --batch-size 100 --epochs 500 --recipe default --threads 1
```
"""

SETTING_NOTES: dict[str, str] = {
    "digits, binomial q = 0.1": (
        "Other implementations gave (transductive / test, %): IPAL 99.7 / 98.5, PL-kNN 99.5 / 97.6, PL-SVM 97.0 / 89.1, "
        "PL-ECOC 99.4 / 96.8, CLPL 98.2 / 94.0, SURE (kernel) 99.8 / 98.8; PRODEN 99.2 / 95.7 (500 epochs). PL-SVM is "
        "better here because λ is searched and the best of five starts kept; with λ = 1 on raw pixels it gives "
        "97.2 / 88.1."
    ),
    "digits, binomial q = 0.7": (
        "Other implementations gave: IPAL 98.7 / 98.2, PL-kNN 87.8 / 81.6, CLPL 86.4 / 83.9, SURE 98.2 / 97.3, PL-SVM with "
        "λ = 1e-3 – / 82.8; PRODEN 94.3 / 92.9 (500 epochs), naive 67.9 / 62.6, sudden 22.0 / 20.5, itera 76.2 / 72.8. "
        "PL-SVM is above its figure for the same reasons as at q = 0.1. PL-ECOC finds no usable column here at all; ours "
        "lets an example train a column that holds most of its set (see docs/methods.md)."
    ),
}
"""By table: what to know before reading it."""

CELL_NOTES: dict[tuple[str, str], str] = {
    ("", "ga"): (
        "GA supposes that wrong labels are ruled out evenly. Where a class is ruled out more often, (c − 1) π_k > 1, its part of "
        "the risk is negative on nearly every batch; Algorithm 1 would then only ascend, which raises exactly this class. "
        "Gradient ascent is left out for such classes here: Lost 0.0 → 47.1, BirdSong 0.9 → 48.7, Yeast q = 0.7 1.9 → 44.3, "
        "Yeast pair q = 0.9 1.3 → 40.4. The figures also depend on optimiser, rate and number of steps more than those of any "
        "other method, and the paper's are not published; nor is how it made complementary labels of real sets."
    ),
    ("", "clpl"): (
        "the regularisation C is chosen here by held-out covering rate; C = 1e-3 comes near the paper's lower figures on the "
        "pair settings (39.5 on Yeast 0.9, 83.2 and 52.5 on Synthetic Control 0.5 and 0.9), so its C was probably small."
    ),
    ("lost", "clpl"): (
        "not the solver (the problem is convex and a golden test checks the minimum). Seed 0, the one shown, has the unluckiest of "
        "eleven draws of folds: seeds 1 to 10 give 71.3 to 73.7, 72.3 on average, five of them within two deviations."
    ),
    ("birdsong", "clpl"): (
        "not the solver (the problem is convex and a golden test checks the minimum) nor C (62.0 to 62.3 for C from 0.1 to "
        "10). The features decide: their logarithms give 64.6. We do not know what the paper fed it."
    ),
    ("", "plsvm"): (
        "above the paper: λ is searched over its grid without truth, and the start with the lowest objective of five is "
        "kept; with one start some folds collapse (Synthetic Control 0.7: 88.8 ± 9.3)."
    ),
    ("", "sure"): (
        "λ = 0.3 and β = 0.05 for all data; the paper chose them from a grid. Where sets are large λ = 0.3 rewards decisions "
        "too much: (0.05, 0.3) gives 51.5 on Yeast 0.7 and 94.8 on Dermatology 0.7."
    ),
    ("", "plknn"): (
        "the paper's k is one of 5 to 10; here k is chosen by leave-one-out without truth, and z-scores are cut off at ±3. More "
        "neighbours help where sets are large (digits q = 0.7: 82.9 with k = 10)."
    ),
    ("", "ipal"): "above or near the paper; z-scores are cut off at ±3 here, and folds and sets are other ones.",
    ("", "ecoc"): (
        "the random columns decide: five seeds on Lost give 59.9 to 66.2. Ours uses an rbf machine (a linear one gives 61 to 64 "
        "on BirdSong, where the paper has 71.5), ⌈10 log2 c⌉ columns, and C by the held-out covering rate, which is not always "
        "better than C = 1 (Yeast q = 0.7: 44.9 against 52.2)."
    ),
    ("", "d2cnn"): (
        "no code and no formulas are public; ours follows the published description (docs/methods.md says what we chose), and is "
        "mostly above the paper's figures for it."
    ),
    (
        "",
        "proden-itera",
    ): "the weights are refreshed at 100, 200, … of 500 epochs from one evaluation pass, as described.",
    ("synthetic-control, pair q = 0.9", "proden"): (
        "the draw: seeds 1 and 2 (new folds and sets) give 95.99 ± 2.88 with the same settings."
    ),
}
"""By (table, method), or ("", method) for all tables: why a figure differs from the paper's."""
