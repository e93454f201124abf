"""A child that times the engine's own matrix kernels on this machine: bytes of weights that one token may go
through in a second, for each form in which weights are stored."""

from __future__ import annotations

import ctypes
import json
import os
import sys
import time
from collections.abc import Callable, Sequence
from typing import Any

from models.errors import EngineError
from models.gguf import TENSOR_TYPES
from models.graphics import KINDS, is_shared, native_function

VERSION = 2
"""Of what this child says; a stored answer of another version is not used."""

KERNELS = ("Q4_K", "Q6_K", "Q8_0", "Q5_K", "Q4_0", "MXFP4", "F16", "Q3_K", "Q5_0", "Q4_1", "IQ4_XS")
"""The forms that are timed, the ones most used first."""

_WIDTH, _HEIGHT, _BYTES = 1024, 4096, 64 << 20
"""Of a timed matrix, and bytes of all matrices: more than the caches of nearly all processors."""

_PLACES, _LAYERS = 256, 24
"""Places that a layer attends to, and how many layers are timed at once."""

_PASSES, _TIMES, _PATIENCE = 2, 4, 4.0
"""The best of so many runs of so many passes counts; after so many seconds nothing more is begun."""

_PATTERN = 0x2C
"""A byte of which a small number results in every form."""

_Pointer, _Size, _Int, _Long = ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int, ctypes.c_int64
_F32, _CPU = 0, 0
_FUNCTIONS: dict[str, tuple[Any, ...]] = {
    "ggml_free": (None, _Pointer),
    "ggml_new_tensor_2d": (_Pointer, _Pointer, _Int, _Long, _Long),
    "ggml_mul_mat": (_Pointer, _Pointer, _Pointer, _Pointer),
    "ggml_mul": (_Pointer, _Pointer, _Pointer, _Pointer),
    "ggml_add": (_Pointer, _Pointer, _Pointer, _Pointer),
    "ggml_silu": (_Pointer, _Pointer, _Pointer),
    "ggml_soft_max": (_Pointer, _Pointer, _Pointer),
    "ggml_rms_norm": (_Pointer, _Pointer, _Pointer, ctypes.c_float),
    "ggml_new_graph": (_Pointer, _Pointer),
    "ggml_build_forward_expand": (None, _Pointer, _Pointer),
    "ggml_nbytes": (_Size, _Pointer),
    "ggml_backend_dev_count": (_Size,),
    "ggml_backend_dev_get": (_Pointer, _Size),
    "ggml_backend_dev_type": (_Int, _Pointer),
    "ggml_backend_dev_description": (ctypes.c_char_p, _Pointer),
    "ggml_backend_dev_memory": (None, _Pointer, ctypes.POINTER(_Size), ctypes.POINTER(_Size)),
    "ggml_backend_dev_init": (_Pointer, _Pointer, ctypes.c_char_p),
    "ggml_backend_dev_backend_reg": (_Pointer, _Pointer),
    "ggml_backend_dev_buffer_type": (_Pointer, _Pointer),
    "ggml_backend_dev_supports_op": (ctypes.c_bool, _Pointer, _Pointer),
    "ggml_backend_reg_get_proc_address": (_Pointer, _Pointer, ctypes.c_char_p),
    "ggml_backend_alloc_ctx_tensors_from_buft": (_Pointer, _Pointer, _Pointer),
    "ggml_backend_buffer_free": (None, _Pointer),
    "ggml_backend_tensor_set": (None, _Pointer, _Pointer, _Size, _Size),
    "ggml_backend_graph_compute": (_Int, _Pointer, _Pointer),
    "ggml_backend_free": (None, _Pointer),
}
"""Result and arguments of the functions of ggml.h and ggml-backend.h that are used here."""


class _Memory(ctypes.Structure):
    """ggml_init_params of ggml.h."""

    _fields_ = (("size", _Size), ("place", _Pointer), ("no_data", ctypes.c_bool))


class Bench:
    """Times one device (a ggml_backend_dev_t) of the library behind the bindings `api`; `close` frees it.
    With one thread of the processor its own time is taken, in which nothing else that runs here counts."""

    def __init__(self, api: Any, device: int, threads: int = 1) -> None:
        self._call = {name: native_function(api, name, *kinds) for name, kinds in _FUNCTIONS.items()}
        self._init = native_function(api, "ggml_init", _Pointer, _Memory)
        self._device = device
        own = threads == 1 and self._call["ggml_backend_dev_type"](device) == _CPU
        self._clock = time.thread_time if own and sys.platform != "win32" else time.perf_counter
        self._backend = self._call["ggml_backend_dev_init"](device, None)
        if not self._backend:
            raise EngineError("model_load_failed", path="", reason="a device cannot be opened")
        registry = self._call["ggml_backend_dev_backend_reg"](device)
        seek = self._call["ggml_backend_reg_get_proc_address"]
        place = seek(registry, b"ggml_backend_set_n_threads")
        if place:
            ctypes.CFUNCTYPE(None, _Pointer, _Int)(place)(self._backend, threads)
        self._plain = self._call["ggml_backend_dev_buffer_type"](device)
        self._kinds = [*self._own_kinds(seek(registry, b"ggml_backend_dev_get_extra_bufts")), self._plain]

    def close(self) -> None:
        """Free the device; to be called once."""
        self._call["ggml_backend_free"](self._backend)

    def rate(self, kind: int) -> float:
        """Bytes a second of products of one vector with matrices of the tensor type `kind`, laid out as the
        engine lays them out on this device; 0 where it has no kernel for them."""
        for buffers in self._kinds:
            found = self._rate(kind, buffers)
            if found:
                return found
        return 0.0

    def layer(self) -> float:
        """Seconds of everything in a layer but its large matrices."""
        call, room, data = self._call, self._context(), self._context()
        vector = call["ggml_new_tensor_2d"](data, _F32, _WIDTH, 1)
        scores = call["ggml_new_tensor_2d"](data, _F32, _WIDTH, _PLACES)
        values = call["ggml_new_tensor_2d"](data, _F32, _PLACES, _WIDTH)
        small = call["ggml_new_tensor_2d"](data, _F32, _WIDTH, 64)
        graph, flow = call["ggml_new_graph"](room), vector
        for _ in range(_LAYERS):
            flow = call["ggml_mul"](room, call["ggml_rms_norm"](room, flow, 1e-5), vector)
            for _matrix in range(4):
                call["ggml_build_forward_expand"](graph, call["ggml_mul_mat"](room, small, flow))
            seen = call["ggml_soft_max"](room, call["ggml_mul_mat"](room, scores, flow))
            flow = call["ggml_add"](room, call["ggml_mul_mat"](room, values, seen), flow)
            flow = call["ggml_mul"](room, call["ggml_rms_norm"](room, flow, 1e-5), vector)
            for _matrix in range(3):
                call["ggml_build_forward_expand"](graph, call["ggml_mul_mat"](room, small, flow))
            flow = call["ggml_add"](room, call["ggml_mul"](room, call["ggml_silu"](room, flow), vector), flow)
            call["ggml_build_forward_expand"](graph, flow)
        best = self._time(graph, (room, data), (vector, scores, values, small), self._plain)
        return best / _LAYERS

    def _rate(self, kind: int, buffers: int) -> float:
        call, weights, data = self._call, self._context(), self._context()
        room = self._context()
        _name, block, size = next(entry for number, entry in TENSOR_TYPES.items() if number == kind)
        each = _WIDTH * _HEIGHT // block * size
        matrices = [call["ggml_new_tensor_2d"](weights, kind, _WIDTH, _HEIGHT) for _ in range(_BYTES // each)]
        vector = call["ggml_new_tensor_2d"](data, _F32, _WIDTH, 1)
        graph = call["ggml_new_graph"](room)
        products = [call["ggml_mul_mat"](room, matrix, vector) for matrix in matrices]
        for product in products:
            call["ggml_build_forward_expand"](graph, product)
        held = call["ggml_backend_alloc_ctx_tensors_from_buft"](weights, buffers)
        try:
            if not held or not call["ggml_backend_dev_supports_op"](self._device, products[0]):
                call["ggml_free"](room)
                call["ggml_free"](data)
                return 0.0
            self._fill(matrices)
            seconds = self._time(graph, (room, data), (vector,), self._plain)
            return len(matrices) * each / seconds if seconds else 0.0
        finally:
            if held:
                call["ggml_backend_buffer_free"](held)
            call["ggml_free"](weights)

    def _time(self, graph: int, contexts: tuple[int, int], inputs: Sequence[int], buffers: int) -> float:
        """The fewest seconds of computing `graph`, whose tensors lie in the `contexts`; frees them."""
        allocate = self._call["ggml_backend_alloc_ctx_tensors_from_buft"]
        held = [allocate(context, buffers) for context in contexts]
        compute, best = self._call["ggml_backend_graph_compute"], 0.0
        try:
            if all(held):
                self._fill(inputs)
                for _ in range(_TIMES):
                    begin = self._clock()
                    if compute(self._backend, graph):
                        return 0.0
                    taken = self._clock() - begin
                    best = min(best or taken, taken)
            return best
        finally:
            for buffer in filter(None, held):
                self._call["ggml_backend_buffer_free"](buffer)
            for context in contexts:
                self._call["ggml_free"](context)

    def _fill(self, tensors: Sequence[int]) -> None:
        for tensor in tensors:
            size = self._call["ggml_nbytes"](tensor)
            data = ctypes.create_string_buffer(size)
            ctypes.memset(data, _PATTERN, size)
            self._call["ggml_backend_tensor_set"](tensor, data, 0, size)

    def _context(self) -> int:
        return int(self._init(_Memory(1 << 20, None, True)))

    def _own_kinds(self, place: int) -> list[int]:
        """The buffers in which the device orders weights to its liking."""
        if not place:
            return []
        listed = ctypes.CFUNCTYPE(ctypes.POINTER(_Pointer), _Pointer)(place)(self._device)
        found: list[int] = []
        while listed and listed[len(found)]:
            found.append(listed[len(found)] or 0)
        return found


def timed(api: Any, clock: Callable[[], float] = time.monotonic) -> list[dict[str, Any]]:
    """Every device: {name, card, free, shared, rates: {type: bytes a second}, layer: seconds}, the
    processor (one thread of it) first. EngineError where one cannot be opened."""
    numbers = {name: number for number, (name, _block, _size) in TENSOR_TYPES.items()}
    found = []
    for row, device in listed(api):
        bench, until = Bench(api, device), clock() + _PATIENCE
        try:
            rates, layers = dict.fromkeys(KERNELS, 0.0), []
            for _ in range(_PASSES):
                layers.append(bench.layer())
                for name in KERNELS:
                    if clock() < until:
                        rates[name] = max(rates[name], bench.rate(numbers[name]))
        finally:
            bench.close()
        whole = {name: rate for name, rate in rates.items() if rate}
        found.append(row | {"rates": whole, "layer": min(layers)})
    return found


def listed(api: Any) -> list[tuple[dict[str, Any], int]]:
    """The processor, then the cards that the library can compute on: {name, card, free, shared}, the last as
    in graphics.Card, and the handle."""
    call = {name: native_function(api, name, *kinds) for name, kinds in _FUNCTIONS.items()}
    found: list[tuple[dict[str, Any], int]] = []
    for at in range(call["ggml_backend_dev_count"]()):
        device = call["ggml_backend_dev_get"](at)
        kind = call["ggml_backend_dev_type"](device)
        if kind != _CPU and not (kind in KINDS and api.llama_supports_gpu_offload()):
            continue
        free, total = _Size(), _Size()
        call["ggml_backend_dev_memory"](device, ctypes.byref(free), ctypes.byref(total))
        name = (call["ggml_backend_dev_description"](device) or b"").decode("utf-8", "replace")
        row = {"name": name, "card": kind != _CPU, "free": int(free.value), "shared": is_shared(kind)}
        found.append((row, device))
    return sorted(found, key=lambda pair: pair[0]["card"])


def main(arguments: list[str]) -> int:
    """Print one JSON line {version, devices}; with the argument "list" nothing is timed. The library's own
    lines go to standard error."""
    out = os.dup(1)
    os.dup2(2, 1)
    from models.bindings import Library

    try:
        api = Library().api
        only = arguments[:1] == ["list"]
        devices = [row for row, _ in listed(api)] if only else timed(api)
    except EngineError as error:
        sys.stderr.write(f"{error}\n")
        return 1
    with os.fdopen(out, "w", encoding="ascii") as file:
        file.write(json.dumps({"version": VERSION, "devices": devices}) + "\n")
    return 0
