"""The page in the language that a browser asks for first: English, or German. What the program itself says stays English."""

from __future__ import annotations

import re
from collections.abc import Callable

_GERMAN = {
    "add a job": "Auftrag anlegen",
    "all": "insgesamt",
    "all jobs": "alle Aufträge",
    "any": "beliebig",
    "attempts": "Versuche",
    "by field": "nach Feld",
    "cancel": "abbrechen",
    "cancelled": "abgebrochen",
    "choose a file": "eine Datei wählen",
    "column": "Spalte",
    "command": "Befehl",
    "daily": "täglich",
    "day": "Tag",
    "delimiter": "Trennzeichen",
    "descending": "absteigend",
    "directory": "Verzeichnis",
    "done": "fertig",
    "Drives": "Laufwerke",
    "Ended": "Beendet",
    "ended": "beendet",
    "energy": "Energie",
    "Energy per day": "Energie je Tag",
    "exit code": "Endecode",
    "failed": "fehlgeschlagen",
    "first rows": "die ersten Zeilen",
    "format": "Format",
    "free": "frei",
    "Go back in the browser to change what you entered.": "Gehen Sie im Browser zurück, um die Eingaben zu ändern.",
    "hourly": "stündlich",
    "in the last": "in den letzten",
    "input": "Eingabe",
    "intermediate merge": "Zwischenmischen",
    "job": "Auftrag",
    "jobs, J": "Aufträge, J",
    "key": "Schlüssel",
    "let jobs begin": "Aufträge beginnen lassen",
    "Log": "Protokoll",
    "machine, Wh": "Maschine, Wh",
    "made by": "angelegt von",
    "memory": "Speicher",
    "memory merge": "Mischen im Speicher",
    "merge": "Mischen",
    "memory limit": "Speichergrenze",
    "month": "Monat",
    "moved": "bewegt",
    "name": "Name",
    "name, command or reason": "Name, Befehl oder Grund",
    "needed": "benötigt",
    "no reading": "kein Messwert",
    "not before": "nicht vor",
    "nothing yet": "noch nichts",
    "Nothing ended in this month, or it is kept no longer.": "In diesem Monat endete nichts, oder es ist nicht mehr aufbewahrt.",
    "Nothing has ended yet.": "Noch nichts ist beendet.",
    "Nothing is found.": "Nichts gefunden.",
    "Nothing runs.": "Nichts läuft.",
    "Nothing waits.": "Nichts wartet.",
    "numbers": "Zahlen",
    "of": "von",
    "on end": "am Ende",
    "open": "öffnen",
    "output": "Ausgabe",
    "pause": "anhalten",
    "pause the queue": "Warteschlange anhalten",
    "paused": "angehalten",
    "phase": "Phase",
    "plan": "Plan",
    "power": "Leistung",
    "publish": "Benennen",
    "queue it": "in die Warteschlange",
    "queued": "wartet",
    "rate": "Rate",
    "read and sort": "Lesen und Sortieren",
    "read keys": "Lesen der Schlüssel",
    "recheck": "Nachprüfen",
    "record size": "Größe eines Satzes",
    "key of records": "Schlüssel der Sätze",
    "records": "Sätze",
    "replace it where it is there": "ersetzen, falls vorhanden",
    "resume": "fortsetzen",
    "retry": "noch einmal",
    "reverse": "umgekehrt",
    "run formation": "Vorsortieren",
    "Running": "Läuft",
    "running": "läuft",
    "search": "suchen",
    "separated by": "getrennt durch",
    "show": "anzeigen",
    "show the queue": "Warteschlange anzeigen",
    "show the plan": "Plan anzeigen",
    "size": "Größe",
    "SIMULATED, no measurement": "SIMULIERT, keine Messung",
    "sort by": "sortieren nach",
    "sort and write": "Sortieren und Schreiben",
    "standing": "stehend",
    "started": "begonnen",
    "state": "Zustand",
    "sync": "Sichern",
    "That is not possible": "Das geht nicht",
    "That is not the token.": "Das ist nicht das Token.",
    "The queue is paused: no job begins.": "Die Warteschlange ist angehalten: kein Auftrag beginnt.",
    "The service does not answer. What is shown is old.": "Der Dienst antwortet nicht. Was zu sehen ist, ist veraltet.",
    "There is no text to show.": "Es gibt keinen Text, der sich zeigen ließe.",
    "There is not enough space for it now. If you queue it, it waits until there is.": "Der Platz reicht jetzt nicht. In der "
    "Warteschlange wartet der Auftrag, bis er reicht.",
    "told": "gemeldet",
    "Token": "Token",
    "type": "Typ",
    "up": "nach oben",
    "Waiting": "Wartet",
    "watts": "Watt",
    "weekly": "wöchentlich",
    "when": "wann",
    "whole line": "ganze Zeile",
    "worked": "gearbeitet",
}
# Texts that hold values. A word in them is a text of its own.
_GERMAN_FORMS = (
    (re.compile(r"(ended|started|queued) (\d{4}-.*)"), "{} {}"),
    (re.compile(r"not before (.*)"), "nicht vor {}"),
    (re.compile(r"to (cancel|pause|abandon)"), "{}"),
    (re.compile(r"exit code (-?\d+)"), "Endecode {}"),
    (re.compile(r"([a-z ]+), (\d+) %, ([\d.]+) MB/s, (.*) left"), "{}, {} %, {} MB/s, noch {}"),
    (re.compile(r"([a-z ]+), (\d+) %, ([\d.]+) MB/s"), "{}, {} %, {} MB/s"),
    (re.compile(r"([\d.]+) (B|kB|MB|GB|TB|s)"), "{} {}"),
    (re.compile(r"(hourly|daily|weekly), next (.*)"), "{}, das nächste Mal {}"),
    (re.compile(r"as things are now, the job (.*)"), "so, wie es jetzt ist: {}"),
    (
        re.compile(r"waits for space: (.*): ([\d,]+) bytes are needed, ([\d,]+) are free"),
        "{}: {} Bytes werden benötigt, {} sind frei",
    ),
    (re.compile(r"waits until (.*): it is (\S*)"), "wartet auf {}: jetzt {}"),
    (re.compile(r"(.*), at the latest (.*)"), "{}, spätestens {}"),
    (re.compile(r"([A-Za-z][\w-]*) (<=|>=|<|>) (\S+)"), "{} {} {}"),
    (re.compile(r"(.*) SIMULATED"), "{} SIMULIERT"),
    (re.compile(r"SIMULATED, no measurement: (.*)"), "SIMULIERT, keine Messung: {}"),
    (
        re.compile(r"(.{,80}), of (.{,20}) of (.{,20}) of work: the meter did not see the rest"),
        "{}, für {} von {} Arbeit: mehr sah das Messgerät nicht",
    ),
    (re.compile(r"(.*), (-?[\d,.]+) J per GB moved"), "{}, {} J je bewegtem GB"),
    (re.compile(r"(.*), ([\d,.]+) records/J"), "{}, {} Sätze/J"),
    (re.compile(r"(-?[\d,.]+) J, (-?[\d,.]+) W"), "{} J, {} W"),
    (re.compile(r"(.*) Wh in (.*) of metering"), "{} Wh in {} Messung"),
    (
        re.compile(r"no joules: 1 value of the meter came while it worked, (\d+) are needed"),
        "keine Joule: währenddessen kam 1 Messwert, {} sind nötig",
    ),
    (
        re.compile(r"no joules: (\d+) values of the meter came while it worked, (\d+) are needed"),
        "keine Joule: währenddessen kamen {} Messwerte, {} sind nötig",
    ),
)
_NUMBER = re.compile(r"-?(?:[1-9]\d{0,2}(?:,\d{3})+(?:\.\d+)?|\d+\.\d+)")
_GERMAN_SIGNS = str.maketrans(",.", ".,")
LANGUAGES = ("en", "de")


def chosen(accept_language: str) -> str:
    """Returns the best of LANGUAGES for an Accept-Language header; English where none is asked for."""
    best, found = 0.0, "en"
    for part in accept_language.split(","):
        tag, _, quality = part.strip().partition(";q=")
        try:
            weight = float(quality) if quality else 1.0
        except ValueError:
            continue
        language = tag.split("-")[0].lower()
        if language in LANGUAGES and weight > best:
            best, found = weight, language
    return found


def translator(language: str) -> Callable[[str], str]:
    """Returns the function that gives a text of the page in this language."""
    return _german if language == "de" else (lambda text: text)


def _german(text: str) -> str:
    if text in _GERMAN:
        return _GERMAN[text]
    if _NUMBER.fullmatch(text):
        return text.translate(_GERMAN_SIGNS)
    for form, german in _GERMAN_FORMS:
        if (found := form.fullmatch(text)) is not None:
            return german.format(*map(_german, found.groups()))
    return text
