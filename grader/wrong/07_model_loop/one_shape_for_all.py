# %% [markdown]
# Mistake: Anthropic gets OpenAI's key `parameters`; the model then knows no argument.


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
        definitions.append({"name": tool.model_name, "description": description, "parameters": schema})
    return definitions
