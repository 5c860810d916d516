"""What a prompt asks for that would be a symptom elsewhere: repetition, other scripts, talk of encodings or of tokens."""

from __future__ import annotations

import re


def _any(words: str, others: str = "") -> re.Pattern[str]:
    """Whole words of scripts that set them apart, and pieces of those that do not."""
    return re.compile(rf"\b(?:{'|'.join(words.split())})\b" + (f"|{'|'.join(others.split())}" if others else ""), re.IGNORECASE)


_REPETITION = _any(
    r"repeat\w* times again\s+and\s+again over\s+and\s+over fill(?:ed)? zero(?:e?s)? ones pattern ascii art banner"
    r" grid matrix refrain chorus mantra"
    r" chant litany lullaby songs? sing lyrics verse ruler divider border padding dots? dash(?:es)? stars?"
    r" asterisks? progress\s+bar placeholder dummy"
    r" lorem sample\s+data csv rows? tables? inserts? base64 hex binary bits dump mal wiederhol\w* fois répét\w*"
    r" veces repit\w* vezes repet\w* volte"
    r" ripet\w* раз повтор\w*",
    "次 遍 重复 重複 回 繰り返 번 반복 बार दोहरा مرة مرات كرر lần lặp",
)
_LANGUAGES = _any(
    r"translat\w* languages? script alphabets? writing written characters? letters? pronounc\w* pronunciation"
    r" etymolog\w* origins? words? names? named"
    r" called mean(?:s|ing)? native original transliterat\w* romani[sz]\w* greet\w* hello thank\s+you multilingual"
    r" bilingual unicode emoji symbols?"
    r" kanji hanzi hiragana katakana kana hangul pinyin cyrillic devanagari sanskrit haiku sushi zen anime manga"
    r" samurai dynasty emperor quran torah"
    r" bible mythology philosoph\w* chinese china japan\w* korea\w* russia\w* ukrain\w* bulgaria\w* serbia\w* greek"
    r" greece arab\w* persian? iran\w*"
    r" hebrew israel\w* jewish hindi india\w* urdu pakistan\w* bengali bangla\w* tamil telugu thai\w* vietnam\w*"
    r" khmer cambodia\w* burm\w* georgia\w*"
    r" armenia\w* ethiop\w* amharic mongolia\w* tibet\w* bhutan taiwan\w* hong\s+kong singapore tokyo kyoto osaka"
    r" beijing shanghai seoul moscow kyiv"
    r" kiev athens cairo tehran delhi mumbai bangkok asia\w* turk\w* egypt\w* endonyms? exonyms? übersetz\w*"
    r" sprachen? schrift heißt tradu\w* langues?"
    r" idiomas? lingue? перев\w* язык\w*",
    "翻译 翻譯 语言 語 文字 訳 번역 언어 अनुवाद भाषा ترجم لغة לתרגם שפה",
)
_ENCODINGS = _any(
    r"mojibake encod\w* utf-?8 latin-?1 iso-?8859\S* cp-?125\d windows-?125\d unicode codepoints? code\s+points? garbled",
    r"乱码 文字化け кодировк Ã U\+FFFD",
)
_TOKENS = _any(
    r"tokens? tokeni[sz]\w* chat\s?templates? chatml end[-\s]of[-\s](?:text|sequence|sentence|turn) eos bos llama"
    r" mistral transformers? prompt\s+format"
    r" language\s+models? gemma"
)


def repetition(prompt: str) -> bool:
    """Whether an honest answer may repeat itself."""
    return _REPETITION.search(prompt) is not None


def languages(prompt: str) -> bool:
    """Whether an honest answer may hold words of another script."""
    return _LANGUAGES.search(prompt) is not None


def encodings(prompt: str) -> bool:
    """Whether an honest answer may show broken text on purpose."""
    return _ENCODINGS.search(prompt) is not None


def tokens(prompt: str) -> bool:
    """Whether an honest answer may name special tokens."""
    return _TOKENS.search(prompt) is not None
