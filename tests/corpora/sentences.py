"""A small parallel corpus in four languages: simple sentences of real words, the Chinese ones with spaces."""

from __future__ import annotations

from pathlib import Path

NOUNS = {
    "de": "Haus Brot Buch Tor Zug Schiff Markt Fenster König Meer Weg Garten",
    "fi": "talo leipä kirja portti juna laiva tori ikkuna kuningas meri polku puutarha",
    "ar": "البيت الخبز الكتاب الباب القطار المركب السوق الشباك الملك البحر الطريق البستان",
    "zh": "房子 面包 书 门 火车 船 市场 窗户 国王 海 路 花园",
}
GERMAN_ARTICLES = "Das Das Das Das Der Das Der Das Der Das Der Der"
ADJECTIVES = {
    "de": "groß alt neu schön seltsam weiß",
    "fi": "suuri vanha uusi kaunis outo valkoinen",
    "ar": "كبير قديم جديد جميل غريب أبيض",
    "zh": "大 旧 新 美丽 奇怪 白",
}


def sentence(language: str, noun: int, adjective: int, *, negated: bool) -> str:
    """A noun has a quality, or has not."""
    subject, quality = NOUNS[language].split()[noun], ADJECTIVES[language].split()[adjective]
    match language:
        case "de":
            return f"{GERMAN_ARTICLES.split()[noun]} {subject} ist {'nicht ' if negated else ''}{quality}."
        case "fi":
            return f"{subject.capitalize()} {'ei ole' if negated else 'on'} {quality}."
        case "ar":
            return f"{subject} {'ليس ' if negated else ''}{quality}."
        case _:
            return f"{subject} {'不' if negated else '很'} {quality} 。"


def write_files(folder: Path, *languages: str) -> None:
    """Write train, dev and test text, NAME.LANGUAGE, line by line the same sentences in each of the languages."""
    for language in languages:
        lines = [
            sentence(language, noun, adjective, negated=negated)
            for adjective in range(6)
            for negated in (False, True)
            for noun in range(12)
        ]
        # Every seventh sentence, and of these every other one, is kept out of training.
        parts = {"dev": lines[::14], "test": lines[7::14]}
        parts["train"] = [line for number, line in enumerate(lines) if number % 7]
        for name, part in parts.items():
            (folder / f"{name}.{language}").write_text("".join(f"{line}\n" for line in part), encoding="utf-8")
