"""Small chat templates, one for each way in which models write calls, with marks of their own invention."""

from __future__ import annotations

_TOOLS = "{%- if tools %}<|system|>Tools: {{ tools | tojson }}<|end|>\n{% endif %}"
_ASK = "{%- if add_generation_prompt %}<|model|>\n{% endif %}"
_THOUGHT = (
    "{%- if m.reasoning_content %}<muse>\n{{ m.reasoning_content }}\n</muse>\n{% endif %}"
    "{{ m.content or '' }}"
)


def chat(
    calls: str,
    *,
    thought: str = _THOUGHT,
    ask: str = _ASK,
    tools: str = _TOOLS,
    header: str = "<|model|>\\n",
    end: str = "<|end|>\\n",
) -> str:
    """A template of the given parts; `calls` is what an assistant's message adds for its tool calls."""
    return (
        tools
        + "{%- for m in messages %}{% if m.role == 'assistant' %}{{ '"
        + header
        + "' }}"
        + thought
        + ("{%- if m.tool_calls %}" + calls + "{%- endif %}" if calls else "")
        + "{{ '"
        + end
        + "' }}{% else %}{{ '<|' ~ m.role ~ '|>' }}{{ '\\n' ~ m.content ~ '<|end|>\\n' }}"
        + "{%- endif %}{% endfor %}"
        + ask
    )


def each(body: str, between: str = "") -> str:
    """`body` for every call `c`, with its name in `f.name` and its arguments in `f.arguments`."""
    separator = "{% if not loop.last %}{{ '" + between + "' }}{% endif %}" if between else ""
    return "{%- for c in m.tool_calls %}{% set f = c.function %}" + body + separator + "{%- endfor %}"


_OBJECT = """{{ '{"name": "' ~ f.name ~ '", "arguments": ' ~ (f.arguments | tojson) ~ '}' }}"""
_VALUE = "(v if v is string else (v | tojson))"

FAMILIES = {
    "object between marks": chat(each("{{ '\\n<use>\\n' }}" + _OBJECT + "{{ '\\n</use>' }}")),
    "objects in a list": chat("{{ '<uses>[' }}" + each(_OBJECT, ", ") + "{{ ']</uses>' }}"),
    "objects, one section": chat("{{ '<|uses|>\\n' }}" + each(_OBJECT, "\\n") + "{{ '\\n<|/uses|>' }}"),
    "object alone": chat(
        "{%- if m.tool_calls | length > 1 %}{{ raise_exception('one call') }}{% endif %}"
        + each("""{{ '{"name": "' ~ f.name ~ '", "parameters": ' ~ (f.arguments | tojson) ~ '}' }}"""),
        thought="{%- if not m.tool_calls %}{{ m.content }}{% endif %}",
    ),
    "object in an object": chat(
        each(
            """{{ '<|fn|>{"id": "' ~ c.id ~ '", "function": {"name": "' ~ f.name ~ '", "arguments": ' """
            "~ (f.arguments | tojson) ~ '}}' }}"
        )
    ),
    "name as key": chat(
        "{{ '<|act|>[' }}"
        + each("""{{ '{"' ~ f.name ~ '": ' ~ (f.arguments | tojson) ~ '}' }}""", ", ")
        + "{{ ']<|/act|>' }}"
    ),
    "name, then object": chat(each("{{ '[USE]' ~ f.name ~ '[WITH]' ~ (f.arguments | tojson) }}")),
    "name and id, then object": chat(
        "{{ '<|many|>' }}"
        + each("{{ '<|one|>' ~ c.id ~ '<|is|>' ~ f.name ~ '<|of|>' ~ (f.arguments | tojson) ~ '<|/one|>' }}")
        + "{{ '<|/many|>' }}"
    ),
    "name inside the id": chat(
        "{{ '<|many|>' }}"
        + each("{{ '<|one|>' ~ c.id ~ '<|of|>' ~ (f.arguments | tojson) ~ '<|/one|>' }}")
        + "{{ '<|/many|>' }}"
    ),
    "object in a fence": chat(
        "{{ '<|many|>' }}"
        + each(
            "{{ '<|one|>function<|sep|>' ~ f.name ~ '\\n```json\\n' }}"
            "{{ (f.arguments | tojson) ~ '\\n```<|/one|>' }}",
            "\\n",
        )
        + "{{ '<|/many|>' }}"
    ),
    "recipients": chat(
        each("{{ '>>>' ~ f.name ~ '\\n' ~ f.arguments }}"),
        thought="{%- if m.content %}{{ '>>>all\\n' ~ m.content }}{% endif %}",
        ask="{%- if add_generation_prompt %}{{ '<|model|>\\n>>>' }}{% endif %}",
    ),
    "tags": chat(
        each(
            "{{ '\\n<use>\\n<fn=' ~ f.name ~ '>\\n' }}{% for k, v in f.arguments.items() %}"
            "{{ '<arg=' ~ k ~ '>\\n' ~ " + _VALUE + " ~ '\\n</arg>\\n' }}{% endfor %}{{ '</fn>\\n</use>' }}"
        )
    ),
    "tags of keys and values": chat(
        each(
            "{{ '\\n<use>' ~ f.name }}{% for k, v in f.arguments.items() %}"
            "{{ '\\n<k>' ~ k ~ '</k>\\n<v>' ~ " + _VALUE + " ~ '</v>' }}{% endfor %}{{ '\\n</use>' }}"
        )
    ),
    "tags with types": chat(
        "{{ '\\n<|X|uses>\\n' }}"
        + each(
            "{{ '<|X|invoke name=\"' ~ f.name ~ '\">\\n' }}{% for k, v in f.arguments.items() %}"
            "{{ '<|X|p name=\"' ~ k ~ '\" string=\"' ~ ('true' if v is string else 'false') ~ '\">' ~ "
            + _VALUE
            + " ~ '</|X|p>\\n' }}{% endfor %}{{ '</|X|invoke>\\n' }}"
        )
        + "{{ '</|X|uses>' }}"
    ),
    "nested tags": chat(
        "{%- macro show(v) %}{% if v is mapping %}{% for k, w in v.items() %}"
        "{{ '#<' ~ k ~ '>' }}{{ show(w) }}{{ '#</' ~ k ~ '>' }}{% endfor %}"
        "{% elif v is string or v is number or v is boolean or v is none %}"
        "{{ v if v is string else (v | tojson) }}{% else %}{% for w in v %}"
        "{{ '#<item>' }}{{ show(w) }}{{ '#</item>' }}{% endfor %}{% endif %}{% endmacro %}"
        "{{ '#<uses>\\n' }}"
        + each("{{ '#<invoke name=\"' ~ f.name ~ '\">' }}{{ show(f.arguments) }}{{ '#</invoke>\\n' }}")
        + "{{ '#</uses>' }}"
    ),
    "python": chat(
        "{{ '<|py|>[' }}"
        + each(
            "{{ f.name ~ '(' }}{% for k, v in f.arguments.items() %}{{ k ~ '=' ~ (v | tojson) }}"
            "{% if not loop.last %}{{ ', ' }}{% endif %}{% endfor %}{{ ')' }}",
            ", ",
        )
        + "{{ ']<|/py|>' }}"
    ),
    "python, a line each": chat(
        "{{ '<calls>\\n' }}"
        + each(
            "{{ f.name ~ '(' }}{% for k, v in f.arguments.items() %}{{ k ~ '=' ~ (v | tojson) }}"
            "{% if not loop.last %}{{ ', ' }}{% endif %}{% endfor %}{{ ')' }}",
            "\\n",
        )
        + "{{ '\\n</calls>' }}"
    ),
    "python alone": chat(
        "{{ '[' }}"
        + each(
            "{{ f.name ~ '(' }}{% for k, v in f.arguments.items() %}{{ k ~ '=' ~ (v | tojson) }}"
            "{% if not loop.last %}{{ ', ' }}{% endif %}{% endfor %}{{ ')' }}",
            ", ",
        )
        + "{{ ']' }}",
        thought="{%- if not m.tool_calls %}{{ m.content }}{% endif %}",
    ),
    "quoted by a mark": chat(
        "{%- macro show(v) %}{% if v is mapping %}{{ '{' }}{% for k, w in v.items() %}"
        "{{ k ~ ':' }}{{ show(w) }}{% if not loop.last %},{% endif %}{% endfor %}{{ '}' }}"
        "{% elif v is string %}{{ '<|q|>' ~ v ~ '<|q|>' }}"
        "{% elif v is number or v is boolean or v is none %}{{ v | tojson }}{% else %}[{% for w in v %}"
        "{{ show(w) }}{% if not loop.last %},{% endif %}{% endfor %}]{% endif %}{% endmacro %}"
        + each("{{ '<|fn>call:' ~ f.name }}{{ show(f.arguments) }}{{ '<fn|>' }}")
    ),
    "channels": chat(
        "{%- set c = m.tool_calls[0] %}{{ '<|start|>assistant to=functions.' ~ c.function.name ~ "
        "'<|channel|>commentary json<|message|>' ~ (c.function.arguments | tojson) ~ '<|call|>' }}",
        thought="{%- if m.reasoning_content %}{{ '<|start|>assistant<|channel|>analysis<|message|>' ~ "
        "m.reasoning_content ~ '<|end|>' }}{% endif %}{% if m.content %}"
        "{{ '<|start|>assistant<|channel|>final<|message|>' ~ m.content ~ '<|return|>' }}{% endif %}",
        ask="{%- if add_generation_prompt %}{{ '<|start|>assistant' }}{% endif %}",
        header="",
        end="",
    ),
    "thinking opened by the prompt": chat(
        each("{{ '\\n<use>\\n' }}" + _OBJECT + "{{ '\\n</use>' }}"),
        thought="{{ '<think>\\n' ~ (m.reasoning_content or '') ~ '\\n</think>\\n\\n' ~ m.content }}",
        ask="{%- if add_generation_prompt %}{{ '<|model|>\\n<think>\\n' }}{% endif %}",
    ),
    "answers between marks": chat(
        "{{ '<|acts|>[' }}" + each(_OBJECT, ", ") + "{{ ']<|/acts|>' }}",
        thought="{%- if m.reasoning_content %}{{ '<|muse|>' ~ m.reasoning_content ~ '<|/muse|>' }}{% endif %}"
        "{{ '<|say|>' ~ m.content ~ '<|/say|>' }}",
    ),
    "every call answered": chat(
        "{%- if loop.last %}{{ raise_exception('no result') }}{% endif %}"
        + each("{{ '\\n<use>\\n' }}" + _OBJECT + "{{ '\\n</use>' }}")
    ),
    "calls never shown": chat("", thought="{{ m.content or '' }}"),
    "no tools": chat("", tools="", thought="{{ m.content or '' }}"),
}
"""Name → template source."""

BROKEN = {
    "nothing": "  ",
    "syntax": "{% for m in messages %}{{ m.content }}",
    "loop": "{% for a in range(99999) %}{% for b in range(99999) %}{% endfor %}{% endfor %}",
    "flood": "{% for a in range(99999) %}{{ 'x' * 9999 }}{% endfor %}",
    "refusal": "{{ raise_exception('not today') }}",
    "attack": "{{ messages.__class__.__mro__ }}{{ messages[0].content.__init__.__globals__ }}",
    "silence": "hello",
}
"""Templates that cannot be used."""
