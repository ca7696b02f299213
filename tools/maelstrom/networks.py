# SPDX-License-Identifier: Apache-2.0
"""The four networks that MAELSTROM's deliverable 3.5 (tables 5 to 8) predicts, rebuilt from their public descriptions.

AP1 metno/maelstrom-train, U-Net of 3-dimensional convolutions; AP3 the ECMWF radiation emulator of short waves, `build_rnn`; AP4
spcl/ens10, U-Net; AP5 JSC downscaling_maelstrom, U-Net. Each returns a model of its own framework.
"""
from __future__ import annotations

from typing import Any


def ap1() -> Any:
    import keras
    from keras import layers

    def convolve(value: Any, features: int) -> Any:
        for _ in range(2):
            value = layers.Conv3D(features, (1, 3, 3), padding="same", activation="relu")(value)
        return value

    image = keras.Input((1, 512, 512, 17), name="predictors")
    value, skipped = image, []
    for features in (16, 32, 64, 128, 256):
        value = convolve(value, features)
        skipped.append(value)
        value = layers.MaxPooling3D((1, 2, 2))(value)
    value = convolve(value, 512)
    for features in (256, 128, 64, 32, 16):
        value = layers.Conv3DTranspose(features, (1, 3, 3), strides=(1, 2, 2), padding="same")(value)
        value = convolve(layers.Concatenate()([skipped.pop(), value]), features)
    return keras.Model(image, layers.Dense(3)(value))


def ap3() -> Any:
    import keras
    from keras import layers, ops

    units = 64
    scalars = keras.Input((17,), name="sca_inputs")
    columns = keras.Input((137, 27), name="col_inputs")
    half_levels = keras.Input((138, 2), name="hl_inputs")
    between = keras.Input((136, 1), name="inter_inputs")
    pressure = keras.Input((138, 1), name="pressure_hl")

    cosine, albedos, solar = scalars[:, 1:2], scalars[:, 2:14], scalars[:, 16:17]
    kept = layers.Concatenate()([columns[:, :, :5], columns[:, :, 6:8], columns[:, :, 10:27]])
    repeated = layers.RepeatVector(137)(cosine)
    mean = (half_levels[:, 1:] + half_levels[:, :-1]) * 0.5
    step = (half_levels[:, 1:, :1] - half_levels[:, :-1, :1]) * 1e-4
    features = layers.Concatenate()([kept * 0.1, repeated, ops.log(mean[:, :, :1]) * 0.1, mean[:, :, 1:] * 0.01, step])
    down, hidden, memory = layers.LSTM(units, return_sequences=True, return_state=True)(features)
    ground = layers.Concatenate()([hidden, memory, albedos])
    first, second = layers.Dense(units)(ground), layers.Dense(units)(ground)
    levels = layers.Concatenate(axis=1)([down, layers.Reshape((1, units))(first)])
    levels = layers.Concatenate()([levels, layers.ZeroPadding1D(1)(between)])
    up = layers.LSTM(units, return_sequences=True, go_backwards=True)(levels, initial_state=[first, second])
    both = layers.Concatenate()([levels, ops.flip(up, axis=1)])
    last = layers.LSTM(units, return_sequences=True)(both)
    fluxes = layers.Conv1D(2, 1, activation="sigmoid")(last) * layers.Reshape((1, 1))(cosine * solar)
    net = fluxes[:, :, :1] - fluxes[:, :, 1:]
    heating = (net[:, 1:] - net[:, :-1]) / (pressure[:, 1:] - pressure[:, :-1]) * -9.80665 / 1004
    return keras.Model([scalars, columns, half_levels, between, pressure], [fluxes, heating])


def ap4() -> Any:
    import torch
    from torch import nn

    def block(*features: int) -> nn.Sequential:
        parts: list[nn.Module] = []
        for width, next_width in zip(features, features[1:]):
            parts += [nn.Conv2d(width, next_width, 3, padding=1), nn.BatchNorm2d(next_width), nn.ReLU(inplace=True)]
        return nn.Sequential(*parts)

    class UNet(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.down0, self.down1, self.bottom = block(14, 32, 32), block(32, 64, 64), block(64, 128, 128, 128, 64)
            self.up1, self.up0, self.last = block(128, 64, 32), block(64, 32, 32), nn.Conv2d(32, 2, 3, padding=1)
            self.pool, self.widen = nn.MaxPool2d(2), nn.Upsample(scale_factor=2, mode="bilinear", align_corners=True)

        def forward(self, fields: torch.Tensor) -> torch.Tensor:
            fine = self.down0(fields)
            coarse = self.down1(self.pool(fine))
            value = self.up1(torch.cat([coarse, self.widen(self.bottom(self.pool(coarse)))], 1))
            value = nn.functional.pad(self.widen(value), (0, 0, 1, 0), mode="replicate")
            return self.last(self.up0(torch.cat([fine, value], 1)))

    return UNet().eval()


def ap5() -> Any:
    import keras
    from keras import layers

    def block(value: Any, features: int) -> Any:
        return layers.ReLU()(layers.BatchNormalization()(layers.Conv2D(features, 3, padding="same")(value)))

    fields = keras.Input((96, 120, 10), name="fields")
    value, skipped = fields, []
    for features in (56, 112, 224):
        value = block(block(value, features) if features == 56 else value, features)
        skipped.append(value)
        value = layers.MaxPooling2D(2)(value)
    value = block(value, 448)
    for features in (224, 112, 56):
        value = layers.Conv2DTranspose(features, 2, strides=2)(value)
        value = block(block(layers.Concatenate()([skipped.pop(), value]), features), features)
    return keras.Model(fields, layers.Conv2D(1, 1)(value))


KERAS = {"ap1": ap1, "ap3": ap3, "ap5": ap5}
TORCH = {"ap4": (ap4, (14, 361, 720))}
