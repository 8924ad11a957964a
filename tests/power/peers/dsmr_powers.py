"""Says what dsmr-parser finds in telegrams: reads [[specification, telegram], ...] as JSON and writes a list of [drawn, unit,
given, unit]; the name of the error where it refuses one.
"""

import json
import sys
from typing import Any

from dsmr_parser import telegram_specifications
from dsmr_parser.exceptions import InvalidChecksumError, ParseError
from dsmr_parser.parsers import TelegramParser


def powers(name: str, telegram: str) -> Any:
    # Telegrams that Austrian meters encrypt are plain inside.
    specification = {**getattr(telegram_specifications, name), "general_global_cipher": False}
    try:
        found = TelegramParser(specification).parse(telegram, throw_ex=True)
    except (InvalidChecksumError, ParseError) as error:
        return type(error).__name__
    parts = [getattr(found, f"CURRENT_ELECTRICITY_{way}") for way in ("USAGE", "DELIVERY")]
    return [each for part in parts for each in (float(part.value), part.unit)]


json.dump([powers(*given) for given in json.load(sys.stdin)], sys.stdout)
