"""
The small intermediate representation that the interpreter runs: Python without its spelling.

`lowering` makes it from the tree of Python's own parser, once per file. Every node keeps the node it came from, and
with it its place (`origin`). The IR knows no torch and has no behaviour. Others say `ir.Call`, wherever it is defined.
"""

from torchlint.syntax.ir.expressions import Argument as Argument
from torchlint.syntax.ir.expressions import Assigned as Assigned
from torchlint.syntax.ir.expressions import Attribute as Attribute
from torchlint.syntax.ir.expressions import Await as Await
from torchlint.syntax.ir.expressions import Binary as Binary
from torchlint.syntax.ir.expressions import Boolean as Boolean
from torchlint.syntax.ir.expressions import Call as Call
from torchlint.syntax.ir.expressions import Compare as Compare
from torchlint.syntax.ir.expressions import Comprehension as Comprehension
from torchlint.syntax.ir.expressions import Conditional as Conditional
from torchlint.syntax.ir.expressions import Constant as Constant
from torchlint.syntax.ir.expressions import Dict as Dict
from torchlint.syntax.ir.expressions import Expression as Expression
from torchlint.syntax.ir.expressions import FormattedString as FormattedString
from torchlint.syntax.ir.expressions import Generator as Generator
from torchlint.syntax.ir.expressions import Lambda as Lambda
from torchlint.syntax.ir.expressions import Name as Name
from torchlint.syntax.ir.expressions import Node as Node
from torchlint.syntax.ir.expressions import Parameter as Parameter
from torchlint.syntax.ir.expressions import Sequence as Sequence
from torchlint.syntax.ir.expressions import Slice as Slice
from torchlint.syntax.ir.expressions import Starred as Starred
from torchlint.syntax.ir.expressions import Subscript as Subscript
from torchlint.syntax.ir.expressions import TooDeep as TooDeep
from torchlint.syntax.ir.expressions import Unary as Unary
from torchlint.syntax.ir.expressions import Yield as Yield
from torchlint.syntax.ir.statements import Assert as Assert
from torchlint.syntax.ir.statements import Assign as Assign
from torchlint.syntax.ir.statements import AugmentedAssign as AugmentedAssign
from torchlint.syntax.ir.statements import Break as Break
from torchlint.syntax.ir.statements import Case as Case
from torchlint.syntax.ir.statements import ClassDef as ClassDef
from torchlint.syntax.ir.statements import Continue as Continue
from torchlint.syntax.ir.statements import Delete as Delete
from torchlint.syntax.ir.statements import ExpressionStatement as ExpressionStatement
from torchlint.syntax.ir.statements import For as For
from torchlint.syntax.ir.statements import FunctionDef as FunctionDef
from torchlint.syntax.ir.statements import Handler as Handler
from torchlint.syntax.ir.statements import If as If
from torchlint.syntax.ir.statements import Import as Import
from torchlint.syntax.ir.statements import ImportName as ImportName
from torchlint.syntax.ir.statements import Inside as Inside
from torchlint.syntax.ir.statements import Match as Match
from torchlint.syntax.ir.statements import Pass as Pass
from torchlint.syntax.ir.statements import Program as Program
from torchlint.syntax.ir.statements import Raise as Raise
from torchlint.syntax.ir.statements import Return as Return
from torchlint.syntax.ir.statements import Scope as Scope
from torchlint.syntax.ir.statements import Statement as Statement
from torchlint.syntax.ir.statements import Try as Try
from torchlint.syntax.ir.statements import While as While
from torchlint.syntax.ir.statements import With as With
from torchlint.syntax.ir.statements import WithItem as WithItem
from torchlint.syntax.ir.walk import SMALL as SMALL
from torchlint.syntax.ir.walk import blocks as blocks
from torchlint.syntax.ir.walk import everything as everything
from torchlint.syntax.ir.walk import walk as walk
from torchlint.syntax.node_fields import named as named
from torchlint.syntax.node_fields import parts as parts
from torchlint.syntax.written import Written as Written
