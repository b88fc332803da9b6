# %% [markdown]
# Mistake: the canonical name goes to the provider, which takes no `/` and refuses the whole request.


# %% id="task1" answer=true
def for_openai(tools):
    """The definitions for OpenAI's chat completions."""
    definitions = []
    for tool in tools:
        description = tool.definition.get("description", "")
        function = {"name": tool.model_name, "description": description, "parameters": tool.definition["inputSchema"]}
        definitions.append({"type": "function", "function": function})
    return definitions


def for_anthropic(tools):
    """The definitions for Anthropic's Messages API."""
    definitions = []
    for tool in tools:
        description, schema = tool.definition.get("description", ""), tool.definition["inputSchema"]
        definitions.append({"name": tool.canonical_name, "description": description, "input_schema": schema})
    return definitions
