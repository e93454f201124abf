"""Tells the language of a text by its script and, where Latin letters leave it open, by its common words."""

from __future__ import annotations

import re
import unicodedata
from collections import Counter
from functools import lru_cache

_SCRIPTS = {
    "ARABIC": "ar",
    "ARMENIAN": "hy",
    "BENGALI": "bn",
    "CJK": "zh",
    "CYRILLIC": "ru",
    "DEVANAGARI": "hi",
    "ETHIOPIC": "am",
    "GEORGIAN": "ka",
    "GREEK": "el",
    "GUJARATI": "gu",
    "GURMUKHI": "pa",
    "HANGUL": "ko",
    "HEBREW": "he",
    "HIRAGANA": "ja",
    "KANNADA": "kn",
    "KATAKANA": "ja",
    "KHMER": "km",
    "LAO": "lo",
    "LATIN": "latin",
    "MALAYALAM": "ml",
    "MYANMAR": "my",
    "SINHALA": "si",
    "TAMIL": "ta",
    "TELUGU": "te",
    "THAI": "th",
}

_TELLING = (
    ("ar", "پچژگ", "fa"),
    ("ar", "ٹڈڑےں", "ur"),
    ("ru", "іїєґІЇЄҐ", "uk"),
    ("ru", "ўЎ", "be"),
    ("ru", "ђћџљњјЂЋЏЉЊЈ", "sr"),
)
"""Letters that one language has and the commonest one of its script has not."""

_WORDS = {
    "en": "the of and to in is that it was for on are with as be this have from or by not but what all "
    "were your can there an which do how if will about then them would so has more two no way "
    "could my than who now did get made may you i we he she they hello yes please here's it's i'm "
    "don't let's",
    "de": "der die und in den von zu das mit sich des auf für ist im dem nicht ein eine als auch es an "
    "werden aus er hat dass sie nach wird bei einer um am sind noch wie einem über so zum war "
    "haben nur oder aber vor zur bis mehr durch man sein wurde sei ich du wir ihr hallo ja nein "
    "bitte danke kann",
    "fr": "de la le et les des en un du une que est pour qui dans a par plus pas au sur ne se ce il "
    "sont avec son cette ou mais comme aux être nous vous je tu elle ont été c'est bonjour oui "
    "non merci d'une qu'il ça",
    "es": "de la que el en y a los se del las un por con no una su para es al lo como más o pero sus le "
    "ha me si sin sobre este ya entre cuando todo esta ser son dos también fue había era muy "
    "hasta desde está hola sí gracias puedo aquí",
    "it": "di e il la che in un a per è una sono con non del si da le dei nel al come più ma anche "
    "della i gli lo questo alla ha delle o se su nella degli ci molto stato essere mi ciao sì "
    "grazie posso questa perché",
    "pt": "de a o que e do da em um para é com não uma os no se na por mais as dos como mas foi ao ele "
    "das tem à seu sua ou ser quando muito há nos já está eu também só pelo pela até isso olá sim "
    "obrigado você são",
    "nl": "de van het een en in is dat op te zijn met voor niet aan er om ook als dan maar bij door nog "
    "wel uit naar heeft hebben wordt deze die kan worden ik je jij we ze hallo ja nee dit was of "
    "over geen",
    "sv": "och att det i en som på är av för med till den har de inte om ett han men var jag sig från "
    "vi så kan när man hade nu hej ja nej tack också eller mycket efter",
    "da": "og i at det er en til af på som med for der de den ikke har et om han var jeg fra vi så kan "
    "når man nu hej ja nej tak også eller meget efter blev efter være hvad",
    "no": "og i det er en til av på som med for at de den ikke har et om han var jeg fra vi så kan når "
    "man nå hei ja nei takk også eller mye etter ble være hva dette",
    "fi": "ja on ei se että en hän oli ole joka mutta kun niin myös kuin tai mitä jos nyt sen tämä olen "
    "ovat minä sinä hei kyllä kiitos voi sitä",
    "pl": "i w nie na się z do to że jest o jak a po co ale od za przez tak dla czy jego są być tylko "
    "już może ja ty on ona cześć dziękuję proszę który które",
    "cs": "a se v na je že to s z do o i ve jsem za pro jak ale by po co jako tak si jsou není být už "
    "jen ahoj ano ne děkuji prosím který které nebo",
    "tr": "ve bir bu da de için ile çok ne daha gibi ama olarak sonra var kadar o ben sen biz değil mi "
    "merhaba evet hayır teşekkürler olan her şey",
    "ro": "și de la în a cu pe nu este un o să care mai din pentru că se sunt ca dar sau fi am ce au "
    "lui salut da mulțumesc după această",
    "hu": "a az és hogy nem is egy van ez de meg csak már ha mint volt vagy ki lehet szia igen köszönöm "
    "ezt azt",
    "id": "yang dan di ini itu dengan untuk tidak dari dalam akan pada ke saya adalah ada juga bisa "
    "anda kami atau karena halo ya terima kasih",
    "vi": "và của là có không được cho một trong này với các những người đã khi tôi bạn để từ xin chào",
}
_LETTERS = {
    "de": "ßäöü",
    "fr": "œêîûëïçàè",
    "es": "ñ¿¡",
    "pt": "ãõ",
    "sv": "åäö",
    "da": "æøå",
    "no": "æøå",
    "fi": "äö",
    "pl": "ąęłńśźż",
    "cs": "ěřůčžš",
    "tr": "ğışİ",
    "ro": "țșăâî",
    "hu": "őűáé",
    "vi": "ạảấầẩẫậắằẳẵặẹẻẽếềểễệỉịọỏốồổỗộớờởỡợụủứừửữựỳỵỷỹđơư",
}
_SAMPLE = 2000
_CLEAR = 4
"""How many votes more (two for a word, one for a letter) another language of Latin letters needs."""

_BY_WORD: dict[str, list[str]] = {}
for _language, _list in _WORDS.items():
    for _word in _list.split():
        if len(_word) == 1:
            continue
        _BY_WORD.setdefault(_word, []).append(_language)


def detect(text: str, otherwise: str = "") -> str:
    """The two-letter code of the language of `text`, judged by its first 2,000 characters; `otherwise` when
    nothing tells."""
    sample = text[:_SAMPLE]
    scripts = Counter(_script(char) for char in sample if not char.isascii() and char.isalpha())
    scripts["latin"] += sum(char.isascii() and char.isalpha() for char in sample)
    scripts.pop("", None)
    script, count = scripts.most_common(1)[0]
    if not count:
        return otherwise
    if script == "zh" and scripts["ja"]:
        return "ja"
    if script != "latin":
        return next(
            (found for of, letters, found in _TELLING if of == script and _any(letters, sample)), script
        )
    return _latin(sample, otherwise)


def latin_share(text: str) -> float:
    """How many of the letters of `text` are Latin, 0 to 1; 1 when it has none."""
    letters = [char for char in text if char.isalpha()]
    return (
        sum(char.isascii() or _script(char) == "latin" for char in letters) / len(letters) if letters else 1.0
    )


@lru_cache(maxsize=4096)
def _script(char: str) -> str:
    return _SCRIPTS.get(unicodedata.name(char, "").partition(" ")[0], "")


def _any(letters: str, text: str) -> bool:
    return not set(letters).isdisjoint(text)


def _latin(sample: str, otherwise: str) -> str:
    votes: Counter[str] = Counter()
    for word in re.findall(r"[^\W\d_]+(?:['’][^\W\d_]+)?", sample.lower()):
        for language in _BY_WORD.get(word.replace("’", "'"), ()):
            votes[language] += 2
    for language, letters in _LETTERS.items():
        votes[language] += sum(char in letters for char in sample.lower())
    best, count = max(votes.items(), key=lambda item: item[1])
    needed = votes[otherwise] + _CLEAR if otherwise in _WORDS else 1
    return best if count >= needed else otherwise
