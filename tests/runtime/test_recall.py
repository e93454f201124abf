"""What was said earlier is found by its telling words, shortened by rule, and tools shrink in steps."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from runtime.digest import HEAD, digest
from runtime.messages import AssistantMessage, Message, Text, ToolCall, ToolMessage, ToolSpec, UserMessage
from runtime.recall import recall
from runtime.slimming import called_for, named, slim, tokens


def test_the_passage_with_the_rarest_shared_words_comes_first() -> None:
    texts = ["We talked about the weather.", "My sister Anna lives in Oslo.", "Anna likes the weather there."]
    assert recall("Where does my sister live?", texts, 500)[0] == texts[1]
    assert recall("zebra", texts, 500) == []
    assert recall("the and of", texts, 500) == []


@given(st.text(max_size=60), st.lists(st.text(max_size=300), max_size=6), st.integers(0, 400))
def test_recall_never_gives_more_than_asked(query: str, texts: list[str], limit: int) -> None:
    assert sum(len(text) for text in recall(query, texts, limit)) <= limit


def user(text: str) -> Message:
    return UserMessage((Text(text),))


def test_the_account_keeps_the_users_first_words_and_their_latest() -> None:
    messages: list[Message] = [user("My name is Ada.")]
    for number in range(50):
        messages += [AssistantMessage(f"Reply {number} " * 20), user(f"Question {number}?")]
    account = digest(messages, "", 600)
    assert account.startswith(HEAD)
    assert len(account) <= 600
    assert "My name is Ada." in account
    assert "Question 49?" in account
    again = digest([user("One more.")], account, 600)
    assert "My name is Ada." in again
    assert "One more." in again


def test_tools_that_were_used_are_told() -> None:
    call = ToolCall("1", "read_file", {})
    messages: list[Message] = [
        user("Read"),
        AssistantMessage("", (), (call,)),
        ToolMessage("1", "read_file", (Text("abc"),)),
    ]
    assert "used read_file" in digest(messages, "", 500)
    assert "read_file gave: abc" in digest(messages, "", 500)


def tool(name: str, description: str) -> ToolSpec:
    properties = {
        "path": {"type": "string", "description": "Where. " * 10},
        "description": {"type": "string"},
    }
    return ToolSpec(name, description, {"type": "object", "properties": properties, "required": ["path"]})


TOOLS = (
    tool("read_file", "Read a file. It must be text. " * 3),
    tool("send_mail", "Send a letter by mail. Asks before it does. " * 3),
    tool("web_search", "Search the web. Costs nothing. " * 3),
)


def test_tools_lose_words_before_they_lose_tools() -> None:
    whole = tokens(TOOLS)
    assert slim(TOOLS, whole, "") == TOOLS
    brief = slim(TOOLS, whole - 1, "")
    assert [spec.description for spec in brief] == [
        "Read a file.",
        "Send a letter by mail.",
        "Search the web.",
    ]
    bare = slim(TOOLS, tokens(brief) - 1, "")
    assert len(bare) == 3
    assert bare[0].parameters["properties"] == {"path": {"type": "string"}, "description": {"type": "string"}}
    few = slim(TOOLS, tokens(bare) * 2 // 3, "please send a letter to Anna")
    assert "send_mail" in [spec.name for spec in few]
    assert len(few) < 3
    assert len(slim(TOOLS, 1, "anything")) == 1


def names(text: str) -> list[str]:
    return [spec.name for spec in named(TOOLS, text)]


def test_a_very_small_model_is_told_only_of_tools_that_are_called_for() -> None:
    assert names("What is the capital of France?") == []
    assert names("Please search the web for foxes") == ["web_search"]
    assert names("Send it") == ["send_mail"]
    assert names("Show notes/todo.md") == ["read_file"]
    assert names("What about notes/todo.md?") == [spec.name for spec in TOOLS]
    assert [spec.name for spec in called_for(TOOLS, "Search, then mail notes/todo.md")] == [
        "web_search",
        "send_mail",
    ]
    assert names("Mailing a letter would be nice") == ["send_mail"]
    assert names("What is 3/4 of it, e.g. roughly?") == []
