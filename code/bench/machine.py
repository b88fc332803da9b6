"""What the measurements were made on, without names: no host, no user, no path."""

import os
import platform
from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True)
class Machine:
    """One machine and its versions, as the tables name them."""

    cores: int
    processor: str
    memory_gb: float
    system: str
    python: str
    packages: dict[str, str]

    def sentence(self) -> str:
        """In one sentence."""
        packages = ", ".join(f"{name} {version}" for name, version in self.packages.items())
        return (
            f"{self.cores} cores ({self.processor}), {self.memory_gb:.0f} GB of memory, {self.system}, "
            f"Python {self.python}, {packages}"
        )


def describe(packages: dict[str, str]) -> Machine:
    """This machine."""
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / 2**30
    system = f"{platform.system()} {'.'.join(platform.release().split('.')[:2])} {platform.machine()}"
    return Machine(cores, processor(), round(memory, 1), system, platform.python_version(), packages)


def processor() -> str:
    """The processor's name where Linux tells it."""
    try:
        lines = Path("/proc/cpuinfo").read_text().splitlines()
    except OSError:
        return platform.processor() or "unknown"
    names = [line.split(":", 1)[1].strip() for line in lines if line.startswith("model name")]
    return names[0] if names else platform.machine()


def load() -> float:
    """The load of the last minute."""
    return os.getloadavg()[0]
