"""Takes apart a streamed answer that begins with its thoughts between think tags."""

from __future__ import annotations

BEGIN, END = "<think>", "</think>"


class ThinkTags:
    """For services that leave the tags of the model's template in the text. Only an answer that begins with
    the tag is taken apart, and the line ends around the tags are dropped; any other text is left as it is."""

    def __init__(self) -> None:
        self._held = ""
        self._place = "before"
        self._fresh = True

    def take(self, text: str) -> tuple[str, str]:
        """Thought and text that are certain by now."""
        if self._place == "after":
            return "", self._begun(text)
        self._held += text
        if self._place == "before":
            start = self._held.lstrip()
            if len(start) < len(BEGIN) and BEGIN.startswith(start):
                return "", ""
            if not start.startswith(BEGIN):
                self._fresh = False
                return self.rest()
            self._place, self._held = "inside", start[len(BEGIN) :]
        thought, ended, said = self._held.partition(END)
        if ended:
            thought, self._held = self._begun(thought.rstrip("\n")), ""
            self._place, self._fresh = "after", True
            return thought, self._begun(said)
        tag = next((n for n in range(len(END) - 1, 0, -1) if thought.endswith(END[:n])), 0)
        sure = thought[: len(thought) - tag].rstrip("\n")
        self._held = thought[len(sure) :]
        return self._begun(sure), ""

    def rest(self) -> tuple[str, str]:
        """What was held back, when the answer ends."""
        place, held = self._place, self._held
        self._place, self._held = "after", ""
        return (held, "") if place == "inside" else ("", held)

    def _begun(self, text: str) -> str:
        """`text` without the line ends right after a tag."""
        if self._fresh:
            text = text.lstrip("\n")
            self._fresh = not text
        return text
