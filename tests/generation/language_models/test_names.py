"""Names, settings from the environment, prices and counted tokens."""

import pytest

from generation.language_models.calls import Message, NoSuchModel
from generation.language_models.names import DEFAULT_WINDOW, is_model_name, model_settings
from generation.language_models.prices import cost
from generation.language_models.tokens import count_messages, encoding_of
from ingestion.errors import BadInput


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("openai:gpt-5-mini", True),
        ("ollama:llama3.2:3b", True),
        ("extractive", False),
        ("openai:", False),
        (":x", False),
        ("", False),
        ("openai:a b", False),
    ],
)
def test_the_form_of_a_name(text, expected):
    assert is_model_name(text) is expected


@pytest.mark.parametrize("name", ["nobody:model", "gpt-5-mini", "openai:"])
def test_an_unknown_provider_is_refused_with_the_known_ones(name):
    with pytest.raises(NoSuchModel, match=r"openai, anthropic, google, ollama") as caught:
        model_settings(name, environment={})
    assert name in caught.value.message


def test_defaults_are_what_is_known_of_the_model_or_said_aloud():
    known = model_settings("openai:gpt-4o", environment={})
    assert (known.window, known.token_margin, known.price_list, known.is_local) == (128_000, 1.0, "openai", False)
    assert known.notes == ()
    other = model_settings("openai:mine", environment={"OPENAI_BASE_URL": "http://127.0.0.1:8080/v1"})
    assert (other.window, other.token_margin, other.price_list) == (DEFAULT_WINDOW, 1.3, None)
    assert ["8192" in note or "no price" in note for note in other.notes] == [True, True]
    assert model_settings("ollama:qwen3", environment={}).is_local
    assert not model_settings("ollama:qwen3-cloud", environment={}).is_local


@pytest.mark.parametrize(
    ("text", "expected"),
    [("3", 3), ("8,openai:gpt-4o=2", 2), ("8, openai:*=4 ", 4), ("openai:*=4,openai:gpt-4o=2,9", 2), ("ollama:*=1", 8)],
)
def test_a_limit_may_be_given_for_some_models(text, expected):
    assert model_settings("openai:gpt-4o", environment={"LITHOUSE_MODEL_CONCURRENCY": text}).concurrency == expected


@pytest.mark.parametrize(
    ("variable", "value"),
    [
        ("LITHOUSE_MODEL_WINDOW", "many"),
        ("LITHOUSE_MODEL_CONCURRENCY", "0"),
        ("LITHOUSE_MODEL_CONCURRENCY", "2,3"),
        ("LITHOUSE_MODEL_REQUESTS_PER_MINUTE", "-1"),
        ("LITHOUSE_MODEL_TOKENS_PER_MINUTE", "1.5"),
        ("LITHOUSE_MODEL_TIMEOUT", "nan"),
        ("LITHOUSE_MODEL_OUTPUT", "xml"),
        ("LITHOUSE_MODEL_IS_FREE", "perhaps"),
        ("LITHOUSE_MODEL_PRICE", "2"),
        ("OPENAI_BASE_URL", "127.0.0.1:8080"),
    ],
)
def test_a_bad_value_is_refused_with_its_variable(variable, value):
    with pytest.raises(BadInput, match=variable):
        model_settings("openai:gpt-4o", environment={variable: value})


@pytest.mark.parametrize(
    "address",
    [
        "http://u:hunter2@[bad",
        "http://[bad",
        "http://127.0.0.1:99999/v1",
        "http://127.0.0.1:0/v1",
        "http://u:hunter2@127.0.0.1:port/v1",
        "http://u:hunter2/x@models.example.org/v1",
        "http://two words/v1",
        "http://a..b/v1",
    ],
)
def test_an_address_that_is_none_is_refused_with_its_variable_and_without_its_password(address):
    with pytest.raises(BadInput, match="OPENAI_BASE_URL") as caught:
        model_settings("openai:gpt-4o", environment={"OPENAI_BASE_URL": address})
    assert "hunter2" not in caught.value.message


def test_arguments_come_before_the_environment():
    environment = {"LITHOUSE_MODEL_WINDOW": "100", "LITHOUSE_MODEL_CONCURRENCY": "2", "LITHOUSE_MODEL_OUTPUT": "tool"}
    found = model_settings("openai:m", environment=environment, window=500, concurrency=3)
    assert (found.window, found.concurrency, found.output) == (500, 3, "tool")
    assert found.deciding == {"temperature": 0.0, "seed": 0, "output": "tool"}


@pytest.mark.parametrize(
    ("name", "environment", "is_known"),
    [
        ("openai:gpt-4o", {}, True),
        ("openai:gpt-4o", {"OPENAI_BASE_URL": "http://127.0.0.1:1/v1"}, False),
        ("openai:gpt-4o", {"OPENAI_BASE_URL": "https://models.example.org/v1"}, False),
        ("openai:gpt-4o-like", {}, False),
        ("anthropic:claude-haiku-4-5", {}, True),
        ("anthropic:claude-unheard-of", {}, False),
    ],
)
def test_a_price_is_known_of_the_providers_own_server_and_never_made_up(name, environment, is_known):
    settings = model_settings(name, environment=environment)
    assert (cost(settings, 1000, 100) is not None) is is_known
    assert any("no price" in note for note in settings.notes) is not is_known


def test_what_the_server_had_in_its_cache_costs_less():
    settings = model_settings("openai:gpt-4o", environment={})
    assert 0 < cost(settings, 1000, 0, prompt_cached_tokens=900) < cost(settings, 1000, 0)


@pytest.mark.parametrize(
    ("name", "encoding", "is_own"),
    [
        ("openai:gpt-5-mini", "o200k_base", True),
        ("openai:gpt-4.1", "o200k_base", True),
        ("openai:o4-mini", "o200k_base", True),
        ("openai:gpt-4-turbo", "cl100k_base", True),
        ("openai:gpt-oss-20b", "o200k_harmony", True),
        ("openrouter:meta-llama/llama-3.3-70b", "llama3", True),
        ("ollama:qwen3:8b", "qwen3", True),
        ("anthropic:claude-haiku-4-5", "qwen3", False),
    ],
)
def test_the_models_own_tokenizer_counts_where_there_is_one(name, encoding, is_own):
    found = encoding_of(name)
    assert (found.name, found.is_own) == (encoding, is_own)


def test_a_prompt_counts_more_than_its_texts_and_a_schema_more_than_none():
    settings = model_settings("openai:other", environment={})
    messages = [Message("system", "You read."), Message("user", "Read 2005.11401 <|endoftext|> now.")]
    texts = sum(len(m.text.split()) for m in messages)
    assert texts < count_messages(settings, messages) < count_messages(settings, messages, {"type": "object"})
