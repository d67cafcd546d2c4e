"""The loaders of public originals, on tiny files in the originals' own formats."""

import io
import json
import tarfile
import urllib.request
import zipfile

import numpy as np
import pytest

from benchmarks import datasets
from benchmarks.originals import cosqa, download, financebench, hotpotqa, locomo, mdn, rfc, scifact
from benchmarks.originals.__main__ import main
from benchmarks.originals.download import CannotFetch, Source, fetch
from benchmarks.originals.layout import TextSet, write_set
from benchmarks.retrieval import records
from gossamer.embed import load_embedder
from gossamer.records import Document

CORPUS = '{"_id": "7", "title": "Zinc", "text": "It helps.", "metadata": {}}'
QUERIES = [
    '{"_id": "1", "text": "Does zinc help?", "metadata": {}}',
    '{"_id": "2", "text": "Never judged.", "metadata": {}}',
]
QRELS = ["query-id\tcorpus-id\tscore", "1\t7\t1"]

HOTPOT = {
    "_id": "5a8b57f2",
    "answer": "yes",
    "question": "Were both American?",
    "supporting_facts": [["Ed Wood", 0], ["Scott", 0], ["Scott", 1]],
    "context": [
        ["Ed Wood", ["Ed was American.", " He made films."]],
        ["Scott", ["Scott is American."]],
        ["Sinister", ["A film."]],
    ],
    "type": "comparison",
    "level": "hard",
}

LOCOMO = {
    "sample_id": "conv-26",
    "conversation": {
        "speaker_a": "Caroline",
        "speaker_b": "Melanie",
        "session_10_date_time": "8:56 pm on 20 July, 2023",
        "session_10": [{"speaker": "Melanie", "dia_id": "D10:1", "text": "Hello again."}],
        "session_2_date_time": "1:14 pm on 25 May, 2023",
        "session_2": [
            {"speaker": "Caroline", "dia_id": "D2:1", "text": "Hey!"},
            {
                "speaker": "Melanie",
                "dia_id": "D2:2",
                "text": "Look.",
                "img_url": ["https://example.org/a.jpg"],
                "blip_caption": "a photo of a lake",
                "query": "lake",
            },
        ],
    },
    "qa": [
        {"question": "When?", "answer": 2022, "evidence": ["D2:1; D2:2"], "category": 2},
        {"question": "Who?", "adversarial_answer": "me", "evidence": ["D10:1"], "category": 5},
    ],
    "event_summary": {},
    "observation": {},
    "session_summary": {},
}

FINANCE = {
    "financebench_id": "financebench_id_03029",
    "company": "3M",
    "doc_name": "3M_2018_10K",
    "question_type": "metrics-generated",
    "question": "What was spent?",
    "answer": "$1577.00",
    "justification": "",
    "evidence": [
        {"evidence_text": "...", "doc_name": "3M_2018_10K", "evidence_page_num": 1},
        {"evidence_text": "...", "doc_name": "3M_2018_10K", "evidence_page_num": 1},
    ],
}

RFC = """



Network Working Group                                          Vint Cerf
Request for Comments: 20                                            UCLA
                                                        October 16, 1969

                  ASCII format for Network Interchange
                           and Other Uses

   For concreteness, we suggest the use of standard 7-bit ASCII.
{more}

Cerf                                                            [Page 1]
\f
RFC 20        ASCII format for Network Interchange     October 16, 1969

   The last line.
"""

PAGE = """---
title: "Crypto: random()"
slug: Web/API/Crypto/Random
page-type: web-api-method
---

{{APIRef("Web Crypto API")}}{{SecureContext_Header}}

The method is on {{domxref("Window.crypto", "crypto")}}. It can be called from every page that \
wants to have numbers nobody can guess.

## Specifications

{{Specifications}}
"""


def test_scifact_keeps_the_questions_that_were_judged():
    made = scifact.convert([CORPUS], QUERIES, QRELS)

    assert made.documents == [{"id": "7", "title": "Zinc", "text": "It helps."}]
    assert made.questions == [{"id": "1", "text": "Does zinc help?"}]
    assert made.grades == [("1", "7", 1)]


def test_scifact_refuses_judgements_of_another_format():
    with pytest.raises(ValueError, match="begin with"):
        scifact.convert([CORPUS], QUERIES, ["1 0 7 1"])


def test_hotpotqa_takes_every_passage_once():
    again = HOTPOT | {"_id": "5a8b57f3"}
    made = hotpotqa.convert([HOTPOT, again])

    assert [one["title"] for one in made.documents] == ["Ed Wood", "Scott", "Sinister"]
    assert made.documents[0]["text"] == "Ed was American. He made films."
    assert made.grades[:2] == [("5a8b57f2", "0", 1), ("5a8b57f2", "1", 1)]
    assert made.answers[0] == {"id": "5a8b57f2", "answers": ["yes"]}


def test_hotpotqa_draws_the_same_questions_each_time():
    many = [HOTPOT | {"_id": f"{number}"} for number in range(30)]
    drawn = [one["id"] for one in hotpotqa.convert(many, 5).questions]

    assert len(set(drawn)) == 5
    assert drawn == [one["id"] for one in hotpotqa.convert(many, 5).questions]


def test_cosqa_names_functions_by_their_number():
    example = {"idx": "cosqa-train-1", "doc": "add numbers", "code": "def b(): 2", "label": 1}
    made = cosqa.convert(
        {"def b(): 2": 1, "def a(): 1": 0}, {"dev": [], "test": [example | {"retrieval_idx": 1}]}
    )

    assert [one["text"] for one in made.documents] == ["def a(): 1", "def b(): 2"]
    assert made.questions == [{"id": "cosqa-train-1", "text": "add numbers", "split": "test"}]
    assert made.grades == [("cosqa-train-1", "1", 1)]


def test_locomo_takes_turns_in_order_and_evidence_apart():
    made = locomo.convert([LOCOMO])

    assert [one["id"] for one in made.documents] == ["26:D2:1", "26:D2:2", "26:D10:1"]
    assert made.documents[1]["text"] == "Melanie: Look. [shares an image: a photo of a lake]"
    assert made.documents[1]["title"] == "1:14 pm on 25 May, 2023"
    assert made.grades == [
        ("26-q0", "26:D2:1", 1),
        ("26-q0", "26:D2:2", 1),
        ("26-q1", "26:D10:1", 1),
    ]
    assert [one["answers"] for one in made.answers] == [["2022"], []]


def test_financebench_counts_pages_from_nought():
    filing = Document(b"first\nsecond", "pdf", unit="page", places=((0, 1), (6, 2)))
    made = financebench.convert([json.dumps(FINANCE)], [("3M_2018_10K", filing)])

    assert [one["id"] for one in made.documents] == ["3M_2018_10K#p0", "3M_2018_10K#p1"]
    assert made.documents[1]["text"] == "second"
    assert made.grades == [("financebench_id_03029", "3M_2018_10K#p1", 1)]


def test_rfcs_lose_the_lines_between_pages():
    texts = [
        ("RFC-all/rfc0020.txt", RFC.format(more="   More of it.\n" * 100).encode()),
        ("RFC-all/rfc1119.txt", b"is available only in PostScript form"),
        ("RFC-all/rfc-index.txt", b"index " * 1000),
    ]
    (document,) = rfc.convert(texts).documents

    assert document["id"] == "rfc20"
    assert document["title"] == "ASCII format for Network Interchange and Other Uses"
    assert "[Page 1]" not in document["text"]
    assert "\f" not in document["text"]
    assert document["text"].count("ASCII format for Network Interchange") == 1
    assert "The last line." in document["text"]


def test_mdn_pages_say_what_macros_show():
    name = "content-main/files/en-us/web/api/crypto/random/index.md"
    (page,) = mdn.convert([(name, PAGE), ("content-main/README.md", PAGE)])

    assert (page["id"], page["title"]) == ("web/api/crypto/random", "Crypto: random()")
    assert page["text"].startswith("Web Crypto API\n\nThe method is on Window.crypto.")
    assert "{{" not in page["text"]


def test_mdn_gets_vectors_and_the_nearest_of_each_question(tmp_path, monkeypatch):
    embedder = load_embedder("pocket")
    pages = [
        {
            "id": f"p{n}",
            "title": f"Page {n}",
            "text": f"{word.capitalize()} " + f"{word} " * 20 + ".",
        }
        for n, word in enumerate(["apple", "house", "river", "cloud", "stone", "music"] * 20)
    ]
    chunks, questions = mdn.hold_out(mdn.cut(pages, embedder), 5)
    mdn.write_vectors(chunks, questions, embedder, tmp_path / "mdn" / "vectors")
    write_set(TextSet(pages, questions), tmp_path / "mdn")

    assert (len(chunks), len(questions)) == (115, 5)
    truth = np.load(tmp_path / "mdn" / "vectors" / "truth-top100.i32.npy")
    assert truth.shape == (5, 100)
    word = questions[0]["text"].split()[1]
    assert word in chunks[truth[0, 0]]["text"]


# From download to what the benchmarks read


@pytest.fixture
def served(monkeypatch):
    """Answers by address in place of the network."""
    answers: dict[str, bytes] = {}

    class Answer(io.BytesIO):
        headers: dict[str, str] = {}  # noqa: RUF012

        def geturl(self):
            return self.url

    def answer(request, timeout):
        assert timeout == download.TIMEOUT_S
        if request.full_url not in answers:
            raise urllib.request.HTTPError(request.full_url, 404, "Not Found", None, None)
        found = Answer(answers[request.full_url])
        found.url = request.full_url
        found.headers = {"Content-Length": str(len(answers[request.full_url]))}
        return found

    monkeypatch.setattr(urllib.request, "urlopen", answer)
    return answers


def test_a_set_is_downloaded_written_and_named(served, tmp_path, monkeypatch):
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w") as archive:
        archive.writestr("scifact/corpus.jsonl", CORPUS + "\n")
        archive.writestr("scifact/queries.jsonl", "\n".join(QUERIES))
        archive.writestr("scifact/qrels/test.tsv", "\n".join(QRELS) + "\n")
    served[scifact.SOURCES[0].url] = file.getvalue()

    assert main(["scifact", "--to", str(tmp_path)]) == 0
    assert [one["id"] for one in records(tmp_path / "scifact" / "corpus.jsonl.zst")] == ["7"]
    assert (tmp_path / "scifact" / "qrels.tsv").read_text() == "1\t7\t1\n"
    monkeypatch.setenv("GOSSAMER_DATA", str(tmp_path / "mdn"))
    assert "made from its original" in datasets.made_from_originals()["data scifact"]


def test_what_cannot_be_fetched_is_said_with_where_to_put_it(served, tmp_path, capsys):
    assert main(["rfc", "--to", str(tmp_path)]) == 1

    assert "404" in capsys.readouterr().err
    assert not list(tmp_path.rglob("*.part"))


@pytest.mark.parametrize(
    ("url", "most", "why"),
    [("http://host/file", 100, "not https"), ("https://host/file", 3, "at most 3")],
)
def test_a_download_is_refused_if_unsafe_or_too_large(served, tmp_path, url, most, why):
    served[url] = b"12345"

    with pytest.raises(CannotFetch, match=why):
        fetch(Source("file", url, most), tmp_path)
    assert not list(tmp_path.iterdir())


def test_a_file_that_is_there_is_not_fetched_again(served, tmp_path):
    (tmp_path / "file").write_bytes(b"old")

    assert fetch(Source("file", "https://host/file", 10), tmp_path).read_bytes() == b"old"


def test_an_archive_of_rfcs_is_read(tmp_path):
    path = tmp_path / rfc.ARCHIVE
    data = RFC.format(more="   More of it.\n" * 100).encode()
    with tarfile.open(path, "w:gz") as archive:
        member = tarfile.TarInfo("rfc20.txt")
        member.size = len(data)
        archive.addfile(member, io.BytesIO(data))

    made = rfc.make({rfc.ARCHIVE: path}, tmp_path)
    assert [one["id"] for one in made.documents] == ["rfc20"]


def test_vectors_made_here_are_held_against_their_own_checksums(tmp_path, monkeypatch):
    folder = tmp_path / "mdn" / "vectors"
    folder.mkdir(parents=True)
    path = folder / "vectors-0.f16.npy"
    np.save(path, np.zeros((2, 2), np.float16))
    monkeypatch.setenv("GOSSAMER_DATA", str(tmp_path / "mdn"))

    with pytest.raises(SystemExit, match="published numbers"):
        datasets._read(path)
    files = {"vectors/vectors-0.f16.npy": download.checksum(path)[:32]}
    (tmp_path / "mdn" / datasets.MANIFEST).write_text(json.dumps({"files": files}))
    assert datasets._read(path).shape == (2, 2)
    np.save(path, np.ones((2, 2), np.float16))
    with pytest.raises(SystemExit, match="made here"):
        datasets._read(path)
