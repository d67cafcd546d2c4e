"""LoCoMo: ten long chats between two people, and questions about what was said."""

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from benchmarks.originals.download import MB, Source
from benchmarks.originals.layout import TextSet

SOURCES = (
    Source(
        "locomo10.json",
        "https://raw.githubusercontent.com/snap-research/locomo/main/data/locomo10.json",
        20 * MB,
    ),
)
SESSION = re.compile(r"session_(\d+)")
TURN = re.compile(r"D\d+:\d+")


def make(files: Mapping[str, Path], folder: Path) -> TextSet:  # noqa: ARG001
    """Read the file."""
    return convert(json.loads(files["locomo10.json"].read_bytes()))


def convert(samples: Sequence[Mapping[str, Any]]) -> TextSet:
    """Every turn is a document; a question's evidence names turns."""
    documents: list[dict[str, str]] = []
    questions, grades, answers = [], [], []
    for sample in samples:
        chat = sample["sample_id"].removeprefix("conv-")
        documents += _turns(chat, sample["conversation"])
        for number, one in enumerate(sample["qa"]):
            id = f"{chat}-q{number}"
            about = {"category": one["category"], "conversation": chat}
            questions.append({"id": id, "text": one["question"], **about})
            said = [str(one["answer"])] if "answer" in one else []
            misleading = one.get("adversarial_answer")
            answers.append({"id": id, "answers": said, "adversarial_answer": misleading})
            # Some evidence names several turns in one string.
            turns = dict.fromkeys(TURN.findall(" ".join(one["evidence"])))
            grades += [(id, f"{chat}:{turn}", 1) for turn in turns]
    return TextSet(documents, questions, grades, answers)


def _turns(chat: str, conversation: Mapping[str, Any]) -> Iterator[dict[str, str]]:
    sessions = [found[0] for key in conversation if (found := SESSION.fullmatch(key))]
    for session in sorted(sessions, key=lambda key: int(key.rpartition("_")[2])):
        for turn in conversation[session]:
            text = f"{turn['speaker']}: {turn['text']}"
            if caption := turn.get("blip_caption"):
                text += f" [shares an image: {caption}]"
            date = conversation.get(f"{session}_date_time", "")
            yield {"id": f"{chat}:{turn['dia_id']}", "title": date, "text": text}
