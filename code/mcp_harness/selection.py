"""Which k of many tools a model is shown, and what their definitions cost on every turn.

A scorer in the manner of BM25 over the words of a tool: its name, its server, its description,
its parameters. It knows words and no meanings: "remove" does not find "delete". It needs no
model, no network and no training, and it gives the same answer every time.

Source of the formula: Robertson and Zaragoza, The Probabilistic Relevance Framework (2009).
"""

import json
import math
import re
from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Sequence
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from .namespace import MergedTool

BYTES_PER_TOKEN = 4  # a rule of thumb for English and JSON; each provider counts in its own way
SATURATION, LENGTH_SHARE = 1.2, 0.75  # k1 and b of BM25, the customary values
NAME_WEIGHT = 3  # a word in a tool's name counts like three in its description
WORD = re.compile(r"[A-Z]?[a-z]+|[A-Z]+(?![a-z])|[^\W\d_a-zA-Z]+|\d+")  # snake_case and camelCase come apart
STOP = """a about all an and any are as at be by can do for from have how i in is it its me my of on or our please
that the their there these they this to us was we what when where which who will with you your"""
STOP_WORDS = frozenset(STOP.split())


def words(text: str) -> list[str]:
    """The words of a text, in lower case and without the commonest endings and the commonest words."""
    return [stem(word) for word in (found.lower() for found in WORD.findall(text)) if word not in STOP_WORDS]


def stem(word: str) -> str:
    """A word without a plural or an -ing: "issues" and "issue" are one word here."""
    if word.endswith("ies") and len(word) > 4:
        return word[:-3] + "y"
    if word.endswith(("ches", "shes", "xes", "sses")):
        return word[:-2]
    if word.endswith("s") and not word.endswith(("ss", "us", "is")) and len(word) > 3:
        return word[:-1]
    return word[:-3] if word.endswith("ing") and len(word) > 6 else word


class Index:
    """The tools of a table, ready to be asked. Make a new one when the table changes."""

    def __init__(self, tools: Iterable["MergedTool"]) -> None:
        self.tools = list(tools)
        counts = [Counter(tool_words(tool)) for tool in self.tools]
        self._lengths = [sum(count.values()) for count in counts]
        self._average = sum(self._lengths) / len(self._lengths) if counts else 1.0
        self._postings: dict[str, list[tuple[int, int]]] = defaultdict(list)  # word → (place, how often)
        for place, count in enumerate(counts):
            for word, times in count.items():
                self._postings[word].append((place, times))

    def scores(self, query: str) -> list[float]:
        """A score for each tool, in the order of the table; 0 where no word is shared."""
        scores = [0.0] * len(self.tools)
        for word in set(words(query)):
            found = self._postings.get(word, ())
            rarity = math.log(1 + (len(self.tools) - len(found) + 0.5) / (len(found) + 0.5))
            for place, times in found:
                length = 1 - LENGTH_SHARE + LENGTH_SHARE * self._lengths[place] / self._average
                scores[place] += rarity * times * (SATURATION + 1) / (times + SATURATION * length)
        return scores

    def choose(self, query: str, k: int, keep: Collection[str] = ()) -> list["MergedTool"]:
        """At most k tools, the best first; equal scores stay in the table's order.

        `keep` are canonical names that come first whatever their score: tools in use, or pinned
        by the user. Where fewer than k share a word with the query, the table's first fill up.
        """
        scores = self.scores(query)
        kept = [tool.canonical_name not in keep for tool in self.tools]
        order = sorted(range(len(self.tools)), key=lambda place: (kept[place], -scores[place], place))
        return [self.tools[place] for place in order[: max(k, 0)]]


def tool_words(tool: "MergedTool") -> list[str]:
    """Whatever says what a tool is for."""
    schema = tool.definition.get("inputSchema", {})
    properties = schema.get("properties") if isinstance(schema, dict) else None
    parameters: list[str] = []
    for name, part in properties.items() if isinstance(properties, dict) else ():
        about = part.get("description") if isinstance(part, dict) else None
        parameters += [name, about if isinstance(about, str) else ""]
    title = tool.definition.get("title")
    about_it = [tool.server_name, title if isinstance(title, str) else "", tool.description, *parameters]
    return words(tool.local_name) * NAME_WEIGHT + words(" ".join(about_it))


def recall(found: Sequence[Collection[str]], wanted: Sequence[Collection[str]]) -> float:
    """The share of the wanted tools that were found, over all queries."""
    hits = sum(len(set(right) & set(names)) for names, right in zip(found, wanted, strict=True))
    return hits / sum(len(set(right)) for right in wanted)


def estimate_tokens(value: Any) -> int:
    """About how many tokens a value costs: the bytes of its compact JSON, divided by four.

    Good enough to compare and to plan; the invoice uses the provider's own count.
    """
    text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False, separators=(",", ":"))
    return math.ceil(len(text.encode("utf-8", "replace")) / BYTES_PER_TOKEN)
