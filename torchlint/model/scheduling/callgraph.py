"""
Which entry points of a file are worth following, and which can have nothing to say whatever comes of them.

To follow an entry point is what linting costs. Most of them only compute: they write nothing in place, differentiate
nothing, and spell nothing that any observer waits for (`features.Concern`), neither themselves nor in the functions of
the file that they may call. Who may call whom is told by names alone: whoever mentions a name may call every function
of that name, and may build every class of it. Of what a constructor does, only what it builds counts for who holds the
object; whether it has something to say itself is asked for its class alone (`must_be_built`).

Writes are the exception that makes this worth its while. A function that writes in place is followed by itself; if it
turns out that it writes only to what it has made itself (`note_pure`), whoever calls it gains nothing by following it
once more. Runs nothing.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence, Set
from typing import Final

from torchlint.syntax import ir
from torchlint.syntax.features import (
    BUILDS_WRITER,
    CONVERSIONS,
    CONVERTS,
    CUSTOM,
    DEEPCOPIES,
    DEEPCOPIES_HELD,
    DEFINES,
    DIFFERENTIATING,
    DROPS,
    EACH,
    HELD_SOFTMAX,
    HIDES,
    OPEN_SOFTMAX,
    POINTWISE,
    POINTWISE_LAYERS,
    SETS,
    SLICED,
    SOFTMAXES,
    TENSORS,
    WRITES,
    WRITING,
    Concern,
    anywhere,
    here,
)
from torchlint.syntax.reading import layers, written, written_in
from torchlint.syntax.spelling import starts_with_super

_OWN = (
    WRITING,
    DIFFERENTIATING,
    anywhere(DROPS),
    anywhere(f"Parameter requires_grad requires_grad_ retain_grad {DEEPCOPIES} .numpy __array__"),
    here("register_hook"),
    here(DEEPCOPIES_HELD),
    here(DEFINES),
)
"""The concerns of the model itself."""
_BY_CONSTRUCTORS: Final = frozenset({HIDES, TENSORS, "register_parameter", "register_buffer", "setattr"})
"""What else a constructor may do that some observer waits for."""
_BY_TEXT = frozenset({"getattr", "vars", "__dict__"})  # what reads an attribute without naming it
_CONSTRUCTORS: Final = frozenset({"__init__", "__new__", "__post_init__", "__init_subclass__", "__setattr__"})
_BY_WHOEVER_HOLDS: Final = frozenset({"forward", "__call__", "__getitem__"})
"""What is run of an object by no name that is written: those of such methods that the model follows."""
_NUMPY = ("numpy", "matplotlib")
_TORCH: Final = ("torch",)

Writers = list[tuple[str, frozenset[str]]]
"""Names by which functions of other files are called, and classes; where a name is a module's, with what of it."""


def calls_writer(words: set[str], writers: Writers) -> bool:
    """Whether one of them is among what is written in a function."""
    return any(name in words and (not parts or not parts.isdisjoint(words)) for name, parts in writers)


class CallGraph:
    """
    What is written in the functions of one file.

    Parameters
    ----------
    program
        The file.
    concerns
        Of each observer that watches it; None for one that any entry point may concern.
    elsewhere
        Those of the file's words by which it calls what writes to its arguments, in other files.
    """

    def __init__(
        self,
        program: ir.Program,
        concerns: Iterable[Sequence[Concern] | None],
        elsewhere: Callable[[set[str]], Writers] | None = None,
    ) -> None:
        known = list(concerns)
        self._everybody = frozenset(range(len(known)))
        self._anywhere = {number for number, each in enumerate(known) if each is None}
        self._strict = {number for number, each in enumerate(known) if each is not None and not each}
        """Those that no entry point concerns: what they see is strict, and counted as far as it was met."""
        self._concerns = [(concern, -1) for concern in _OWN]
        self._concerns += [(concern, number) for number, each in enumerate(known) for concern in each or ()]
        self._program = program
        self._externally_pure = 0
        self._calls: list[int] = []
        self._bits: dict[int, int] = {}
        self._edges: list[int] = []
        self._written: list[ir.Written] = []
        self._constructed: list[set[str]] = []
        self._constructing: list[int] = []
        """Of each class what may run while an object of it is built, with its bases and what it builds itself."""
        self._definitions: list[ir.FunctionDef] = []
        self._built: dict[int, int] = {}
        self._bases: dict[int, list[set[str]]] = {}
        """Of each class what is written in each of its bases."""
        self._reached: dict[int, int] = {}
        """What each of those that were asked for reaches, as far as edges lead."""
        self._writers = 0
        self.writers_elsewhere: Writers = []
        self._groups: dict[frozenset[str], int] = {}
        self._asked: list[tuple[int, bool, list[int]]] = []
        """
        Of each concern that anything in the file meets: whose it is, whether it is one of writes, and where each of its
        groups is written (`_beside`).
        """
        self._looked_for: list[tuple[int, bool, list[int]]] = []
        """Of each that a run may meet: whose it is, whether constructors may, and who writes its groups."""
        self._read(elsewhere)

    def note_pure(self, definition: ir.Node) -> None:
        """A function was followed by itself, and wrote to nothing but what it had made."""
        number = self._bits.get(id(definition))
        if number is not None:
            self._externally_pure |= 1 << number

    def writes(self, definition: ir.Node) -> bool:
        """Whether a function writes in place itself, by the look of it."""
        return bool(self._bit(definition) & self._writers)

    def concerned(self, definition: ir.Node, cls: ir.ClassDef | None = None) -> frozenset[int] | None:
        """
        The observers that a function, or a method of a class, may concern, by their numbers; None if it need not be
        followed at all.
        """
        own = self._bits.get(id(definition))
        if own is None:
            return self._everybody
        mine = 1 << own
        held = self._built.get(id(cls), 0)
        # of its own class what the constructor builds counts, not what the methods do
        reached = self._reached_by(own) | self._bit(cls)
        for number in _numbers(held & ~reached):
            reached |= self._reached_by(number)
        writes = bool(mine & self._writers)
        if not writes and reached & self._writers & ~self._externally_pure:
            # what an externally pure function calls has run with it, and is settled where no other way leads there
            settled = _closed(mine | held, self._edges, self._externally_pure)
            writes = bool(settled & self._writers & ~self._externally_pure)
        called = mine | self._edges[own] | self._bit(cls)
        close = called | held
        for number in _numbers((self._edges[own] | held) >> len(self._written)):
            close |= self._edges[len(self._written) + number]
        beside = self._beside(mine, called, close, reached)
        found = set(self._anywhere)
        for number, only_writes, masks in self._asked:
            if number not in found and (writes or not only_writes):
                for mask in masks:
                    if not mask & beside:
                        break
                else:
                    found.add(number)
        return frozenset(found) if found else None

    def _beside(self, mine: int = 0, called: int = 0, close: int = 0, reached: int = 0) -> int:
        """Four sets of bits in one: of a concern, each group is asked for in one of them."""
        wide = len(self._edges)
        return mine | called << wide | close << 2 * wide | reached << 3 * wide

    def _reached_by(self, number: int) -> int:
        """All that may run where one runs."""
        known = self._reached.get(number)
        if known is None:
            known = self._reached[number] = _closed(1 << number, self._edges, known=self._reached)
        return known

    def concerned_building(self, classes: Iterable[ir.Node], methods: Iterable[ir.Node]) -> frozenset[int]:
        """
        The observers that the building of an object may concern, or what its methods do with it: of its classes and all
        of their methods, wherever in what these run the words of a concern stand.
        """
        edges = [*self._edges[: len(self._written)], *self._constructing]
        begins = 0
        for each in (*classes, *methods):
            begins |= self._bit(each)
        ran = _closed(begins, edges)
        met = {number for number, _, masks in self._looked_for if _is_met(masks, ran)}
        return frozenset(met | self._anywhere | self._strict) - {-1}

    def must_be_built(self, cls: ir.ClassDef) -> bool:
        """
        Whether an object of a class must be built for what its constructor does itself: what it makes besides modules,
        keeps in containers, or writes. What it builds of other classes is looked at where these are.
        """
        if id(cls) not in self._bits:
            return True
        for definition in cls.body:
            if isinstance(definition, ir.FunctionDef) and definition.name in _CONSTRUCTORS:
                number = self._bits.get(id(definition))
                if number is None or not starts_with_super(definition):
                    return True
                ran = _closed(1 << number, self._calls)
                if ran & (self._writers | self._groups[_BY_CONSTRUCTORS]):
                    return True
                filled = _may_be_filled(ran, self._written, self._edges, self._constructing)
                if filled or any(counts and _is_met(masks, ran) for _, counts, masks in self._looked_for):
                    return True
        return False

    def _bit(self, definition: ir.Node | None) -> int:
        number = self._bits.get(id(definition))
        return 1 << number if number is not None else 0

    # -- reading the file

    def _read(self, elsewhere: Callable[[set[str]], Writers] | None) -> None:
        defined = self._program.defined
        classes = [each for each in defined if isinstance(each, ir.ClassDef)]
        owners = {id(each): cls for cls in classes for each in _functions(cls.body)}
        functions = [(each, owners.get(id(each))) for each in defined if isinstance(each, ir.FunctionDef)]
        self._definitions = [definition for definition, _ in functions]
        self._written = [written(definition) for definition in self._definitions]
        if elsewhere is not None and any(each.name == "forward" for each in self._definitions):
            # elsewhere nobody asks: what differentiates is followed together with other files anyway
            self.writers_elsewhere = elsewhere(set().union(*(each.words for each in self._written)))
        self._bits = {id(each): number for number, each in enumerate((*self._definitions, *classes))}
        called, built = _names(self._definitions, classes)
        calls = [_union(called, each.words) for each in self._written]
        builds = [_union(built, each.words) for each in self._written]
        self._calls = calls
        self._edges = [one | other for one, other in zip(calls, builds, strict=True)]
        inplace = self._read_classes(functions, classes, calls, builds, built)
        for number, (each, (_, cls)) in enumerate(zip(self._written, functions, strict=True)):
            if (
                WRITES in each.words
                or (cls is not None and id(cls) in inplace)
                or calls_writer(each.words, self.writers_elsewhere)
            ):
                self._writers |= 1 << number
        self._read_groups(classes)

    def _read_classes(
        self,
        functions: list[tuple[ir.FunctionDef, ir.ClassDef | None]],
        classes: list[ir.ClassDef],
        calls: list[int],
        builds: list[int],
        built: dict[str, int],
    ) -> set[int]:
        """What the instances of a class hold, and which classes build layers that work in place."""
        methods = _methods(functions)
        first_class = len(functions)
        inplace = 0
        bases: list[int] = []
        for number, cls in enumerate(classes):
            ran, runs_itself = 0, 0
            for method in methods.get(id(cls), ()):
                definition = self._definitions[method]
                if definition.name in _CONSTRUCTORS:
                    ran |= _closed(1 << method, calls)
                elif definition.name in _BY_WHOEVER_HOLDS:
                    runs_itself |= 1 << method
            of_bases = self._bases[id(cls)] = [written_in(base).words for base in cls.bases]
            outside = written_in([each for each in cls.body if not isinstance(each, ir.FunctionDef)])
            words = outside.words.union(*of_bases)
            held = _union(built, words)
            writes = BUILDS_WRITER in words
            for each in _numbers(ran):
                held |= builds[each]
                words |= self._written[each].words
                writes = writes or BUILDS_WRITER in self._written[each].words
            if writes or calls_writer(words, self.writers_elsewhere):
                inplace |= 1 << (first_class + number)
            bases.append(_union(built, set().union(*of_bases)))
            self._constructing.append(ran | held | runs_itself | bases[-1])
            self._built[id(cls)] = held
            self._constructed.append(words)
            self._edges.append(held | runs_itself)
        return {
            id(cls)
            for number, cls in enumerate(classes)
            if inplace & _closed(1 << number, [each >> first_class for each in bases]) << first_class
        }

    def _read_groups(self, classes: list[ir.ClassDef]) -> None:
        everything: set[str] = set().union(*(each.words for each in self._written))
        imports = [each for each in self._program.naming if isinstance(each, ir.Import)]
        given = layers(self._written)
        meanings = {CONVERTS: _converting(imports), TENSORS: _named(imports, _TORCH)}
        meanings |= {CUSTOM: _customs(classes, self._bases), OPEN_SOFTMAX: _open_softmaxes(given)}
        groups = {_BY_CONSTRUCTORS}.union(*(_groups(concern) for concern, _ in self._concerns))
        words = {word for group in groups for word in group}
        added = [word for word in words if word[0] == "+"]
        meanings |= _meant_by_variables({word for word in words if word[0] == "*"}, everything, self._program.body)
        means = {word: _meant(word, everything, meanings) for word in words if word[0] in "*+" or word in meanings}
        exact = (words - means.keys()).union(*means.values(), [word[1:] for word in words if word[0] == "-"])
        waiting = _written_by(self._written, self._constructed, exact, added)
        found = {SLICED: _sliced(self._definitions, self._written, given), SETS: _sets(self._written, given)}
        stands = {word: waiting[word] for word in waiting.keys() & words - means.keys()} | found
        stands |= {word: mask for word, meant in means.items() if (mask := _union(waiting, meant) | found.get(word, 0))}
        without = {word: waiting[word[1:]] for word in words if word[0] == "-" and word[1:] in waiting}
        for group in groups:
            self._groups[group] = _union(stands, group) & ~_union(without, group)
        for concern, number in self._concerns:
            written = [self._groups[group] for group in _groups(concern)]
            if concern.writes:
                self._looked_for.append((number, False, []))
            elif all(written):  # few are written in any one file
                self._looked_for.append((number, concern.in_constructors, written))
            if not all(written):
                continue
            masks = [self._beside(mine=self._groups[group]) for group in concern.here]
            masks += [self._beside(called=self._groups[group]) for group in concern.called]
            masks += [self._beside(close=self._groups[group]) for group in concern.near]
            masks += [self._beside(reached=self._groups[group]) for group in concern.anywhere]
            self._asked.append((number, concern.writes, masks))


def _may_be_filled(ran: int, functions: list[ir.Written], edges: list[int], constructing: list[int]) -> bool:
    """Whether what runs while an object is built may put anything into the plain containers that it is given."""
    plain = {number: functions[number].plain for number in _numbers(ran) if functions[number].plain}
    reached = _closed(ran, [*edges[: len(functions)], *constructing]) if plain else 0
    for number in _numbers(reached & (1 << len(functions)) - 1):
        words = functions[number].words
        if not _BY_TEXT.isdisjoint(words) or any(n != number and not p.isdisjoint(words) for n, p in plain.items()):
            return True
    return False


def _is_met(masks: list[int], ran: int) -> bool:
    """Whether something of each group is written anywhere in what runs."""
    for mask in masks:  # noqa: SIM110 - asked of very many: a generator costs more than the question
        if not mask & ran:
            return False
    return True


def _groups(concern: Concern) -> tuple[frozenset[str], ...]:
    return (*concern.here, *concern.called, *concern.near, *concern.anywhere)


def _methods(functions: list[tuple[ir.FunctionDef, ir.ClassDef | None]]) -> dict[int, list[int]]:
    """By the identity of a class, the numbers of its methods."""
    methods: dict[int, list[int]] = {}
    for number, (_, cls) in enumerate(functions):
        if cls is not None:
            methods.setdefault(id(cls), []).append(number)
    return methods


def _names(definitions: list[ir.FunctionDef], classes: list[ir.ClassDef]) -> tuple[dict[str, int], dict[str, int]]:
    """The bits of the functions that are called by a name, and of the classes."""
    called: dict[str, int] = {}
    built: dict[str, int] = {}
    for number, definition in enumerate(definitions):
        if definition.name == "forward" or definition.name.startswith("__"):
            continue  # whoever has an object of the class may run it, by whatever name
        called[definition.name] = called.get(definition.name, 0) | 1 << number
    for number, cls in enumerate(classes, len(definitions)):
        built[cls.name] = built.get(cls.name, 0) | 1 << number
    return called, built


def _written_by(
    functions: list[ir.Written], constructed: list[set[str]], words: set[str], added: list[str]
) -> dict[str, int]:
    """The bits of the functions in which each word is written, and for one with `+` of the classes."""
    waiting: dict[str, int] = {}
    for number, each in enumerate(functions):
        for word in each.words & words:
            waiting[word] = (waiting[word] if word in waiting else 0) | 1 << number  # noqa: SIM401 - of very many
    for number, built in enumerate(constructed, len(functions)):
        for word in added:
            if word[1:] in built:
                waiting[word] = waiting.get(word, 0) | 1 << number
    return waiting


def _sets(functions: list[ir.Written], given: dict[str, set[str]]) -> int:
    """The functions that set attributes which may be parameters: of a layer, or so called elsewhere in the file."""
    found = 0
    if any("register_parameter" in each.words for each in functions):
        named = None
    else:
        named = {name for name, made in given.items() if "Parameter" in made}
    for number, each in enumerate(functions):
        if any("weight" in name or "bias" in name or named is None or name in named for name in each.assigned):
            found |= 1 << number
    return found


def _sliced(definitions: list[ir.FunctionDef], functions: list[ir.Written], given: dict[str, set[str]]) -> int:
    """The functions that slice what may be the result of an operation that treats each position by itself."""
    found = 0
    for number, (definition, each) in enumerate(zip(definitions, functions, strict=True)):
        for name in each.sliced:
            made = given.get(name)
            local = name in definition.assigned
            if (
                name in POINTWISE
                or name in POINTWISE_LAYERS
                or name == "()"
                or (name.startswith(EACH) and _may_be_pointwise(given.get(name[len(EACH) :], set())))
                or (not POINTWISE_LAYERS.isdisjoint(made) if made else local)
            ):
                found |= 1 << number
    return found


def _may_be_pointwise(made: set[str]) -> bool:
    """Whether an element of what an attribute holds may treat each position by itself."""
    elements = {name[len(EACH) :] for name in made if name.startswith(EACH)}
    return not elements or "()" in elements or not POINTWISE_LAYERS.isdisjoint(elements)


def _functions(body: list[ir.Statement]) -> Iterator[ir.FunctionDef]:
    """The functions that a block defines itself: not those in its functions and classes."""
    for statement in body:
        if isinstance(statement, ir.FunctionDef):
            yield statement
        else:
            for block in ir.blocks(statement):
                yield from _functions(block)


def _union(masks: dict[str, int], words: Set[str]) -> int:
    found = 0
    for word in words & masks.keys():
        found |= masks[word]
    return found


def _closed(start: int, edges: list[int], barrier: int = 0, known: dict[int, int] | None = None) -> int:
    """All that may run, from what runs first; not what only those of a barrier lead to. Of some it is known."""
    reached = pending = start
    while pending:
        lowest = pending & -pending
        pending ^= lowest
        number = lowest.bit_length() - 1
        if known is not None and number in known:
            reached |= known[number]
            pending &= ~known[number]
            continue
        new = edges[number] & ~reached
        reached |= new
        pending |= new & ~barrier
    return reached


def _numbers(mask: int) -> Iterator[int]:
    while mask:
        lowest = mask & -mask
        mask ^= lowest
        yield lowest.bit_length() - 1


def _meant(word: str, everything: set[str], meanings: dict[str, set[str]]) -> set[str]:
    """
    The words of a file that a word of a concern stands for: `+Layer` may also be built by a constructor.
    """
    if word in meanings:
        return meanings[word]
    return {word, word[1:]} if word.startswith("+") else {word}


def _meant_by_variables(words: set[str], everything: set[str], body: list[ir.Statement]) -> dict[str, set[str]]:
    """
    What each `*part` stands for: the words that it is part of, and the file's own variables that are made with one
    (`act = nn.Sigmoid()`), if a function has them: of others nobody asks.
    """
    made: list[tuple[set[str], set[str]]] = []
    for statement in body:
        if isinstance(statement, ir.Assign) and isinstance(statement.value, (ir.Call, ir.Attribute)):
            names = {each.id for each in statement.targets if isinstance(each, ir.Name)} & everything
            if names:
                made.append((names, written_in(statement.value).words))
    found: dict[str, set[str]] = {}
    text = " ".join(everything)
    for word in words:  # most are a part of nothing in the file
        found[word] = {each for each in everything if word[1:] in each} if word[1:] in text else set()
        for names, written_there in made:
            if any(word[1:] in each for each in written_there):
                found[word] |= names
    return found


def _named(imports: list[ir.Import], packages: tuple[str, ...]) -> set[str]:
    """The names under which packages, or parts of them, are known in a file; not those of modules of layers."""
    return {
        each.bound
        for statement in imports
        for each in statement.names
        if each.qualified.startswith(packages) and not each.qualified.startswith(("torch.nn", "torch.utils"))
    }


def _open_softmaxes(given: dict[str, set[str]]) -> set[str]:
    """What softmaxes are called that may go over the first dimension; one that an object holds, where it is made."""
    return {OPEN_SOFTMAX} if given.keys() & SOFTMAXES else {OPEN_SOFTMAX, HELD_SOFTMAX}


def _converting(imports: list[ir.Import]) -> set[str]:
    """How a file may name the functions of NumPy and Matplotlib that make arrays of tensors: `np.sqrt`, or `sqrt`."""
    found: set[str] = set()
    for each in (name for statement in imports for name in statement.names if name.qualified.startswith(_NUMPY)):
        found.update(f"{each.bound}.{function}" for function in CONVERSIONS)
        if each.qualified.rpartition(".")[2] in CONVERSIONS:
            found.add(each.bound)
    return found


def _customs(classes: list[ir.ClassDef], bases: dict[int, list[set[str]]]) -> set[str]:
    """The classes that derive from something called `Function`, or from one of them."""
    found: set[str] = {"Function"}
    for cls in classes:
        if any(not found.isdisjoint(words) for words in bases[id(cls)]):
            found.add(cls.name)
    return found - {"Function"}
