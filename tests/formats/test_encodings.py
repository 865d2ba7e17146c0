"""Encodings of text files are told by their letters, or the file is refused: no label is ever misread."""

from __future__ import annotations

from itertools import pairwise
from pathlib import Path

import pytest

from pll import formats
from pll.errors import UserError
from pll.formats.encodings import encoding_of
from pll.formats.tabular.answer_cells import AnswerReader
from pll.formats.tabular.cells import spelling

SAID = [  # files of a few labels, as they are in every language
    ("cp1252", "höflich unhöflich gemäß"),
    ("cp1252", "élevé modéré très"),
    ("cp1252", "engañoso verificación español"),
    ("cp1252", "qualità città più però"),
    ("cp1252", "não informação reclamação"),
    ("cp1252", "grøn blå rød"),
    ("cp1252", "räv björn älg"),
    ("cp1252", "hæð köttur það íslenska"),
    ("cp1250", "wróbel sroka gołąb dźwięk"),
    ("cp1250", "dobrý špatný žádný"),
    ("cp1250", "mačka čovjek žaba šuma"),
    ("cp1250", "gyűrű erdő jó kiváló"),
    ("cp1254", "karışık olumlu nötr KARIŞIK"),
    ("cp1254", "kuş ağaç kırmızı"),
    ("cp1257", "žmogus šuo žąsis žvirblį"),
    ("cp1251", "кошка собака лиса"),
    ("cp1251", "ОШИБКА ВЕРНО"),
    ("cp1251", "кішка їжак лисиця"),
    ("cp1251", "положителен отрицателен"),
    ("koi8_r", "положительный отрицательный"),
    ("cp1253", "θετικό αρνητικό ουδέτερο"),
    ("cp1255", "חיובי שלילי ניטרלי"),
    ("cp1256", "إيجابي سلبي محايد"),
    ("cp932", "賛成 反対 中立 わからない"),
    ("cp932", "ねこ 犬 キツネ"),
    ("gb18030", "积极 消极 中性"),
    ("gb18030", "垃圾 正常"),
    ("big5", "正面 負面 中立"),
    ("cp949", "긍정 부정 중립"),
    ("mac_roman", "groß schön müde Käse"),
]


@pytest.mark.parametrize(("encoding", "said"), SAID, ids=[f"{name} {said}" for name, said in SAID])
@pytest.mark.parametrize("mark", [";", "\t"])
def test_a_file_of_labels_is_read_in_its_own_letters(tmp_path: Path, encoding: str, said: str, mark: str) -> None:
    words, path = said.split(), tmp_path / "t.csv"
    lines = [mark.join(["id", "annotator 1", "annotator 2"])]
    lines += [mark.join([f"a{k}", words[k % len(words)], words[(k + (k % 5 == 0)) % len(words)]]) for k in range(40)]
    path.write_bytes("\r\n".join(lines).encode(encoding))
    data = formats.read(path)
    assert {name.casefold() for name in data.class_names} <= {word.casefold() for word in words}
    assert any("not UTF-8" in note for note in data.notes)


@pytest.mark.parametrize(("encoding", "said"), SAID, ids=[f"{name} {said}" for name, said in SAID])
def test_two_words_are_read_right_or_refused(encoding: str, said: str) -> None:
    words = [word for word in said.split() if not word.isascii()]
    for pair in pairwise(words):
        content = f"id,label\n1,{pair[0]}\n2,{pair[1]}\n3,none\n".encode(encoding)
        try:
            text = content.decode(encoding_of(content), errors="replace")
            assert pair[0] in text
            assert pair[1] in text
        except UserError as error:
            assert "save it as UTF-8" in str(error)


@pytest.mark.parametrize("text", ["the patient’s", "–", "“good” – or not", "it’s late…", "5 €", "12 °C ± 1", "30 m²"])
def test_signs_alone_are_of_windows_1252(text: str) -> None:
    assert encoding_of(f"id,label\n1,{text}\n2,none\n".encode("cp1252")) == "cp1252"


@pytest.mark.parametrize(
    ("encoding", "words"),
    [
        ("cp1252", "Nº traído erupción acompañado vómitos torácico diabético días"),
        ("cp1252", "1ª 2ª reclamação não diagnóstico exercício"),
        ("cp1252", "nº Mª José García Muñoz"),
        ("cp1250", "aş vrea oraş împărat câine şi viaţă"),
        ("cp1250", "kérés hibás elégedett érdeklődés"),
        ("cp1251", "моє є своє її питання"),
    ],
)
def test_an_ordinal_sign_is_no_letter_of_another_language(encoding: str, words: str) -> None:
    lines = [f"{k},{word}" for k, word in enumerate(words.split())]
    assert encoding_of("\n".join(["id,label", *lines]).encode(encoding)) == encoding


@pytest.mark.parametrize("word", ["forêt", "niño"])
def test_a_word_that_could_be_another_is_refused(word: str) -> None:
    with pytest.raises(UserError, match=r"could be .*; save it as UTF-8"):
        encoding_of(f"id,label\n1,{word}\n".encode("cp1252"))


@pytest.mark.parametrize("text", ["Größe für Müller", "кошка и собака", "ねこと犬とキツネ", "karışık değil"])
def test_damaged_utf_8_is_no_other_encoding(text: str) -> None:
    assert encoding_of(f"id,label\n1,{text}\n".encode() * 20 + b"2,a\xff\n") == "utf-8"


def test_a_dotted_and_a_dotless_i_are_one_letter_where_capitals_do_not_tell_them_apart() -> None:
    assert len({spelling(word) for word in ("KARIŞIK", "karışık", "Karışık.")}) == 1
    assert spelling("İYİ") == spelling("iyi") != spelling("kötü")
    assert AnswerReader(("karışık", "iyi")).read("**KARIŞIK**") == AnswerReader(("karışık", "iyi")).read("karışık")


@pytest.mark.parametrize(
    ("text", "encoding"), [("Nilo;África", "cp850"), ("Área;Ángel\nnorte;sur", "cp850"), ("ľad\nvoda", "iso8859-2")]
)
def test_a_letter_that_is_a_micro_in_another_encoding_is_not_taken_for_one(text: str, encoding: str) -> None:
    with pytest.raises(UserError, match="not UTF-8"):
        encoding_of(text.encode(encoding))
