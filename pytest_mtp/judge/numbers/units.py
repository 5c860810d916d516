"""Units: their other names, and which words after a number are units at all. Nothing is converted."""

from __future__ import annotations

import re
from collections.abc import Mapping

_ALIASES = """
m meter meters metre metres м метр метра метров Meter mètre mètres metro metros metri 米 メートル 미터
km kilometer kilometers kilometre kilometres км километр километра километров Kilometer kilomètre kilomètres
  kilómetro kilómetros 公里 千米 キロ キロメートル 킬로미터
cm centimeter centimeters centimetre centimetres см сантиметр сантиметров Zentimeter centimètre centimètres
  centímetro centímetros 厘米 センチ
mm millimeter millimeters millimetre millimetres мм Millimeter millimètre millimètres milímetros 毫米 ミリ
mi mile miles
ft foot feet
in inch inches
yd yard yards
kg kilogram kilograms kilo kilos kilogramme кг килограмм килограммов Kilogramm kilogrammes kilogramo
  kilogramos 千克 公斤 キログラム 킬로그램
g gram grams gramme grammes г грамм граммов Gramm gramo gramos 克 グラム
mg milligram milligrams
lb lbs pound pounds
oz ounce ounces
t tonne tonnes ton tons Tonne Tonnen тонн 吨
l liter liters litre litres L л литр литра литров Liter litro litros 升 リットル
ml milliliter milliliters millilitre millilitres mL мл 毫升
s sec secs second seconds с сек секунд секунды Sekunde Sekunden seconde secondes segundo segundos 秒 초
min mins minute minutes мин минут минуты Minute Minuten minuto minutos minuti 分 分钟 分鐘 분
h hr hrs hour hours ч час часа часов Stunde Stunden heure heures hora horas ore ora 小时 小時 時間 시간
d day days день дня дней Tag Tage Tagen jour jours día días giorni dias 天 日 일
week weeks Woche Wochen semaine semaines semana semanas
month months Monat Monate mois mes meses
yr year years y Jahr Jahre Jahren an ans année années año años год года лет 年
ms millisecond milliseconds
km/h kmh kph kmph км/ч
m/s mps м/с
mph
m/s^2 m/s² m/s2
m^2 m² m2 sqm square_meters square_metres
m^3 m³ m3 cubic_meters cubic_metres
cm^2 cm² cm2
cm^3 cm³ cm3 cc
km^2 km² km2
°C C celsius degrees_celsius ℃
°F F fahrenheit degrees_fahrenheit ℉
K kelvin kelvins
° degree degrees deg Grad градусов 度
$ USD dollar dollars US$ доллар долларов Dollar dólar dólares 美元 ドル
€ EUR euro euros Euro евро 欧元 ユーロ
£ GBP quid
¥ JPY yen 円 CNY yuan 元 RMB 人民币
₹ INR rupee rupees Rs ₨ रुपये
₽ RUB ruble rubles рубль рубля рублей
₩ KRW won 원
CHF Franken
cent cents ¢ Cent
J joule joules
kJ kilojoule kilojoules
N newton newtons
W watt watts
kW kilowatt kilowatts
kWh
V volt volts
A amp amps ampere amperes
Hz hertz
MHz
GHz
Pa pascal pascals
kPa
bar bars
mol mols mole moles
cal calorie calories
kcal
B byte bytes
kB KB kilobyte kilobytes
MB megabyte megabytes
GB gigabyte gigabytes
TB terabyte terabytes
bit bits
% percent
"""
"""One unit a row, its first name first; a row goes on in lines that are indented."""
_ROWS = [row.split() for row in re.split(r"\n(?! )", _ALIASES.strip())]
_CANON: Mapping[str, str] = {name: row[0] for row in _ROWS for name in row}
_LOWER: Mapping[str, str] = {name.lower(): canon for name, canon in _CANON.items() if len(name) > 2}
_AFTER = re.compile(
    r"[ \t\u202f\u00a0]?(?:\\,|\\;|\\ |~)?[ ]?(?:\\(?:text|mathrm|textrm)\{[ ]?)?(?P<unit>[°$€£¥₹₽₩¢℃℉]?[A-Za-zÀ-ɏА-Яа-я]*"
    r"(?:(?:/|·|[ ]per[ ])[A-Za-zА-Яа-я]+)?(?:\^?[23²³])?|[\u3040-\u30ff\u4e00-\u9fff\uac00-\ud7a3]{1,6}|[\u0900-\u097f]+)"
)


def canonical_unit(word: str) -> str | None:
    """The first name of a known unit, else None. Short symbols keep their case: MB is not mb, K is not k."""
    word = word.strip().strip(".").replace(" per ", "/")
    return _CANON.get(word) or _LOWER.get(word.lower())


def unit_after(text: str, position: int) -> str:
    """The word that stands as a unit after a number that ends at `position`; may be empty."""
    match = _AFTER.match(text, position)
    return match["unit"].strip() if match else ""


def same_unit(declared: str, given: str) -> bool | None:
    """Whether a given word names the declared unit; None when it names no unit that is known."""
    wanted, got = canonical_unit(declared), canonical_unit(given)
    if wanted is not None:
        longest = (
            next((given[:size] for size in range(len(given), 0, -1) if canonical_unit(given[:size])), "") if not given.isascii() else ""
        )
        got = got or canonical_unit(longest)  # 米です: no space ends a word in CJK
        return None if got is None else got == wanted
    if _singular(declared) == _singular(given):
        return True
    return False if got is not None else None


def _singular(word: str) -> str:
    word = word.casefold().strip(".")
    for ending, instead in (("ies", "y"), ("es", ""), ("s", "")):
        if word.endswith(ending) and len(word) > len(ending) + 2:
            return word[: -len(ending)] + instead
    return word
