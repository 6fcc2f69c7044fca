"""The node that trees of lineage are made of."""

from dataclasses import dataclass, field


@dataclass
class Node:
    """One step back: what kind of thing, its id, a line about it, more about it, and what it came from."""

    kind: str
    id: str
    label: str
    detail: dict = field(default_factory=dict)
    children: list["Node"] = field(default_factory=list)

    def as_json(self) -> dict:
        return {
            "kind": self.kind,
            "id": self.id,
            "label": self.label,
            "detail": self.detail,
            "children": [child.as_json() for child in self.children],
        }
