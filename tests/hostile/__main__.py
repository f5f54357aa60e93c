"""``python -m tests.hostile``: the campaign, one case of it again, or the defects that were mended."""

import argparse
import sys

from tests.hostile.campaign import Tally, limit_memory, run_campaign, run_case
from tests.hostile.parts import PARTS, choose_parts, share_inputs


def main():
    options = _read_options()
    limit_memory()
    if options.defects:
        return _check_defects()
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
    parser.add_argument("--defects", action="store_true", help="look for every known defect by itself")
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


def _check_defects():
    from tests.hostile.defects import DEFECTS, check_defect

    found = 0
    for name in DEFECTS:
        sentence = check_defect(name)
        found += sentence is not None
        print(f"{'there' if sentence else 'gone':<6} {name}{': ' + sentence if sentence else ''}"[:300], flush=True)
    print(f"{found} of {len(DEFECTS)} defects are there")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
