"""Classes of English words: those that the grammar writes in such places."""

from __future__ import annotations

from nmt.toy.words import word_classes


def test_words_and_their_classes() -> None:
    classes = word_classes()
    for name, some in {
        "article": {"a", "an", "the"},
        "preposition": {"of", "for", "against", "behind"},
        "noun": {"minister", "children", "law", "city", "bridge"},
        "adjective": {"national", "old", "first"},
        "place": {"city", "villages", "france"},
    }.items():
        assert some <= classes[name]
    assert not classes["noun"] & classes["article"]
    assert all(word == word.lower() and " " not in word for words in classes.values() for word in words)
