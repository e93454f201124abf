"""What is read aloud, case by case."""

from __future__ import annotations

import time

import pytest

from voice.wording import aloud

PROSE = [
    ("", ""),
    ("Hello there.", "Hello there."),
    ("# Title\nText here.", "Title. Text here."),
    ("## Why? ##\nBecause.", "Why? Because."),
    ("**bold**, *it*, ~~gone~~ and __more__", "bold, it, gone and more."),
    ("half **bold, cut. And", "half bold, cut. And."),
    ("Line one  \nLine two", "Line one, Line two."),
    ("soft\nbreak", "soft break."),
    ("- apples\n- pears", "apples. pears."),
    ("1. First do this\n2. Then that", "one: First do this. two: Then that."),
    ("- [x] wash\n- [ ] dry", "Done: wash. To do: dry."),
    ("* a\n  * b", "a. b."),
    ("> quoted text\n> goes on", "quoted text goes on."),
    ("above\n\n---\n\nbelow", "above. below."),
    ("text[^1].\n\n[^1]: The note.", "text. The note."),
    (r"five \* six \_ seven", "five six seven."),
    ("<!-- hidden --> seen", "seen."),
]
CODE = [
    ("```python\nx\n" + "y\n" * 11 + "```", "a block of Python code, twelve lines."),
    ("```\nx\n```", "a block of code, one line."),
    ("```sh\nls\n```\nThen go.", "a block of shell code, one line. Then go."),
    ("~~~c++\na\nb\n~~~", "a block of C plus plus code, two lines."),
    ("```text\nlog\n```", "a block of text, one line."),
    ("```js\n" + "x\n" * 120 + "```", "a block of JavaScript code, 120 lines."),
    ("Run `read_file.py` now", "Run read file dot py now."),
    ("Open read_file.py, please.", "Open read file dot py, please."),
    ("`getUserName()` fails", "get user name fails."),
    ('`git commit -m "x"`', "git commit dash m x."),
    ("`--dry-run`", "dash dash dry run."),
    ("`/home/ada/notes.txt`", "slash home slash ada slash notes dot txt."),
    ("`x == y`", "x equals y."),
    ("`a->b`", "a arrow b."),
    ("``code with ` tick``", "code with tick."),
    ("`" + "x" * 100 + "`", "some code."),
    ("see src/main.rs and ./run.sh", "see src slash main dot rs and dot slash run dot sh."),
    ("call snake_case_name or camelCaseName()", "call snake case name or camel case name."),
]
LINKS = [
    ("See [the docs](https://example.com/a_(b)?q=1).", "See the docs."),
    ("See https://www.rust-lang.org/learn.", "See rust lang dot org."),
    ("at <https://a.example.com/x?y=z#w>", "at a dot example dot com."),
    ("http://localhost:8080/api", "localhost port 8080."),
    ("https://ada:secret@example.com/", "example dot com."),
    ("www.example.com, too", "example dot com, too."),
    ("![a cat](cat.png) sits", "image: a cat sits."),
    ("![](x.png)", ""),
    ("write to ada.b@example.org", "write to ada dot b at example dot org."),
    ("[ref][1] here\n\n[1]: https://x.example", "ref here."),
]
TABLES = [
    (
        "| Name | Age |\n|:--|--:|\n| Ada | 36 |\n| Bob | |",
        "A table with the columns Name, Age. Name: Ada; Age: 36. Name: Bob.",
    ),
    (
        "Name | Age\n--- | ---\nAda | 36\n\nDone.",
        "A table with the columns Name, Age. Name: Ada; Age: 36. Done.",
    ),
    ("| a |\n|---|\n| x \\| y |", "A table with the columns a. a: x y."),
    ("| no | table |", "no table."),
]
NUMBERS = [
    ("It was 2026-11-21 at 14:30.", "It was November 21, 2026 at 14:30."),
    ("at 2026-11-21T14:30:00Z", "at November 21, 2026 at 14:30."),
    ("on 11/21/2026 or 21/11/2026 or 21.11.2026", "on " + " or ".join(["November 21, 2026"] * 3) + "."),
    ("10:30-11:30", "10:30 to 11:30."),
    ("costs $9.99", "costs 9 dollars and 99 cents."),
    ("costs $0.50 or £1.01", "costs 50 cents or 1 pound and 1 pence."),
    ("5 € and €5.50", "5 euros and 5 euros and 50 cents."),
    ("$1.5M, $3 billion, CHF 20", "1.5 million dollars, 3 billion dollars, 20 Swiss francs."),
    ("-$5", "minus 5 dollars."),
    ("1 km, 5 km, 12 m², 3 MB/s", "1 kilometer, 5 kilometers, 12 square meters, 3 megabytes per second."),
    ("5 °C and 10 GiB and 2 ft", "5 degrees Celsius and 10 gibibytes and 2 feet."),
    ("50% and 12.5 %", "50 percent and 12.5 percent."),
    ("10-20 km, 3–5 days, 10–20%", "10 to 20 kilometers, 3 to 5 days, 10 to 20 percent."),
    ("in 1990-2000", "in 1990 to 2000."),
    ("1/2, 3/4, 7/16", "one half, three quarters, seven sixteenths."),
    ("½ and 2½ hours", "one half and 2 and a half hours."),
    ("open 24/7", "open 24 7."),
    ("version 1.2.3, v2.0", "version 1 point 2 point 3, version 2 point 0."),
    ("Python 3.11", "Python 3 point 11."),
    ("192.168.0.1", "192 dot 168 dot 0 dot 1."),
    ("call 555-1234", "call 5 5 5, 1 2 3 4."),
    ("+49 30 123456", "plus 4 9, 3 0, 1 2 3 4 5 6."),
    ("(555) 123-4567", "5 5 5, 1 2 3, 4 5 6 7."),
    ("the 1st and the 22nd of 1,234,567", "the 1st and the 22nd of 1,234,567."),
    ("#3, No. 5, p. 7", "number 3, number 5, page 7."),
    ("9" * 20, " ".join("9" * 20) + "."),
    ("1.5e-6", "1.5 times 10 to the power of minus 6."),
    ("-5 and 3 x 4 = 12", "minus 5 and 3 by 4 equals 12."),
    ("1920×1080, 2x faster, 100k users", "1920 by 1080, 2 times faster, 100 thousand users."),
    ("x < 5 && y ≥ 3", "x less than 5 and y at least 3."),
    ("and/or, C++, C#", "and or, C plus plus, C sharp."),
    ("e.g. this", "for example, this."),
    ("a 3:1 lead", "a 3 to 1 lead."),
    ("$x^2 + y_1$ is $\\frac{a}{b}$", "x squared plus y 1 is a over b."),
    ("$$\n\\sqrt{x} \\leq 5\n$$", "the root of x at most 5."),
    ("pay $5 and $6", "pay 5 dollars and 6 dollars."),
]
EMOJI = [
    ("Great work! 🎉🎉", "Great work!"),
    ("# 🚀 Start here", "Start here."),
    ("✅ Tests pass", "done: Tests pass."),
    ("⚠️ Take care", "warning: Take care."),
    ("Use 👍 to approve", "Use thumbs up to approve."),
    ("👍🏽", "thumbs up."),
    ("👨‍👩‍👧 came", "came."),
    ("🦊", "fox face."),
]
HOSTILE = [
    ("### *** --- <> {} $$ %%", ""),
    ("!!! ... ??? ---", ""),
    ("\x00\x07\x1b[0m \u202e\u200b", ""),
    ("a\u202eb\u2066c", "abc."),
    ("a \ue0009\ue001 b &#xe000;8&#xe001; c", "a 9 b 8 c."),
    ("$x^{}$ and $y_{} + z$", "x and y plus z."),
    ("$a `b` c$ and $^{}$", "a b c and."),
    ("<speak>hi <break time='10s'/></speak>", "hi."),
    ("&lt;break time='1s'/&gt;", "less than break time equals '1 second'/"),
    ('<voice name="x">hi</voice> & bye', "hi and bye."),
    ("[x](/həlˈO/) [[h@l'oU]]", "x h at l'oU."),
    ("lone \ud800 half", "lone half."),
]
ELSEWHERE = [
    (
        "Das kostet 5 € und ist **nicht** teuer, 3,5 km weit.",
        "Das kostet 5 € und ist nicht teuer, 3,5 km weit.",
    ),
    ("Привет **мир**: 5 км", "Привет мир: 5 км."),
    ("日本語の**テキスト**。", "日本語のテキスト。"),
]


@pytest.mark.parametrize(
    ("written", "spoken"), PROSE + CODE + LINKS + TABLES + NUMBERS + EMOJI + HOSTILE + ELSEWHERE
)
def test_it_is_read_as_a_person_would(written: str, spoken: str) -> None:
    assert aloud(written) == spoken


@pytest.mark.parametrize("sign", "<>&[]{}`|\\")
def test_nothing_is_left_that_a_speech_engine_takes_for_an_order(sign: str) -> None:
    text = (
        f"a {sign} b {sign * 3} c&lt;&amp;&#91; `x {sign} y` | {sign} | ![{sign}](u) {sign}/voice> 5{sign}5"
    )
    assert not set("<>&[]{}`|\\") & set(aloud(text))


PATTERNS = (
    *(
        "word ",
        "`",
        "[",
        "| a | b |\n",
        "[a](",
        "$a ",
        "1",
        "1-",
        "- a\n",
        "_a",
        "😀",
        "\n",
        "/a",
        "\\(",
        "日本語",
    ),
    *("<a ", "> ", "```\n", "<!--", "\u202e", "a@", "1/", "+1", "http://", "1.1.", "{", "![a]("),
)


@pytest.mark.parametrize("pattern", PATTERNS)
def test_a_hundred_thousand_characters_take_a_moment(pattern: str) -> None:
    text = (pattern * 100_000)[:100_000]
    begun = time.thread_time()
    aloud(text)
    assert time.thread_time() - begun < 3.0
