"""What a model is built with."""


class Settings:
    def __init__(self, **others):
        for name, value in others.items():
            setattr(self, name, value)


class NetSettings(Settings):
    def __init__(self, features=3, act="sigmoid", rate=0.0, **others):
        self.features, self.act, self.rate = features, act, rate
        super().__init__(**others)


class TaskSettings(Settings):
    def __init__(self, act, **others):
        self.act = act
        super().__init__(**others)
