"""Chooses among the likeliest tokens that a grammar allows: asking it for all of them takes milliseconds."""

from __future__ import annotations

import ctypes
import math
from array import array
from functools import lru_cache
from typing import Any

LENGTH = 1024
"""How many of the likeliest tokens are asked for."""

_FIELDS = 3
"""Numbers of four bytes in a llama_token_data: id, logit, p."""


class Shortlist:
    """Serves one reply; `close` frees it. `size` is that of the vocabulary."""

    def __init__(self, api: Any, size: int) -> None:
        self._api, self._size = api, size
        self._top = api.llama_sampler_init_top_k(LENGTH)
        self._data = (api.llama_token_data * size)()
        whole = memoryview(self._data).cast("B")
        self._ids, self._logits = whole.cast("i"), whole.cast("f")

    def choose(self, context: Any, grammar: Any, chain: Any) -> int:
        """The token that `chain` (samplers without a grammar) chooses among those that `grammar` allows after
        what `context` evaluated last; -1 where none of the likeliest is allowed."""
        api = self._api
        tokens = self._likeliest(context)
        api.llama_sampler_apply(grammar, ctypes.byref(tokens))
        if max(self._logits[1 : _FIELDS * tokens.size : _FIELDS]) == -math.inf:
            return -1
        tokens.sorted = False  # the refused ones stand among the others
        api.llama_sampler_apply(chain, ctypes.byref(tokens))
        return int(self._data[tokens.selected].id)

    def likeliest(self, context: Any, count: int) -> list[int]:
        """The `count` likeliest tokens after what `context` evaluated last, the likeliest first."""
        return [token for token, _ in self.weighed(context, count)]

    def weighed(self, context: Any, count: int) -> list[tuple[int, float]]:
        """The same tokens with their logits."""
        end = _FIELDS * min(count, self._likeliest(context).size)
        return list(zip(self._ids[:end:_FIELDS].tolist(), self._logits[1:end:_FIELDS].tolist(), strict=True))

    def _likeliest(self, context: Any) -> Any:
        """A llama_token_data_array of the LENGTH likeliest tokens, sorted; valid until the next call."""
        api, size = self._api, self._size
        row = ctypes.cast(api.llama_get_logits_ith(context, -1), ctypes.POINTER(ctypes.c_float * size))
        self._ids[::_FIELDS] = _numbers(size)
        self._logits[1::_FIELDS] = memoryview(row.contents).cast("B").cast("f")
        first = ctypes.cast(self._data, ctypes.POINTER(api.llama_token_data))
        tokens = api.llama_token_data_array(first, size, -1, False)
        api.llama_sampler_apply(self._top, ctypes.byref(tokens))
        return tokens

    def close(self) -> None:
        """Free the native sampler; to be called once."""
        self._api.llama_sampler_free(self._top)


@lru_cache(maxsize=2)
def _numbers(size: int) -> memoryview:
    return memoryview(array("i", range(size)))
