"""A page of a real browser that takes steps in turn, as web/tests/browser/*.ts answer them.

tab = open_steps(context, site.url, "storage.js")
tab.take("open", "opfs")
"""

from dataclasses import dataclass
from typing import Any

from playwright.sync_api import BrowserContext, Page

_START = """async ([script, where]) => {
  if (where === "worker") {
    const worker = new Worker(script, { type: "module" });
    const waiting = [];
    worker.onmessage = ({ data }) => waiting.shift()(data);
    window.take = (step) => new Promise((done) => {
      waiting.push(done);
      worker.postMessage(step);
    });
  } else {
    window.take = (await import(`./${script}`)).answer;
  }
}"""


@dataclass
class StepError(Exception):
    """What a step failed with."""

    reason: str
    message: str


@dataclass
class Tab:
    """A page that takes steps, in its worker or itself."""

    page: Page

    def take(self, *step: object) -> Any:
        """Take one step; StepError if it fails."""
        answer = self.page.evaluate("(step) => window.take(step)", list(step))
        if "reason" in answer:
            raise StepError(answer["reason"], answer["message"])
        return answer["value"]


def open_steps(context: BrowserContext, url: str, script: str, where: str = "worker") -> Tab:
    """Go to a page and start a script there: in a worker, or in the page itself."""
    page = context.new_page()
    page.goto(url)
    page.evaluate(_START, [script, where])
    return Tab(page)
