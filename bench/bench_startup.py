"""Start-up: wall time of fresh processes, the best of several.

python bench/bench_startup.py
"""

from __future__ import annotations

import subprocess
import sys
import tempfile
import time
from pathlib import Path

ROOT = Path(__file__).parent.parent
SCRIPT = "r: [a, b]\ne: [{score: 0.4, suggestions: x}, {score: 0.85}]\n"


def best(command: list[str], samples: int = 9) -> float:
    """Seconds of the quickest run; start-up is what is left when nothing else happens."""
    times = []
    for _ in range(samples):
        began = time.perf_counter()
        subprocess.run(command, check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, cwd=ROOT)
        times.append(time.perf_counter() - began)
    return min(times)


def main() -> None:
    python = sys.executable
    nothing = best([python, "-c", "pass"])
    print(f"python -c pass               {nothing:.3f} s")
    print(f"import prose_lang            {best([python, '-c', 'import prose_lang']):.3f} s (aim ≤ 0.15)")
    print(f"prose --help                 {best([python, '-m', 'prose_lang', '--help']):.3f} s (aim ≤ 0.25)")
    with tempfile.TemporaryDirectory() as folder:
        script = Path(folder, "script.yaml")
        script.write_text(SCRIPT, encoding="utf-8")
        run = [python, "-m", "prose_lang", "run", "refine", "--script", str(script), "--json", "--no-record"]
        print(
            f"prose run, scripted refine   {best([*run, 'refiner=r', 'evaluator=e', 'task_brief=T']):.3f} s (aim ≤ 0.4)"
        )


if __name__ == "__main__":
    main()
