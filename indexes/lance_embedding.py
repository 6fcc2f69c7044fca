"""The embedder as LanceDB knows it: an entry in its embedding registry, and an identity in each table.

LanceDB stores only the arguments passed to `create()` as a table's identity and compares nothing, so
all of the identity is passed, and compared by us. How texts become vectors is in `embedding`.
"""

import json
from typing import Any

import numpy as np
import pyarrow as pa
from lancedb.embeddings import EmbeddingFunctionConfig, TextEmbeddingFunction, get_registry
from pydantic import PrivateAttr

from indexes.embedding import Embedder, EmbedderIdentity
from ingestion.errors import BadInput

VECTOR = "vector"
_SOURCE = "text"  # LanceDB wants a source column's name; ours is made from title and abstract, not stored
_METADATA = b"embedding_functions"
MINILM = "minilm-int8"


class RegisteredEmbedder(TextEmbeddingFunction):
    """A registry entry that carries an `EmbedderIdentity`; loads its model when first used."""

    name: str
    sha256: str
    max_tokens: int
    dimensions: int
    _embedder: Embedder | None = PrivateAttr(default=None)

    def ndims(self) -> int:
        return self.dimensions

    def generate_embeddings(self, texts: Any, *_: Any, **__: Any) -> list[Any]:
        """For who opens our tables with LanceDB alone; the index embeds through `embedding.embed_each`.

        Raises:
            BadInput: these vectors were made by an embedder that is not part of Lithouse, or by another file.
        """
        if self._embedder is None:
            embedder = Embedder(max_tokens=self.max_tokens)
            wanted = EmbedderIdentity(self.name, self.sha256, self.max_tokens, self.dimensions)
            if embedder.identity != wanted:
                raise BadInput("the table's embedder is not at hand", which=f"{wanted}; here: {embedder.identity}")
            self._embedder = embedder
        return list(self._embedder.embed(list(texts)))


def configuration(identity: EmbedderIdentity) -> EmbeddingFunctionConfig:
    """What `create_table(embedding_functions=[…])` takes to store the identity with the table."""
    function = register(identity.name).create(
        name=identity.name,
        sha256=identity.sha256,
        max_tokens=identity.max_tokens,
        dimensions=identity.dimensions,
        max_retries=0,  # the default of 7 sleeps for minutes on any error
    )
    return EmbeddingFunctionConfig(vector_column=VECTOR, source_column=_SOURCE, function=function)


def register(name: str) -> type[RegisteredEmbedder]:
    """The registry entry of an embedder, made if there is none: writing to its table needs one."""
    registry = get_registry()
    try:
        return registry.get(name)
    except KeyError:
        # LanceDB writes the alias into the class, so each name needs a class of its own.
        entry = type("RegisteredEmbedder", (RegisteredEmbedder,), {"__module__": __name__})
        return registry.register(name)(entry)


def identity_of(schema: pa.Schema) -> EmbedderIdentity | None:
    """The embedder that a table's vectors were made by, as its metadata says; None if it does not say."""
    try:
        (entry,) = json.loads((schema.metadata or {})[_METADATA])
        model = entry["model"]
        return EmbedderIdentity(model["name"], model["sha256"], model["max_tokens"], model["dimensions"])
    except (KeyError, ValueError, TypeError):
        return None


def vectors_of(rows: pa.Table | pa.RecordBatch) -> np.ndarray:
    """The rows' vectors, float32 (rows, dimensions)."""
    column = rows[VECTOR]
    column = column.combine_chunks() if isinstance(column, pa.ChunkedArray) else column
    return column.flatten().to_numpy().reshape(len(column), column.type.list_size)


register(MINILM)
