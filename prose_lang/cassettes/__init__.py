"""Cassettes: what services answered, kept in a file, so that a run can be had again without asking anybody.

    Cassette    a file, and what it is for: recording, replaying, or neither
    Part        one scenario, one test or one run of it: requests that repeat are answered in the order of the recording
    Take        one request with what came of it: a line of the file

Who records and replays is `handlers/cassette.py`; what a request consists of is decided there.
"""

from prose_lang.cassettes.cassette import MODES, Cassette, Mode, Part
from prose_lang.cassettes.take import Take

__all__ = ["MODES", "Cassette", "Mode", "Part", "Take"]
