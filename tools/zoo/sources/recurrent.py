"""recurrent:NAME, small networks around torch's LSTM, GRU and RNN."""

from __future__ import annotations

import torch

from zoo.network import Input, Network, Options, UnsupportedNetwork, nearest

_VOCABULARY = 10000


class _TokenTagger(torch.nn.Module):
    """Embedding, recurrent layers, one linear layer on each step."""

    def __init__(self, kind: str, layers: int, bidirectional: bool, hidden: int) -> None:
        super().__init__()
        self.embedding = torch.nn.Embedding(_VOCABULARY, 256)
        make = {"lstm": torch.nn.LSTM, "gru": torch.nn.GRU, "rnn": torch.nn.RNN}[kind]
        self.recurrent = make(256, hidden, num_layers=layers, batch_first=True, bidirectional=bidirectional)
        self.decoder = torch.nn.Linear(hidden * (2 if bidirectional else 1), _VOCABULARY)

    def forward(self, input_ids: torch.Tensor) -> torch.Tensor:
        states, _ = self.recurrent(self.embedding(input_ids))
        return self.decoder(states)


class _SequenceClassifier(torch.nn.Module):
    """A recurrent layer over feature vectors, sequence first; classifies by the last step."""

    def __init__(self, kind: str, features: int, hidden: int) -> None:
        super().__init__()
        make = {"lstm": torch.nn.LSTM, "gru": torch.nn.GRU}[kind]
        self.recurrent = make(features, hidden, num_layers=1)
        self.classifier = torch.nn.Linear(hidden, 35)

    def forward(self, input: torch.Tensor) -> torch.Tensor:
        states, _ = self.recurrent(input)
        return self.classifier(states[-1])


class _ConvRecurrent(torch.nn.Module):
    """Convolutions over a spectrogram, bidirectional recurrent layers, characters for each step (speech)."""

    def __init__(self, kind: str) -> None:
        super().__init__()
        self.front = torch.nn.Sequential(
            torch.nn.Conv2d(1, 32, (11, 41), stride=(2, 2), padding=(5, 20)),
            torch.nn.BatchNorm2d(32),
            torch.nn.Hardtanh(0, 20),
            torch.nn.Conv2d(32, 32, (11, 21), stride=(1, 2), padding=(5, 10)),
            torch.nn.BatchNorm2d(32),
            torch.nn.Hardtanh(0, 20),
        )
        make = {"lstm": torch.nn.LSTM, "gru": torch.nn.GRU}[kind]
        self.recurrent = make(32 * 41, 512, num_layers=3, batch_first=True, bidirectional=True)
        self.decoder = torch.nn.Linear(1024, 29)

    def forward(self, input: torch.Tensor) -> torch.Tensor:
        features = self.front(input)  # [batch, 32, steps / 2, 41]
        features = features.permute(0, 2, 1, 3).flatten(2)
        states, _ = self.recurrent(features)
        return self.decoder(states).log_softmax(dim=-1)


def _tagger(kind: str, layers: int = 2, bidirectional: bool = False, hidden: int = 512) -> torch.nn.Module:
    return _TokenTagger(kind, layers, bidirectional, hidden)


_TAGGERS = {
    "lstm": lambda: _tagger("lstm"),
    "gru": lambda: _tagger("gru"),
    "rnn": lambda: _tagger("rnn"),
    "lstm_bidirectional": lambda: _tagger("lstm", bidirectional=True),
    "gru_bidirectional": lambda: _tagger("gru", bidirectional=True),
    "lstm_large": lambda: _tagger("lstm", layers=4, hidden=1024),
}
_CLASSIFIERS = {
    "lstm_classifier": lambda: _SequenceClassifier("lstm", 40, 128),
    "gru_classifier": lambda: _SequenceClassifier("gru", 40, 128),
}
_SPEECH = {"speech_lstm": lambda: _ConvRecurrent("lstm"), "speech_gru": lambda: _ConvRecurrent("gru")}


def build(name: str, options: Options) -> Network:
    sizes = {"batch": options.batch, "sequence": options.sequence or 64}
    if name in _TAGGERS:
        tokens = Input(("batch", "sequence"), torch.int64, _VOCABULARY)
        steps = {"output": {0: "batch", 1: "sequence"}}
        return Network(_TAGGERS[name](), {"input_ids": tokens}, sizes, symbolic_outputs=steps)
    if name in _CLASSIFIERS:
        return Network(_CLASSIFIERS[name](), {"input": Input(("sequence", "batch", 40))}, sizes)
    if name in _SPEECH:
        sizes["sequence"] = options.sequence or 200
        steps = {"output": {0: "batch", 1: "steps"}}
        return Network(_SPEECH[name](), {"input": Input(("batch", 1, "sequence", 161))}, sizes, symbolic_outputs=steps)
    raise UnsupportedNetwork(f"no recurrent network '{name}'{nearest(name, [*_TAGGERS, *_CLASSIFIERS, *_SPEECH])}")
