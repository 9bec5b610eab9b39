"""
The interpreter's Python containers: methods of lists, tuples, sets and dicts of abstract values.

What a container holds stays exact while its length and keys are known; then one element stands for all of them.
"""

from __future__ import annotations

from torchlint.model.python.expressions import MOST_ITEMS, ExpressionMachine, slice_of
from torchlint.model.state.values import NONE, Constant, Mapping, Module, Scalar, Sequence, Unknown, Value, alternatives
from torchlint.model.torch.functions import CallSite
from torchlint.model.torch.indexing import SliceValue


class ContainerMachine(ExpressionMachine):
    """A machine that knows Python's containers."""

    def _sequence_method(self, sequence: Sequence, name: str, site: CallSite) -> Value | None:
        if name == "append" and site.positional:
            self._extend(sequence, (site.positional[0],))
            return NONE
        if name in ("extend", "update") and site.positional:
            known, elements = self.elements(site.positional[0])
            if known:
                self._extend(sequence, tuple(elements))
            else:
                self._widen(sequence, elements)
            return NONE
        if name in ("add",) and site.positional:
            self._widen(sequence, [site.positional[0]])
            return NONE
        if name == "copy":
            return Sequence(sequence.kind, sequence.items, sequence.element)
        if name in ("clear", "pop"):
            self.trail.set(sequence, "last", None)
        if name in ("clear",):
            self.trail.set(sequence, "items", ())
            return NONE
        if name == "pop":
            if sequence.items and not site.positional:
                last = sequence.items[-1]
                self.trail.set(sequence, "items", sequence.items[:-1])
                return last
            value = sequence.element or (self._any(list(sequence.items)) if sequence.items else Unknown())
            self.trail.set(sequence, "items", None)
            self.trail.set(sequence, "element", value)
            return value
        if name in ("index", "count"):
            return Scalar("int")
        if name in ("insert", "remove", "sort", "reverse"):
            self._widen(sequence, site.positional[1:])
            return NONE
        return None

    def remove(self, container: Value, index: Value | SliceValue | list[Value | SliceValue]) -> None:
        """`del container[index]`."""
        options = [each for _, each in alternatives(container, self.guard)]
        for each in options:
            if isinstance(each, Sequence):
                self._remove_items(each, index, len(options) == 1)
            elif isinstance(each, Mapping) and each.items is not None:
                if len(options) == 1 and isinstance(index, Constant):
                    rest = {key: value for key, value in each.items.items() if key != index.value}
                    self.trail.set(each, "items", rest)
                elif each.items:
                    self.trail.set(each, "element", self._any(list(each.items.values())))
                    self.trail.set(each, "items", None)
            elif isinstance(each, Module) and each.kind.container:
                self.trail.set(each, "children", None)

    def _remove_items(
        self, sequence: Sequence, index: Value | SliceValue | list[Value | SliceValue], certain: bool
    ) -> None:
        rest = list(sequence.items or ())
        if sequence.items is None or not certain:
            self._widen(sequence, [])
            return
        place: int | slice | None = slice_of(index) if isinstance(index, SliceValue) else None
        if isinstance(index, Constant) and isinstance(index.value, int) and -len(rest) <= index.value < len(rest):
            place = index.value
        if place is None:
            self._widen(sequence, [])
            return
        del rest[place]
        self.trail.set(sequence, "last", None)
        self.trail.set(sequence, "items", tuple(rest))

    def _extend(self, sequence: Sequence, values: tuple[Value, ...]) -> None:
        self.trail.set(sequence, "last", values[-1] if values else None)
        if sequence.items is not None and len(sequence.items) + len(values) <= MOST_ITEMS:
            self.trail.set(sequence, "items", sequence.items + values)
        else:
            self._widen(sequence, list(values))
            self.trail.set(sequence, "last", values[-1] if values else None)

    def _widen(self, sequence: Sequence, values: list[Value]) -> None:
        every = [*(sequence.items or ()), *([sequence.element] if sequence.element is not None else []), *values]
        if every:
            self.trail.set(sequence, "element", self._any(every))
        self.trail.set(sequence, "items", None)
        self.trail.set(sequence, "last", None)

    def _mapping_method(self, mapping: Mapping, name: str, site: CallSite) -> Value | None:
        every = list((mapping.items or {}).values()) + ([mapping.element] if mapping.element is not None else [])
        if name in ("get", "pop", "setdefault") and site.positional:
            key = site.positional[0]
            if mapping.items is not None and isinstance(key, Constant):
                found = mapping.items.get(key.value)
                value = found if found is not None else (site.get(1, "default") or NONE)
                if name == "pop" and found is not None:
                    rest = {each: item for each, item in mapping.items.items() if each != key.value}
                    self.trail.set(mapping, "items", rest)
                elif name == "setdefault" and found is None:
                    self.trail.set(mapping, "items", {**mapping.items, key.value: value})
                return value
            if name != "get" and mapping.items is not None:
                self.trail.set(mapping, "element", self._any([*every, site.get(1, "default") or NONE]))
                self.trail.set(mapping, "items", None)
            return self._any([*every, NONE]) if every else Unknown()
        if name == "values":
            return (
                Sequence("list", tuple(every)) if mapping.items is not None else Sequence("list", None, mapping.element)
            )
        if name == "keys":
            return (
                Sequence("list", tuple(Constant(key) for key in mapping.items))
                if mapping.items is not None
                else Sequence("list", None, Unknown())
            )
        if name == "items":
            if mapping.items is not None:
                return Sequence("list", tuple(Sequence("tuple", (Constant(k), v)) for k, v in mapping.items.items()))
            return Sequence("list", None, Sequence("tuple", (Unknown(), mapping.element or Unknown())))
        if name == "copy":
            return Mapping(dict(mapping.items) if mapping.items is not None else None, mapping.element)
        if name in ("update", "clear", "popitem"):
            values = [value for value in site.values() for value in self.elements(value)[1]]
            self.trail.set(mapping, "element", self._any([*every, *values, Unknown()]))
            self.trail.set(mapping, "items", None)
            return NONE
        return None
