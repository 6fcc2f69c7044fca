import lancedb
import pyarrow as pa
import pytest
from lancedb.embeddings import get_registry

from indexes.embedding import Embedder, EmbedderIdentity
from indexes.lance_embedding import configuration, identity_of, register
from ingestion.errors import BadInput

OTHER = EmbedderIdentity("someone's model", "0" * 64, 512, 8)


def stored(identity: EmbedderIdentity) -> pa.Schema:
    schema = pa.schema([pa.field("vector", pa.list_(pa.float32(), identity.dimensions))])
    database = lancedb.connect("memory://")
    return database.create_table("t", schema=schema, embedding_functions=[configuration(identity)]).schema


def test_the_packaged_model_is_in_lancedbs_registry():
    identity = Embedder().identity
    function = (
        get_registry()
        .get("minilm-int8")
        .create(
            name=identity.name,
            sha256=identity.sha256,
            max_tokens=identity.max_tokens,
            dimensions=identity.dimensions,
            max_retries=0,
        )
    )
    assert function.ndims() == 384
    assert len(function.compute_query_embeddings("a query")[0]) == 384


@pytest.mark.parametrize("identity", [OTHER, EmbedderIdentity("minilm-int8", "a" * 64, 128, 384)])
def test_vx03_a_table_knows_its_embedder(identity):
    assert identity_of(stored(identity)) == identity


def test_an_entry_with_another_file_does_not_embed():
    entry = configuration(EmbedderIdentity("minilm-int8", "a" * 64, 128, 384)).function
    with pytest.raises(BadInput, match="aaaa"):
        entry.generate_embeddings(["a text"])


def test_registering_twice_gives_the_same_entry():
    assert register("twice") is register("twice")


@pytest.mark.parametrize("metadata", [None, {"embedding_functions": "[]"}, {"embedding_functions": "no json"}])
def test_a_table_that_does_not_say_has_no_identity(metadata):
    assert identity_of(pa.schema([], metadata=metadata)) is None
