"""Ask the public advisory database about every locked package: `make audit`.

pip-audit does the work. Where the database cannot be reached it would speak of the first package that it did not find;
this looks first, and says in one sentence that nothing was checked.
"""

from __future__ import annotations

import json
import subprocess
import sys
import urllib.error
import urllib.request
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
PIP_AUDIT = "pip-audit@2.10.1"
DATABASE = "https://api.osv.dev/v1/vulns/PYSEC-2018-28"
"""An old advisory of the open database OSV, about the package requests; it names what is "affected"."""
LOCKS = ("requirements.lock", "requirements-dev.lock")


def obstacle(address: str = DATABASE) -> str | None:
    """Why the advisory data cannot be had here, or None."""
    try:
        with urllib.request.urlopen(address, timeout=20) as answer:
            known = json.load(answer)
    except urllib.error.HTTPError as error:
        return f"{address} answers {error.code}"
    except (OSError, ValueError) as error:
        return f"{address} cannot be read ({getattr(error, 'reason', None) or type(error).__name__})"
    return None if "affected" in known else f"{address} names nothing that is affected"


def main(address: str = DATABASE) -> int:
    """0: no locked package is known to be vulnerable; 1: one is; 2: nothing could be checked."""
    why = obstacle(address)
    if why is not None:
        print(f"error: nothing was checked: the advisory data are out of reach, {why}", file=sys.stderr)
        return 2
    uv = Path(sys.executable).with_name("uv")
    files = [word for lock in LOCKS for word in ("-r", lock)]
    options = ["--strict", "--vulnerability-service", "osv", "--disable-pip", "--require-hashes", *files]
    return subprocess.run([uv, "tool", "run", PIP_AUDIT, *options], cwd=ROOT, check=False).returncode


if __name__ == "__main__":
    sys.exit(main())
