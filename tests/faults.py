"""For tests that go on after a fault. run.sh's summary has only the end of a test's output, so they repeat there what was wrong."""


def repeat(faults):
    """Prints the first ten faults again, each in one line."""
    for fault in faults[:10]:
        print("FAILED", " ".join(fault.split())[:200])
