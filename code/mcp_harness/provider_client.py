"""Optional: the official package of a provider as the model of `converse`.

    from openai import OpenAI
    converse(openai_model(OpenAI(), "…"), host, "What is in my notes?", format=FORMATS["openai"])

You make the client, with your key, base address and limits, and give it here; this module
imports no provider's package. The functions hand plain JSON in and take plain JSON out, so
whatever a package adds to an answer is sent back as it came. Their exceptions pass through.

Written for openai 3, anthropic 2 and google-genai 3 (`pip install -e ".[model]"` in a clone of the course);
the tests run each against a stand-in on the loopback address.
"""

from typing import Any

from .model import Message, Model, Request

MAX_TOKENS = 4096  # of one answer; Anthropic wants a number


def openai_model(client: Any, name: str, **options: Any) -> Model:
    """Chat completions of an `openai.OpenAI` client, for the format "openai"."""

    def ask(request: Request) -> Message:
        messages = [{"role": "system", "content": request.system}, *request.messages]
        tools = {"tools": request.tools} if request.tools else {}  # an empty list is refused
        return as_json(client.chat.completions.create(model=name, messages=messages, **tools, **options))

    return ask


def responses_model(client: Any, name: str, **options: Any) -> Model:
    """The Responses API of an `openai.OpenAI` client, for the format "responses". Nothing is stored at the provider."""
    options = {"store": False, "include": ["reasoning.encrypted_content"], **options}

    def ask(request: Request) -> Message:
        sent = {"instructions": request.system, "input": request.messages, "tools": request.tools}
        return as_json(client.responses.create(model=name, **sent, **options))

    return ask


def anthropic_model(client: Any, name: str, max_tokens: int = MAX_TOKENS, **options: Any) -> Model:
    """The Messages API of an `anthropic.Anthropic` client, for the format "anthropic"."""

    def ask(request: Request) -> Message:
        sent = {"system": request.system, "messages": request.messages, "tools": request.tools}
        return as_json(client.messages.create(model=name, max_tokens=max_tokens, **sent, **options))

    return ask


def gemini_model(client: Any, name: str, **options: Any) -> Model:
    """generateContent of a `google.genai.Client`, for the format "gemini". The package calls no tools by itself."""

    def ask(request: Request) -> Message:
        config = {
            "system_instruction": request.system,
            "tools": request.tools,
            "automatic_function_calling": {"disable": True},
            **options,
        }
        response = client.models.generate_content(model=name, contents=request.messages, config=config)
        return dict(response.model_dump(mode="json", by_alias=True, exclude_none=True))

    return ask


def as_json(response: Any) -> Message:
    """What the provider sent, without what the package added."""
    return dict(response.to_dict(mode="json", exclude_unset=True))
