"""The slim indexes that a server has for edges: a few, by what edges keep."""

from __future__ import annotations

import threading
from contextlib import suppress
from functools import partial
from pathlib import Path

from gossamer.errors import GossamerError
from gossamer.sync.history import History
from gossamer.sync.records import Building, Mode
from gossamer.sync.replica import Built, Replica, delete_replica
from gossamer.sync.served import Donor, Served
from gossamer.vectors.vector_index import VectorIndex

__all__ = ["Replicas"]

_MOST_REPLICAS = 4


class Replicas:
    """The replicas of an index, by what edges keep; those not asked for go when there are many."""

    def __init__(self, folder: Path, history: History) -> None:
        self._folder = folder
        self._history = history
        self._lock = threading.Lock()
        self._replicas: dict[str, Replica] = {}
        self._donor: tuple[str, Path, Donor] | None = None
        known = {replica.file for replica in history.replicas().values()}
        for path in folder.glob("slim-*.gsm"):  # of another epoch, or never finished
            if path.name not in known:
                with suppress(OSError):  # in use, where such files stay
                    path.unlink()

    def follow(self, mode: Mode, served: Served, least: int, wait_s: float) -> Built | Building:
        """Bring the replica of a mode to a state of the index.

        What there is already is given if it is newer than `least`; else Building, if it takes
        longer than `wait_s`.
        """
        profile = mode.profile
        with self._lock:
            replica = self._replicas.get(profile)
            if replica is None:
                if not self._make_room():
                    return Building(0, served.catalogue.chunk_count)
                donors = partial(self.donors, but=profile)
                replica = Replica(self._folder, mode, self._history, donors)
                self._replicas[profile] = replica
        built = replica.follow(served, least, wait_s)
        if [*self._history.replicas()][-1:] != [profile]:
            self._history.note_pull(profile)
        return built

    def donors(self, epoch: str, but: str = "") -> list[Donor]:
        """Give a replica whose vectors are as exact as any, so that they need not be embedded.

        Nothing if there is none of this epoch, but for one of a profile.
        """
        for profile, replica in reversed(self._history.replicas(epoch).items()):
            path = self._folder / replica.file
            if Mode.parse(profile).scalar != "f16" or not replica.file or profile == but:
                continue
            known = self._donor
            if known is not None and known[:2] == (epoch, path):
                return [known[2]]
            with suppress(GossamerError, OSError):
                donor = Donor(VectorIndex.open(path))
                self._donor = (epoch, path, donor)
                return [donor]
        return []

    def drop(self, mode: Mode, built: Built) -> None:
        """Build a replica anew whose file went, unless it went because there is a newer one."""
        with self._lock:
            replica = self._replicas.get(mode.profile)
        if replica is not None and replica.drop(built):
            self._history.forget_replica(mode.profile)

    def close(self) -> None:
        """Stop what is being made; what was made stays."""
        with self._lock:
            replicas = list(self._replicas.values())
        for replica in replicas:
            replica.stop()

    def _make_room(self) -> bool:
        """Let go of what was asked for longest ago; False if all that there is is being made."""
        known = [*self._history.replicas()]
        known += [profile for profile in self._replicas if profile not in known]
        excess = len(known) + 1 - _MOST_REPLICAS
        for profile in known:
            if excess <= 0:
                break
            replica = self._replicas.get(profile)
            if replica is not None and not replica.retire():
                continue
            self._replicas.pop(profile, None)
            self._history.forget_replica(profile)
            delete_replica(self._folder, Mode.parse(profile))
            excess -= 1
        return excess <= 0
