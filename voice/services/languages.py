"""The languages that recognisers know, by code and by the English name that OpenAI's interface has."""

from __future__ import annotations

_NAMES = """
af afrikaans, am amharic, ar arabic, as assamese, az azerbaijani, ba bashkir, be belarusian, bg bulgarian,
bn bengali, bo tibetan, br breton, bs bosnian, ca catalan, cs czech, cy welsh, da danish, de german, el
greek, en english, es spanish, et estonian, eu basque, fa persian, fi finnish, fo faroese, fr french, gl
galician, gu gujarati, ha hausa, haw hawaiian, he hebrew, hi hindi, hr croatian, ht haitian creole, hu
hungarian, hy armenian, id indonesian, is icelandic, it italian, ja japanese, jw javanese, ka georgian, kk
kazakh, km khmer, kn kannada, ko korean, la latin, lb luxembourgish, ln lingala, lo lao, lt lithuanian, lv
latvian, mg malagasy, mi maori, mk macedonian, ml malayalam, mn mongolian, mr marathi, ms malay, mt maltese,
my myanmar, ne nepali, nl dutch, nn nynorsk, no norwegian, oc occitan, pa punjabi, pl polish, ps pashto, pt
portuguese, ro romanian, ru russian, sa sanskrit, sd sindhi, si sinhala, sk slovak, sl slovenian, sn shona,
so somali, sq albanian, sr serbian, su sundanese, sv swedish, sw swahili, ta tamil, te telugu, tg tajik, th
thai, tk turkmen, tl tagalog, tr turkish, tt tatar, uk ukrainian, ur urdu, uz uzbek, vi vietnamese, yi
yiddish, yo yoruba, yue cantonese, zh chinese
"""

NAMES = {
    code: name
    for code, _, name in (entry.strip().partition(" ") for entry in " ".join(_NAMES.split()).split(","))
}
"""English names by code."""

_CODES = {name: code for code, name in NAMES.items()} | {"javanese": "jw", "jv": "jw"}


def code_of(language: str) -> str:
    """The code of `language`: a code, a code with a region ("pt-BR") or a name; "" for others."""
    wanted = language.strip().lower()
    short = wanted.replace("_", "-").partition("-")[0]
    return wanted if wanted in NAMES else _CODES.get(wanted) or (short if short in NAMES else "")
