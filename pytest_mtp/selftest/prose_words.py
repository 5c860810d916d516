"""Words for healthy prose: per language, slots of interchangeable words and sentences with those slots.

Words of one slot can stand for each other without breaking the grammar: sampling swaps them. Words of up to nine
letters are one token of the fake's tokeniser; longer words are never swapped.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class Language:
    """Slots by name, and sentences in `str.format` form."""

    slots: Mapping[str, tuple[str, ...]]
    sentences: tuple[str, ...]
    joint: str = " "


def _slots(**slots: str) -> dict[str, tuple[str, ...]]:
    return {name: tuple(words.split()) for name, words in slots.items()}


LANGUAGES: Mapping[str, Language] = {
    "en": Language(
        slots=_slots(
            adj="quiet narrow bright ancient steady hidden distant gentle broken golden silent careful patient curious heavy modern humble "
            "crowded frozen silver",
            noun="harbor garden market bridge village river library station orchard valley engine letter window lantern captain teacher "
            "farmer painter traveler machine",
            thing="stories maps tools letters bells books coins seeds songs boats plans stones lamps windows roads records",
            verb="carried followed opened studied noticed repaired gathered painted measured crossed guarded returned counted welcomed",
            adv="slowly calmly quickly gladly rarely softly quietly firmly often bravely",
            place="hills coast forest river tower square school museum mountain meadow workshop island",
            time="spring summer autumn winter morning evening noon midnight",
        ),
        sentences=(
            "The {adj} {noun} {verb} the {thing} near the {place}, and nobody in the {noun} complained.",
            "One {time} a {adj} {noun} {adv} {verb} its {thing}, while another {noun} waited behind the {place}.",
            "People who lived by the {place} {verb} {adj} {thing} and kept them for the next {time}.",
            "Every {time} brought {adj} {thing} to the {noun}.",
            "Because the {place} was {adj}, the {noun} {adv} {verb} all the {thing} that were left.",
            "There were {adj} {thing} in the {noun}, and a {adj} {noun} beside the {place}.",
            "Nobody knew why the {noun} {verb} so many {thing} before {time}, yet it seemed {adj}.",
            "Later that {time} the {noun} and the {noun} {adv} {verb} the {adj} {place}.",
        ),
    ),
    "de": Language(
        slots=_slots(
            adj="alte kleine stille ruhige neue lange helle breite kühle gute müde junge starke treue",
            noun="Fluss Wald Garten Lehrer Maler Wagen Turm Hafen Markt Bauer Händler Nachbar Brunnen Sommer",
            verb="wartete leuchtete arbeitete ruhte sprach lachte schlief wanderte erzählte wuchs stand blieb",
            place="Stadt Brücke Mauer Straße Kirche Schule Insel Küste Mühle Wiese",
            time="Morgen Abend Mittag Montag Freitag Sonntag Herbst Winter",
        ),
        sentences=(
            "Der {adj} {noun} {verb} bei der {place}, und niemand in der {place} fragte nach dem Grund.",
            "Am {time} {verb} der {noun} lange, weil der {adj} {noun} nicht mit ihm in die {place} ging.",
            "Hinter der {place} {verb} auch der {noun}, und das war für alle ein gutes Zeichen.",
            "Es war ein schöner Tag, denn der {noun} {verb} und der {adj} {noun} {verb} neben der {place}.",
            "Wenn der {adj} {noun} nicht da war, {verb} der {noun} allein an der {place}.",
        ),
    ),
    "fr": Language(
        slots=_slots(
            adj="calme ancien lointain fragile timide moderne rapide fidèle tranquille",
            noun="jardin village marché port chemin voisin peintre château musée bateau facteur",
            verb="attendait dormait chantait changeait brillait parlait marchait travaillait restait",
            place="rivière maison colline forêt place gare plage montagne",
            time="matin soir printemps dimanche lundi mercredi",
        ),
        sentences=(
            "Le {noun} {adj} {verb} près de la {place}, et personne dans la {place} ne demandait pourquoi.",
            "Ce {time}, le {noun} {verb} encore, mais le {noun} {adj} était déjà parti vers la {place}.",
            "Derrière la {place}, un {noun} {adj} {verb} avec les enfants qui venaient de la {place}.",
            "On disait que le {noun} {verb} chaque {time}, et que la {place} était plus belle ainsi.",
        ),
    ),
    "es": Language(
        slots=_slots(
            adj="tranquilo antiguo lejano pequeño nuevo alegre fuerte sencillo",
            noun="jardín pueblo mercado puerto camino vecino pintor castillo museo barco cartero",
            verb="esperaba dormía cantaba cambiaba brillaba hablaba caminaba trabajaba",
            place="casa colina plaza playa montaña iglesia escuela torre",
            time="lunes martes jueves viernes domingo verano invierno",
        ),
        sentences=(
            "El {noun} {adj} {verb} cerca de la {place}, y nadie en la {place} preguntaba por qué.",
            "El {time} el {noun} todavía {verb}, pero el {noun} {adj} ya estaba en la {place}.",
            "Detrás de la {place} un {noun} {adj} {verb} con los niños que venían de la {place}.",
            "Se decía que el {noun} {verb} cada {time} y que la {place} era así más bonita.",
        ),
    ),
    "it": Language(
        slots=_slots(
            adj="tranquillo antico lontano piccolo nuovo allegro forte sereno",
            noun="giardino villaggio mercato porto cammino vicino castello museo postino",
            verb="aspettava dormiva cantava cambiava brillava parlava lavorava",
            place="casa collina piazza montagna chiesa scuola torre strada",
            time="lunedì martedì giovedì venerdì sabato inverno",
        ),
        sentences=(
            "Il {noun} {adj} {verb} dietro la {place}, e nessuno nella {place} chiedeva perché.",
            "Di {time} il {noun} {verb} ancora, ma il {noun} {adj} era già andato verso la {place}.",
            "Dopo la {place} un {noun} {adj} {verb} con i bambini che venivano dalla {place}.",
            "Si diceva che il {noun} {verb} ogni {time} e che la {place} era così più bella.",
        ),
    ),
    "ru": Language(
        slots=_slots(
            adj="старый тихий новый добрый далёкий высокий",
            noun="сад город рынок мост учитель художник музей сосед поезд",
            verb="ждал молчал работал менялся спал говорил",
            place="рекой горой школой башней деревней площадью",
            time="утром вечером весной летом осенью зимой",
        ),
        sentences=(
            "{adj} {noun} {verb} за {place}, и никто не знал, почему он там стоял.",
            "Но {time} этот {noun} всё ещё {verb}, а {adj} {noun} был уже под {place}.",
            "Говорили, что {noun} {verb} каждый день и что над {place} было тихо.",
        ),
    ),
    "zh": Language(
        slots=_slots(
            adj="安静 古老 明亮 遥远 温柔 忙碌 美丽",
            noun="花园 村庄 市场 老师 画家 图书馆 车站 邻居",
            verb="等待 工作 休息 唱歌 学习 散步",
            place="河边 山上 桥边 海边 城里 学校",
            time="早上 晚上 春天 夏天 秋天 冬天",
        ),
        sentences=(
            "{time}，{adj}的{noun}在{place}，人们都喜欢在那里{verb}。",
            "{adj}的{noun}不远，我们{time}去{place}{verb}，然后看{noun}。",
        ),
        joint="",
    ),
    "ja": Language(
        slots=_slots(
            adj="静かな 大きな 小さな 古い 明るい",
            noun="庭 村 市場 先生 画家 駅 図書館",
            verb="待って 働いて 休んで 歌って 歩いて",
            place="川 山 橋 海 町 学校",
            time="朝 夜 春 夏 秋 冬",
        ),
        sentences=(
            "{time}になると、{adj}{noun}の近くの{place}で人々が{verb}いました。",
            "{adj}{noun}は{place}のそばにあり、{time}には誰もが{verb}いるのです。",
        ),
        joint="",
    ),
}

NAMES: Mapping[str, str] = {
    "german": "de", "deutsch": "de", "french": "fr", "français": "fr", "spanish": "es", "español": "es", "italian": "it", "italiano": "it",
    "russian": "ru", "chinese": "zh", "mandarin": "zh", "中文": "zh", "japanese": "ja", "日本語": "ja", "english": "en",
}  # fmt: skip
