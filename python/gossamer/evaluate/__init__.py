"""How well an index answers: recall against exact search, and what a question costs."""

from gossamer.evaluate.plot import render_svg, save_plot
from gossamer.evaluate.questions import Question, read_questions
from gossamer.evaluate.records import Evaluation, FoundRow, ModeRow, RecallRow
from gossamer.evaluate.run import evaluate

__all__ = [
    "Evaluation",
    "FoundRow",
    "ModeRow",
    "Question",
    "RecallRow",
    "evaluate",
    "read_questions",
    "render_svg",
    "save_plot",
]
