"""``python -m tests.hostile``: the campaign, one case of it again, or the defects that were mended."""

import argparse
import sys
import time

from tests.hostile.campaign import Tally, limit_memory, run_campaign, run_case
from tests.hostile.parts import PARTS, choose_parts, share_inputs


def main():
    options = _read_options()
    limit_memory()
    if options.defects is not None:
        return _check_defects([name for name in options.defects.split(";") if name])
    if options.case:
        return _run_one(options)
    parts = choose_parts(options.kinds.split(","))
    shares = share_inputs(parts, options.inputs)
    say = lambda line: print(line, file=sys.stderr, flush=True)  # noqa: E731
    tally = run_campaign(parts, shares, seed=options.seed, seconds=options.seconds, say=say)
    return _report(tally, options.seed)


def _read_options():
    parser = argparse.ArgumentParser(prog="python -m tests.hostile", description=__doc__)
    parser.add_argument("--inputs", type=int, default=10_000, help="inputs in all")
    parser.add_argument("--seed", type=int, default=0)
    kinds = ",".join(dict.fromkeys(name.partition("/")[0] for name in PARTS))
    parser.add_argument("--kinds", default=kinds, help="kinds or parts, with commas: files,store/kills")
    parser.add_argument("--seconds", type=float, help="stop after so many seconds")
    parser.add_argument("--case", help="run one case again, PART:NUMBER, and keep its files")
    parser.add_argument(
        "--defects", nargs="?", const="", help="look for known defects alone: all, or these names, with semicolons"
    )
    return parser.parse_args()


def _report(tally, seed):
    print(tally.table())
    print(f"\n{len(tally.findings)} distinct findings")
    for sentence in tally.sentences(seed):
        print(sentence)
    return 1 if tally.findings else 0


def _run_one(options):
    import tempfile

    part, _, number = options.case.rpartition(":")
    ((name, function),) = choose_parts([part]).items()
    folder = tempfile.mkdtemp(prefix="hostile-")
    tally = Tally()
    tally.add(name, int(number), run_case(name, function, int(number), options.seed, keep=folder))
    print(f"its files are in {folder}", file=sys.stderr)
    return _report(tally, options.seed)


def _check_defects(wanted):
    from tests.hostile.defects import DEFECTS, check_defect

    names, found = wanted or list(DEFECTS), 0
    for name in names:
        began = time.monotonic()
        sentence = check_defect(name)
        found += sentence is not None
        shown = " ".join((sentence or "").split())[:300].encode("ascii", "backslashreplace").decode()
        seconds = time.monotonic() - began
        print(f"{'there' if sentence else 'gone':<6} {name} | {seconds:.1f} s {shown}".rstrip(), flush=True)
    print(f"{found} of {len(names)} defects are there")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
