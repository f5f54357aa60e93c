r"""Names as the papers typeset them: CEM^ORD and MAE^μ with superscripts, τ_a with a subscript.

Names in tables and on the command line are plain text, as one types them. In figures, LaTeX and HTML they are written as papers
do; there what follows ``^`` is raised, and what follows ``_`` behind a Greek letter is lowered: ``my_measure`` stays as it is.
"""

from __future__ import annotations

import html
import re
from collections.abc import Sequence

from metaeval.errors import visible

_SCRIPT = re.compile(
    r"(?<![\w^])(?:([A-Za-z][A-Za-z0-9]{0,7})\^([A-Za-zμ]{1,4})|([τρακ])_([A-Za-z]{1,4}(?:,[a-z])?))(?![\w^])"
)

_GREEK = {
    "α": r"\alpha", "β": r"\beta", "γ": r"\gamma", "δ": r"\delta", "ε": r"\varepsilon", "ζ": r"\zeta", "η": r"\eta",
    "θ": r"\theta", "κ": r"\kappa", "λ": r"\lambda", "μ": r"\mu", "ν": r"\nu", "ξ": r"\xi", "π": r"\pi", "ρ": r"\rho",
    "σ": r"\sigma", "τ": r"\tau", "φ": r"\varphi", "χ": r"\chi", "ψ": r"\psi", "ω": r"\omega", "Δ": r"\Delta",
    "Σ": r"\Sigma", "Ω": r"\Omega", "Γ": r"\Gamma", "Θ": r"\Theta", "Λ": r"\Lambda", "Π": r"\Pi", "Φ": r"\Phi",
    "Ψ": r"\Psi",
}  # fmt: skip

TITLES = {
    "CEM_ORD": "CEM^ORD", "kappa": "κ", "alpha_ORD": "α-ORD", "alpha_INT": "α-INT", "MAE_M": "MAE^M", "MAE_mu": "MAE^μ",
    "F1_M": "F1^M", "R_s": "Spearman", "tau_a": "τ_a", "tau_b": "τ_b", "Reliability_Sensitivity": "R/S",
    "Inverse_Purity": "inverse purity", "MSE_M": "MSE^M", "Rennie_Srebro": "Rennie–Srebro",
}  # fmt: skip
"""How measures are written whose names are not: the labels of the registry, of which text has the names only."""

_TYPED = re.compile(rf"(?<![\w^./:=@-])({'|'.join(TITLES)})(?![\w^/:=@(-]|\.\w)")  # and no part of another name

_LATEX = {
    "\\": r"\textbackslash{}", "&": r"\&", "%": r"\%", "$": r"\$", "#": r"\#", "_": r"\_", "{": r"\{", "}": r"\}",
    "~": r"\textasciitilde{}", "^": r"\textasciicircum{}", "`": r"\textasciigrave{}", "–": "--", "—": "---", "−": "$-$",
    "×": r"$\times$", "†": r"$\dagger$", "‡": r"$\ddagger$", "◇": r"$\diamondsuit$", "♡": r"$\heartsuit$",
    "♣": r"$\clubsuit$", "♠": r"$\spadesuit$", "♯": r"$\sharp$", "★": r"$\star$", "✓": r"$\surd$", "✗": r"$\times$",
    "∞": r"$\infty$", "√": r"$\surd$", "·": r"$\cdot$", "…": r"\dots{}", "’": "'", "‘": "`", "“": "``", "”": "''",
    "≥": r"$\geq$", "≤": r"$\leq$", "≠": r"$\neq$", "≈": r"$\approx$", "±": r"$\pm$", "→": r"$\to$", "∈": r"$\in$",
    "°": r"$^\circ$", "²": "$^2$", "§": r"\S{}", "<": r"\textless{}", ">": r"\textgreater{}", "|": r"\textbar{}", "\n": " ",
    "\u00a0": "~", "\u200b": "{}", **{letter: f"${command}$" for letter, command in _GREEK.items()},
}  # fmt: skip

_PARAMETERS = {"alpha": "α", "beta": "β", "gamma": "γ"}


def spell_names(text: str) -> str:
    """Return a text with names of measures as papers write them, and those of their parameters in Greek.

    >>> spell_names("OCI(beta=0.75, gamma=1) ranks runs like MAE_M. See MAE_M.csv")
    'OCI(β=0.75, γ=1) ranks runs like MAE^M. See MAE_M.csv'
    """
    text = _TYPED.sub(lambda name: TITLES[name[1]], text)
    return (
        re.sub(r"(?<=[(\s])(alpha|beta|gamma)(?==)", lambda name: _PARAMETERS[name[1]], text) if "=" in text else text
    )


def shorten_name(name: str, most: int) -> str:
    """Return a name of at most so many columns: of a long one the beginning and the end.

    >>> shorten_name("a measure with a very long name (v2.1)", 24)
    'a measure with…me (v2.1)'
    """
    from rich.cells import cell_len

    name = spell_names(name)
    columns = cell_len(name)
    if columns <= most:
        return name
    most = most * len(name) // columns
    end = 2 * most // 5
    return f"{name[: most - 1 - end]}…{name[len(name) - end :]}"


def shorten_names(names: Sequence[str], most: int) -> list[str]:
    """Return names that leave room for a figure; numbered where different ones would look the same.

    >>> shorten_names(["mean of the first ten topics", "mean of the other ten topics"], 14)
    ['mean of…pics 1', 'mean of…pics 2']
    """
    shortened = [shorten_name(name, most) for name in names]
    if len(set(shortened)) == len(set(names)):
        return shortened
    numbers = {name: f" {number}" for number, name in enumerate(dict.fromkeys(names), start=1)}
    return [shorten_name(name, most - len(numbers[name])) + numbers[name] for name in names]


def to_mathtext(text: str) -> str:
    r"""Return a text for matplotlib, with the scripts as mathematics; everything else is shown as it is.

    >>> to_mathtext("MAE^μ costs $5")
    'MAE$^{\\mathrm{μ}}$ costs \\$5'
    """
    plain = spell_names(visible(text)).replace("$", r"\$")
    return _SCRIPT.sub(
        lambda name: f"{name[1]}$^{{\\mathrm{{{name[2]}}}}}$" if name[1] else f"{name[3]}$_{{\\mathrm{{{name[4]}}}}}$",
        plain,
    )


def to_html(text: str) -> str:
    """Return a text as HTML, escaped, with the scripts as ``<sup>`` and ``<sub>``.

    >>> to_html("CEM^ORD < τ_a")
    'CEM<sup>ORD</sup> &lt; τ<sub>a</sub>'
    """
    plain = html.escape(spell_names(visible(text)))
    return _SCRIPT.sub(
        lambda name: f"{name[1]}<sup>{name[2]}</sup>" if name[1] else f"{name[3]}<sub>{name[4]}</sub>", plain
    )


def to_latex(text: str) -> str:
    r"""Return a text as LaTeX that shows it, with the scripts of names as scripts; pdfLaTeX spells letters it does not have.

    >>> print(to_latex("50 % of CEM^ORD & α_1"), to_latex("τ_a"))
    50 \% of CEM\textsuperscript{ORD} \& $\alpha$\_1 $\tau_{a}$
    """

    def write(plain: str) -> str:
        # Two hyphens are two hyphens, and no dash.
        return "".join(map(write_letter, plain.replace("--", "-\u200b-")))

    def write_letter(letter: str) -> str:
        if letter in _LATEX or letter.isascii() or "\u00c0" <= letter <= "\u017f":
            return _LATEX.get(letter, letter)
        return f"\\ifdefined\\Umathchar {letter}\\else[U+{ord(letter):04X}]\\fi{{}}"

    parts, plain = [], spell_names(visible(text))
    end = 0
    for name in _SCRIPT.finditer(plain):
        raised, script = f"{name[1]}\\textsuperscript{{{write(name[2] or '')}}}", name[4] or ""
        lowered = script if len(script) == 1 else f"\\mathrm{{{script}}}"
        parts += [write(plain[end : name.start()]), raised if name[1] else f"${_GREEK[name[3]]}_{{{lowered}}}$"]
        end = name.end()
    return "".join([*parts, write(plain[end:])])
