"""Refusals: a model that declines is neither wrong nor unreadable."""

from __future__ import annotations

import re

_HEAD = 400  # a refusal says so at once; further down the words are quotations and caveats
_DO = "(?:help|assist|comply|provide|answer|do that|fulfil)"
_ENGLISH = (
    r"I(?:'m| am) (?:very |really |so )?(?:sorry|afraid),? (?:but |that )?I (?:can(?:no|')t|am (?:not able|unable)|won't)",
    r"(?:sorry|apologi[sz]e),? (?:but )?I (?:can(?:no|')t|am (?:not able|unable)|won't|'m (?:not able|unable))",
    rf"I (?:can(?:no|')t|won't|will not|am (?:not able|unable) to) {_DO}",
    rf"I'm (?:not able|unable) to {_DO}",
    r"I must (?:decline|refuse)",
    r"as an AI(?: language)?(?: model| assistant)?,? I (?:can(?:no|')t|do not|don't|am (?:not able|unable))",
    r"I (?:do not|don't) (?:feel comfortable|have the ability)",
)
_OTHERS = (
    r"(?:es tut mir leid|tut mir leid|leider),? (?:aber )?(?:ich )?(?:kann|darf) (?:ich )?(?:\w+ ){0,4}nicht",
    r"(?:je suis|je) désolée?,? (?:mais )?je ne (?:peux|puis) pas",
    r"je ne (?:peux|puis) pas (?:vous |t')?(?:aider|répondre|fournir)",
    r"lo siento,? (?:pero )?no puedo",
    r"(?:desculpe|lamento|sinto muito),? (?:mas )?(?:eu )?não (?:posso|consigo)",
    r"mi dispiace,? (?:ma )?non posso",
    r"(?:извините|к сожалению|простите),? (?:но )?я не могу",
    r"(?:很)?抱歉，?(?:但)?我(?:无法|不能|沒辦法|没办法)",
    r"对不起，?(?:但)?我(?:无法|不能)",
    r"申し訳(?:ありません|ございません)(?:が)?、?[^。\n]{0,30}(?:できません|いたしかねます)",
    r"죄송(?:합니다|하지만)[^.\n]{0,30}(?:없습니다|수 없)",
    r"(?:عذر[اًا]+|آسف|أعتذر)،? ?(?:ولكن|لكن)?(?:ني)? ?لا (?:أستطيع|يمكنني)",
    r"(?:मुझे खेद है|क्षमा करें|माफ़ कीजिए),? (?:लेकिन )?[^।\n]{0,40}(?:नहीं कर सकता|नहीं दे सकता|असमर्थ)",
    r"maaf,? (?:tetapi |tapi )?saya tidak (?:bisa|dapat)",
    r"üzgünüm,? (?:ama |ancak )?[^.\n]{0,40}(?:yapamam|edemem|veremem|olamam)",
)
_REFUSAL = re.compile("|".join((*_ENGLISH, *_OTHERS)), re.IGNORECASE)
_APOSTROPHES = str.maketrans("’‘`", "'''")


def refusal_in(text: str, declared: str | None = None) -> str:
    """The refusing sentence, empty when there is none. `declared` is the protocol's own field for it."""
    if declared:
        return declared
    head = text[:_HEAD].translate(_APOSTROPHES)
    found = _REFUSAL.search(head)
    if not found:
        return ""
    end = head.find("\n", found.end())
    return text[found.start() : end if end >= 0 else len(head)].strip()
