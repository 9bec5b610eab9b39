from dataclasses import dataclass


@dataclass
class Settings:
    width: int = 8
    classes: int = 3
