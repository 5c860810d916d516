"""Frequent short words of languages that share a script, and letters that only some of them write."""

from __future__ import annotations

from collections.abc import Mapping

_WORDS: Mapping[str, str] = {
    "en": "the of and to in is that it for was with as on be are this by from or have not which you at but an they we has can will"
    " there their what about would if its more when your how also these other than",
    "de": "der die das und ist in den von zu mit sich auf für nicht ein eine als auch es an werden aus er hat dass sie nach wird"
    " bei einer um am sind noch wie einem über einen so zum war haben nur oder aber vor zur bis mehr durch man kann dem des"
    " ich im wenn diese",
    "fr": "le la les de des et est un une du en que qui dans pour pas au sur par plus ce il elle avec sont se ne ou aux cette mais"
    " comme nous vous leur ont être fait son ses tout très aussi été c'est l'eau d'une entre",
    "es": "el la los las de que y en un una es se del por con para no su al lo como más pero sus le ya o este sí porque esta entre"
    " cuando muy sin sobre también me hasta hay donde son está fue han ser tiene",
    "pt": "o a os as de que e do da em um uma para é com não se na no por mais dos das como mas foi ao ele ela tem à seu sua ou ser"
    " quando muito há nos já está eu também só pelo pela até isso são você",
    "it": "il la lo gli le di che e è un una in per non con si da del della dei delle al alla sono come più ma anche nel nella"
    " questo questa ha se ci dal dalla sul sulla essere molto tutti loro quando",
    "nl": "de het een en van in is dat op te zijn met voor niet aan er om ook als bij door maar die dit naar uit wordt over kan nog"
    " worden werd hebben meer tot heeft deze wat geen hun ze ik je we zoals",
    "sv": "och att det i en som på är av för med den till inte om ett han men var jag sig från vi så kan när hon nu har de vid"
    " kommer ska också eller mycket efter bara där alla denna detta",
    "da": "og at det i en som på er af for med den til ikke om et han men var jeg sig fra vi så kan når hun nu har de ved skal også"
    " eller meget efter kun hvor alle denne dette blev være hvad mig",
    "no": "og at det i en som på er av for med den til ikke om et han men var jeg seg fra vi så kan når hun nå har de ved skal også"
    " eller mye etter bare hvor alle denne dette ble være hva meg ikkje",
    "fi": "ja on ei se että hän oli joka mutta ovat kun niin tai myös kuin ole mitä sen jos olla voi vain sitten nyt minä tämä"
    " siitä koska kaikki ne hyvin mukaan jossa kanssa ennen tämän",
    "pl": "i w na z się nie do to że jest o jak po ale od za przez co czy tak dla są był już tylko może być który która które oraz"
    " jego jej ich także tym przy ze bardzo jako więc tego lub",
    "cs": "a je v se na to že s z do o i jsem jako ale za by si tak po co pro jsou nebo byl které který která jeho také být ve od"
    " podle jen už když před této kde aby tím může velmi",
    "hu": "a az és hogy nem is egy ez van de csak meg már ha volt mint vagy el azt még lehet ki amely után kell minden között majd"
    " akkor nagyon itt lesz pedig mert ezt nagy alatt",
    "ro": "și de la în a cu pe nu un o că este din se pentru mai sau care ce al ale lui fi sunt prin dar ca au fost când ei după sa"
    " între foarte acest această dintre unei unui cel",
    "tr": "ve bir bu için ile da de çok en gibi olarak daha var ne o ama kadar olan sonra ise değil her ki mi veya ya olduğu şey"
    " tarafından içinde bunu önce göre büyük onun ancak",
    "vi": "và của là có được trong cho một không người này với các để những đã khi từ ở cũng như về nhiều ra đến tôi hay vào bạn nó"
    " sẽ thì theo năm lại nước đó mà trên phải",
    "id": "dan yang di untuk dari dengan ini itu tidak pada adalah dalam akan juga ke oleh sebagai bisa ada karena saya kita mereka"
    " dapat atau lebih telah sudah seperti anda harus banyak tersebut menjadi satu",
    "ca": "el la els les de que i en un una és per amb no del al com més però són seva també ha molt aquest aquesta hi o pel entre"
    " quan tot des sobre fins seu ser on van",
    "ru": "и в не на что я с он как это по но они к у из за то же все так от вы для мы бы было если или до при его ее когда также"
    " может быть есть нет очень чтобы уже был который которые",
    "uk": "і в не на що з та як це до у за від але про для є по його все так вони він або ж також може бути який які якщо коли дуже"
    " ще був після між через більше",
    "bg": "и на да се в не за от е са по с че като до или но ще при това който които бъде има може след тя той те към го ги което"
    " много също още",
    "sr": "и у је да се на за од са не као су што то по али до који која које из био так о он њих само више када ако због",
    "ar": "في من على أن إلى هذا التي عن هو ما كان لا مع هذه الذي كل بين قد أو لم هي ذلك بعد ثم كما عند حتى أي إن أنه يمكن غير قبل",
    "fa": "و در به از که این را با است برای آن یک خود تا می بر هم شده بود شود یا کرد هر ها باشد اما دو کند دارد نیز های اگر همه",
    "ur": "کے میں ہے کی اور سے کا کو اس ہیں نے پر یہ کہ بھی ایک نہیں تھا کر جو ہو لیے تو ان گیا وہ ہوتا تھے",
    "hi": "के में है की और से का को इस हैं ने पर यह कि भी एक नहीं था कर जो हो लिए तो उन गया वह होता थे या साथ अपने तक",
    "mr": "आहे आणि या च्या तो ते ती मध्ये ला होते आहेत हे एक केले पण असे त्या आपल्या झाले करण्यात नाही मी तर किंवा",
    "ne": "छ र को मा हो एक यो पनि गर्न भने थियो लागि हुन् छन् गरेको त्यो तर भएको यस हुन्छ नेपाल",
}
STOP_WORDS: Mapping[str, frozenset[str]] = {language: frozenset(words.split()) for language, words in _WORDS.items()}

BY_SCRIPT: Mapping[str, tuple[str, ...]] = {
    "Latin": ("en", "de", "fr", "es", "pt", "it", "nl", "sv", "da", "no", "fi", "pl", "cs", "hu", "ro", "tr", "vi", "id", "ca"),
    "Cyrillic": ("ru", "uk", "bg", "sr"),
    "Arabic": ("ar", "fa", "ur"),
    "Devanagari": ("hi", "mr", "ne"),
    "Hangul": ("ko",),
    "Greek": ("el",),
    "Hebrew": ("he",),
    "Thai": ("th",),
    "Bengali": ("bn",),
    "Tamil": ("ta",),
    "Telugu": ("te",),
    "Gujarati": ("gu",),
    "Gurmukhi": ("pa",),
    "Kannada": ("kn",),
    "Malayalam": ("ml",),
    "Georgian": ("ka",),
    "Armenian": ("hy",),
    "Khmer": ("km",),
    "Myanmar": ("my",),
    "Ethiopic": ("am",),
}
"""Kana and Han are told apart by themselves: kana is Japanese, Han without kana is Chinese."""

LETTERS: Mapping[str, str] = {
    "de": "ß",
    "es": "ñ¿¡",
    "pt": "ãõ",
    "fr": "œçêèû",
    "pl": "łśćźżąę",
    "cs": "řěůčš",
    "hu": "őű",
    "ro": "ășț",
    "tr": "ğışİ",
    "vi": "đơưạảấầẩậắằặẹẻẽếềểệịọỏốồổộớờởợụủứừửựỳỵỷỹ",
    "da": "æø",
    "no": "æø",
    "sv": "å",
    "ca": "·ï",
    "uk": "іїєґ",
    "ru": "ыэё",
    "bg": "ъ",
    "sr": "јљњћђџ",
    "ar": "ةيكأإىؤئ",
    "fa": "پچژگی",
    "ur": "ٹڈڑںےہ",
    "mr": "ळ",
}
"""Letters that speak for a language inside its script."""
