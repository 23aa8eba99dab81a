"""How a stated percentile is named in a record: the fraction as the shortest decimal, "0.5", "0.99", "0.999"."""


def fraction_name(percent: float) -> str:
    """For 99.9 percent "0.999"."""
    return f"{percent / 100:.10f}".rstrip("0").rstrip(".")
