"""The tool that computes: exact arithmetic where a language model would guess digits."""

from __future__ import annotations

from pydantic import Field

from resources.sentences import sentence
from runtime.arithmetic import calculate
from runtime.exact import ArithmeticFault
from runtime.tools.tool import Arguments, Definition, Failure, Result, ToolContext, ok


class CalculatorArguments(Arguments):
    expression: str = Field(
        description="For example 150 * 223.48, 2^64, 15% of 80, sqrt(2), round(10/3, 2), 20!. "
        "Functions: abs ceil cos exp factorial floor gcd ln log max min percent round sin sqrt tan; pi, e."
    )


class Calculator:
    """Computes one expression; exact unless the answer begins with ≈."""

    def definition(self) -> Definition:
        return Definition(
            name="calculator",
            description="Compute an arithmetic expression exactly.",
            arguments=CalculatorArguments,
            risk="low",
            idempotent=True,
        )

    async def execute(self, arguments: CalculatorArguments, context: ToolContext) -> Result:
        del context
        try:
            found = calculate(arguments.expression)
        except ArithmeticFault as fault:
            details = {"code": fault.code, "fields": fault.fields}
            return Failure("invalid", sentence(fault.code, **fault.fields), details)
        return ok(found.text, exact=found.exact)

    async def preview(self, arguments: CalculatorArguments, context: ToolContext) -> str:
        del arguments, context
        return ""
