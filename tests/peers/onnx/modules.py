"""Small networks as PyTorch's users and Keras' write them: `MODULES[name]()` is a module and the shape of a sample,
`KERAS[name]()` a model. Each ends in a row for each sample, and each is about one thing."""

import functools


def torch_modules():
    import torch
    from torch import nn
    import torch.nn.functional as F

    class Do(nn.Module):
        """A module of `parts` whose forward is `how(self, x)`."""

        def __init__(self, how, **parts):
            super().__init__()
            self.how = how
            for name, part in parts.items():
                setattr(self, name, part)

        def forward(self, x):
            return self.how(self, x)

    def head(features, classes=7):
        return [nn.Flatten(), nn.Linear(features, classes)]

    def images(*layers, features, channels=3, side=16):
        return nn.Sequential(*layers, *head(features)), (channels, side, side)

    def steps(*layers, features, channels=4, length=24):
        return nn.Sequential(*layers, *head(features)), (channels, length)

    def shuffled(_, x):
        n, c, h, w = x.size()
        return x.view(n, 3, c // 3, h, w).transpose(1, 2).contiguous().view(n, c, h, w)

    conv, conv1 = nn.Conv2d, nn.Conv1d
    pooled = [nn.AdaptiveAvgPool2d(1)]

    class SpatialGate(nn.Module):
        """Of CBAM (Woo et al., 2018)."""

        def __init__(self):
            super().__init__()
            self.stem, self.gate, self.out = conv(3, 6, 3), conv(2, 1, 7, padding=3), nn.Linear(6, 7)

        def forward(self, x):
            x = self.stem(x)
            seen = torch.cat([x.mean(1, keepdim=True), x.amax(1, keepdim=True)], 1)
            return self.out((x * torch.sigmoid(self.gate(seen))).mean((2, 3)))

    class OptionA(nn.Module):
        """The shortcut of the residual networks for CIFAR-10 (He et al., 2016)."""

        def __init__(self):
            super().__init__()
            self.a, self.b, self.out = conv(4, 8, 3, 2, 1), nn.BatchNorm2d(8), nn.Linear(8, 7)

        def forward(self, x):
            x = F.relu(self.b(self.a(x)) + F.pad(x[:, :, ::2, ::2], (0, 0, 0, 0, 2, 2)))
            return self.out(F.avg_pool2d(x, x.size()[3]).view(x.size(0), -1))

    class Gated(nn.Module):
        """Squeeze and excitation by dense layers."""

        def __init__(self):
            super().__init__()
            self.a, self.down, self.up = conv(3, 8, 3, padding=1), nn.Linear(8, 2), nn.Linear(2, 8)
            self.out = nn.Linear(8, 7)

        def forward(self, x):
            x = self.a(x)
            gate = torch.sigmoid(self.up(F.relu(self.down(x.mean((2, 3))))))
            return self.out((x * gate[:, :, None, None]).mean((2, 3)))

    class Residual1d(nn.Module):
        def __init__(self):
            super().__init__()
            self.a, self.n = conv1(4, 4, 3, padding=1, bias=False), nn.BatchNorm1d(4)
            self.b, self.out = conv1(4, 4, 3, padding=2, dilation=2, groups=2), nn.Linear(4, 7)

        def forward(self, x):
            x = F.relu(x + self.n(self.a(x)))
            x = x + self.b(x)
            return self.out(F.adaptive_avg_pool1d(x, 1).squeeze(-1))

    def recurrent(cell, how, *layers, features, classes=7, **options):
        """Of nine steps of five numbers; `how(steps, state)` is what is read of them."""

        def read(m, x):
            y, h = m.cells(x)
            return how(y, h[0] if isinstance(h, tuple) else h)

        return nn.Sequential(Do(read, cells=cell(5, 6, batch_first=True, **options)), *layers,
                             *head(features, classes)), (9, 5)

    class Transformer(nn.Module):
        """A block of GPT-2 (Radford et al., 2019) over features; `how` makes attention of queries, keys and values."""

        def __init__(self, how, heads=4, shared=4):
            super().__init__()
            self.how, self.heads, self.shared, self.width = how, heads, shared, 16 // heads
            self.first, self.second = nn.LayerNorm(16), nn.LayerNorm(16)
            self.joined = nn.Linear(16, self.width * (heads + 2 * shared))
            self.out, self.head = nn.Linear(16, 16), nn.Linear(16, 7)
            self.up, self.down = nn.Linear(16, 32), nn.Linear(32, 16)
            self.places = nn.Parameter(torch.randn(1, 9, 16))

        def forward(self, x):
            x = x + self.places
            n, t, _ = x.shape
            own, shared = self.width * self.heads, self.width * self.shared
            q, k, v = self.joined(self.first(x)).split([own, shared, shared], 2)
            q, k, v = (part.view(n, t, -1, self.width).transpose(1, 2) for part in (q, k, v))
            x = x + self.out(self.how(q, k, v).transpose(1, 2).reshape(n, t, 16))
            x = x + self.down(F.gelu(self.up(self.second(x))))
            return self.head(x[:, -1])

    def causal(q, k, v):
        return F.scaled_dot_product_attention(q, k, v, is_causal=True)

    def masked(q, k, v):
        scores = q @ k.transpose(-2, -1) * 0.4
        unseen = torch.ones(scores.shape[-2:], dtype=torch.bool).triu(1)
        return scores.masked_fill(unseen, float("-inf")).softmax(-1) @ v

    def shared(q, k, v):
        k, v = (part[:, :, None].expand(-1, -1, 2, -1, -1).reshape(part.shape[0], 4, 9, 4) for part in (k, v))
        return F.scaled_dot_product_attention(q, k, v)

    def unbound(self, x):
        n, t, _ = x.shape
        q, k, v = self.joined(x).reshape(n, t, 3, 4, 4).permute(2, 0, 3, 1, 4).unbind(0)
        return self.out(((q * 0.5 @ k.transpose(-2, -1)).softmax(-1) @ v).transpose(1, 2).reshape(n, t, 16))

    def vision():
        import torchvision
        sizes = {"image_size": 32, "patch_size": 8, "hidden_dim": 16, "mlp_dim": 32}
        return torchvision.models.VisionTransformer(num_layers=2, num_heads=2, num_classes=7, **sizes), (3, 32, 32)

    def of_steps(*layers):
        return nn.Sequential(*layers, Do(lambda m, x: x.mean(1)), nn.Linear(16, 7)), (9, 16)

    attention = functools.partial(nn.MultiheadAttention, 16, 4, batch_first=True)
    return {
        "vision_transformer": vision,
        "attention": lambda: of_steps(Do(lambda m, x: m.a(x, x, x, need_weights=False)[0], a=attention())),
        "attention_with_shares": lambda: of_steps(Do(lambda m, x: m.a(x, x, x)[0], a=attention())),
        "attention_of_two": lambda: of_steps(Do(lambda m, x: m.a(x, m.b(x), m.b(x), need_weights=False)[0],
                                                a=attention(), b=nn.Linear(16, 16))),
        "attention_steps_first": lambda: of_steps(Do(lambda m, x: m.e(x.transpose(0, 1)).transpose(0, 1),
                                                     e=nn.TransformerEncoderLayer(16, 2, 24))),
        "encoder": lambda: of_steps(nn.TransformerEncoderLayer(16, 4, 32, batch_first=True, activation="gelu")),
        "encoder_norm_first": lambda: of_steps(nn.TransformerEncoderLayer(16, 2, 32, batch_first=True,
                                                                          norm_first=True)),
        "gpt": lambda: (Transformer(causal), (9, 16)),
        "gpt_masked": lambda: (Transformer(masked), (9, 16)),
        "gpt_shared_heads": lambda: (Transformer(shared, shared=2), (9, 16)),
        "gpt_one_head": lambda: (Transformer(causal, 1, 1), (9, 16)),
        "attention_unbound": lambda: of_steps(Do(unbound, joined=nn.Linear(16, 48), out=nn.Linear(16, 16))),
        "conv1d": lambda: steps(conv1(4, 8, 3, padding=1), nn.BatchNorm1d(8), nn.ReLU(), nn.MaxPool1d(2),
                                conv1(8, 6, 5, stride=2, padding=2, dilation=1), nn.ReLU(), features=36),
        "conv1d_audio": lambda: steps(conv1(1, 8, 9, stride=4), nn.ReLU(), nn.AvgPool1d(3), conv1(8, 8, 3, groups=8),
                                      conv1(8, 12, 1), nn.GELU(), nn.AdaptiveAvgPool1d(1), features=12, channels=1,
                                      length=160),
        "conv1d_residual": lambda: (Residual1d(), (4, 24)),
        "conv1d_norms": lambda: steps(nn.BatchNorm1d(4), conv1(4, 8, 3, padding=1), nn.GroupNorm(2, 8), nn.ReLU(),
                                      nn.InstanceNorm1d(8, affine=True), nn.LayerNorm(24), nn.PReLU(8), features=192),
        "conv1d_transposed": lambda: steps(conv1(4, 6, 4, 2, 1), nn.ELU(), nn.ConvTranspose1d(6, 4, 4, 2, 1),
                                           nn.Upsample(scale_factor=2), nn.MaxPool1d(2), features=96),
        "conv1d_features_last": lambda: (nn.Sequential(Do(lambda m, x: m.c(x.transpose(1, 2)), c=conv1(5, 8, 3)),
                                                       nn.ReLU(), conv1(8, 6, 3, padding=1), Do(lambda m, x: x.amax(2)),
                                                       *head(6)), (20, 5)),
        "conv1d_dilated_last": lambda: (nn.Sequential(Do(lambda m, x: m.c(x.permute(0, 2, 1)),
                                                         c=conv1(5, 8, 3, dilation=2, padding=2)), nn.Tanh(),
                                                      nn.AdaptiveMaxPool1d(1), *head(8)), (20, 5)),
        "conv1d_depthwise_last": lambda: (nn.Sequential(Do(lambda m, x: m.c(x.transpose(1, 2)),
                                                           c=conv1(6, 6, 3, groups=6)), nn.ReLU(), *head(108)), (20, 6)),
        "dense_of_steps": lambda: steps(conv1(4, 8, 3, padding=1), nn.Linear(24, 10), nn.ReLU(),
                                        Do(lambda m, x: m.d(x.transpose(1, 2)), d=nn.Linear(8, 5)),
                                        Do(lambda m, x: x.mean(1)), features=5),
        "group_norm": lambda: images(conv(3, 8, 3), nn.GroupNorm(4, 8), nn.SiLU(), nn.InstanceNorm2d(8), *pooled,
                                     features=8),
        "group_norm_first": lambda: images(nn.GroupNorm(2, 4), conv(4, 8, 3), nn.Mish(), *pooled, features=8, channels=4),
        "layer_norm": lambda: images(nn.LayerNorm([3, 16, 16]), conv(3, 4, 3, 2), nn.LayerNorm([4, 7, 7]), nn.Hardswish(),
                                     features=196),
        "layer_norm_pixels": lambda: images(conv(3, 8, 4, 4), Do(lambda m, x: x.permute(0, 2, 3, 1)), nn.LayerNorm(8),
                                            nn.Linear(8, 16), nn.GELU(), nn.Linear(16, 8),
                                            Do(lambda m, x: x.permute(0, 3, 1, 2)), nn.PReLU(8), *pooled, features=8),
        "channels_last_input": lambda: (nn.Sequential(nn.LayerNorm(3), nn.Linear(3, 6), nn.ReLU(),
                                                      Do(lambda m, x: x.permute(0, 3, 1, 2)), conv(6, 8, 3), nn.ReLU(),
                                                      *pooled, *head(8)), (12, 12, 3)),
        "adaptive_pool": lambda: images(conv(3, 6, 3, padding=1), nn.Hardsigmoid(), nn.AdaptiveAvgPool2d((4, 2)),
                                        features=48),
        "conv_transposed": lambda: images(conv(3, 8, 3, 2, 1), nn.LeakyReLU(0.2),
                                          nn.ConvTranspose2d(8, 6, 3, 2, 1, output_padding=1, groups=2),
                                          nn.ConvTranspose2d(6, 4, 2, 2), nn.AvgPool2d(4), features=256),
        "upsample": lambda: images(conv(3, 4, 3, 2, 1), nn.Upsample(scale_factor=2), nn.Upsample(size=(20, 24)),
                                   nn.Upsample(scale_factor=2, mode="bilinear"), nn.ReLU6(),
                                   nn.UpsamplingBilinear2d(size=(12, 10)), nn.MaxPool2d(2), features=120),
        "pixel_shuffle": lambda: images(conv(3, 12, 3, padding=1), nn.PixelShuffle(2), nn.PReLU(), conv(3, 4, 3, 2, 1),
                                        nn.PixelUnshuffle(2), conv(16, 4, 1), *pooled, features=4),
        "channel_shuffle": lambda: images(conv(3, 12, 3), Do(shuffled), conv(12, 12, 3, groups=4), nn.Softplus(),
                                          *pooled, features=12),
        "windows": lambda: images(conv(3, 6, (3, 5), stride=(2, 1), padding=(0, 2), dilation=(2, 1)), nn.Tanh(),
                                  nn.ZeroPad2d((1, 2, 0, 3)), conv(6, 6, 3, groups=3, bias=False), nn.CELU(),
                                  nn.MaxPool2d(3, 2, 1, ceil_mode=True), nn.AvgPool2d(2, padding=1), features=90),
        "same_padding": lambda: images(conv(3, 6, 4, padding="same"), nn.Softsign(), conv(6, 6, (3, 5), padding="same"),
                                       *pooled, features=6),
        "global_max": lambda: images(conv(3, 6, 3), nn.SELU(), nn.AdaptiveMaxPool2d(1), features=6),
        "rows_and_columns": lambda: images(conv(3, 6, 3), Do(lambda m, x: x.mean(3)), Do(lambda m, x: x.amax(2) + x.mean(2)),
                                           features=6),
        "gate": lambda: (Gated(), (3, 12, 12)),
        "spatial_gate": lambda: (SpatialGate(), (3, 12, 12)),
        "broadcast": lambda: images(conv(3, 6, 3), Do(lambda m, x: x + m.g(x.mean((2, 3), keepdim=True)), g=conv(6, 6, 1)),
                                    Do(lambda m, x: x * torch.sigmoid(m.g(x)), g=conv(6, 1, 1)), *pooled, features=6),
        "split": lambda: images(conv(3, 12, 3), Do(lambda m, x: torch.cat(x.chunk(3, 1)[::-1], 1)),
                                Do(lambda m, x: torch.cat([p * (i + 1) for i, p in enumerate(x.split([4, 2, 6], 1))], 1)),
                                Do(lambda m, x: x[:, :4] * torch.sigmoid(x[:, 4:8])), *pooled, features=4),
        "glu": lambda: images(conv(3, 12, 3), nn.GLU(1), nn.LogSigmoid(), *pooled, features=6),
        "joined_pixels": lambda: images(Do(lambda m, x: torch.cat([x, x.relu()], 2)), Do(lambda m, x: torch.cat([x, -x], 3)),
                                        conv(3, 6, 3, 2), nn.ReLU(), *pooled, features=6),
        "shortcut_a": lambda: (OptionA(), (4, 16, 16)),
        "softmax": lambda: (nn.Sequential(nn.Flatten(), nn.Linear(60, 30), nn.BatchNorm1d(30), nn.Dropout(0.5), nn.Tanh(),
                                          nn.Linear(30, 5), nn.Softmax(1)), (3, 4, 5)),
        "log_softmax": lambda: (nn.Sequential(nn.Flatten(), nn.Linear(60, 30), nn.LayerNorm(30), nn.Hardtanh(),
                                              nn.Linear(30, 5), nn.LogSoftmax(1)), (3, 4, 5)),
        "mean_of_steps": lambda: (nn.Sequential(nn.Linear(5, 8), nn.LayerNorm(8), nn.ReLU(),
                                                Do(lambda m, x: x.mean(1)), nn.Linear(8, 7)), (9, 5)),
        "first_step": lambda: (nn.Sequential(nn.Linear(5, 8), nn.GELU("tanh"), Do(lambda m, x: x[:, 0] + x[:, -1]),
                                             nn.Linear(8, 7)), (9, 5)),
        "unit_length": lambda: images(conv(3, 8, 3), *pooled, nn.Flatten(), Do(lambda m, x: F.normalize(x)), features=8),
        "decoder": lambda: (nn.Sequential(nn.Linear(10, 48), nn.ReLU(), nn.Unflatten(1, (12, 2, 2)),
                                          nn.ConvTranspose2d(12, 6, 4, 2, 1), nn.BatchNorm2d(6), nn.ReLU(),
                                          nn.ConvTranspose2d(6, 1, 4, 2, 1), nn.Sigmoid(), *head(64)), (10,)),
        "shrinks": lambda: images(conv(3, 8, 3), nn.Softshrink(), nn.Tanhshrink(), nn.Hardshrink(0.1), nn.Dropout2d(0.3),
                                  nn.Softmax2d(), *pooled, features=8),
        "squeezed": lambda: images(conv(3, 8, 3), *pooled, Do(lambda m, x: x.squeeze()), features=8),
        "sums": lambda: images(conv(3, 8, 3), Do(lambda m, x: x.sum((2, 3)) / 100), features=8),
        "lstm": lambda: recurrent(nn.LSTM, lambda y, h: y, features=54),
        "lstm_last": lambda: recurrent(nn.LSTM, lambda y, h: y[:, -1], features=6, num_layers=2, dropout=0.2),
        "lstm_both": lambda: recurrent(nn.LSTM, lambda y, h: y, nn.LayerNorm(12), nn.Linear(12, 4), nn.Tanh(), features=36,
                                       num_layers=2, bidirectional=True),
        "lstm_state": lambda: recurrent(nn.LSTM, lambda y, h: h[-1], features=6, bias=False),
        "lstm_both_states": lambda: recurrent(nn.LSTM, lambda y, h: torch.cat((h[-2], h[-1]), 1), features=12, num_layers=2,
                                              bidirectional=True),
        "lstm_both_means": lambda: recurrent(nn.LSTM, lambda y, h: y.mean(1) + y.amax(1), features=12, bidirectional=True),
        "lstm_of_windows": lambda: (nn.Sequential(conv1(4, 8, 3, padding=1), nn.ReLU(), nn.MaxPool1d(2),
                                                  Do(lambda m, x: m.cells(x.transpose(1, 2))[1][0][-1],
                                                     cells=nn.LSTM(8, 6, batch_first=True)), *head(6)), (4, 24)),
        "gru": lambda: recurrent(nn.GRU, lambda y, h: y, nn.ReLU(), features=54),
        "gru_state": lambda: recurrent(nn.GRU, lambda y, h: h[-1], features=6, num_layers=2),
        "gru_both_last": lambda: recurrent(nn.GRU, lambda y, h: y[:, -1], features=12, bidirectional=True),
        "gru_first_way": lambda: recurrent(nn.GRU, lambda y, h: h[0], features=6, bidirectional=True),
        "rnn": lambda: recurrent(nn.RNN, lambda y, h: y[:, -1], features=6),
        "rnn_both_states": lambda: recurrent(nn.RNN, lambda y, h: torch.cat((h[0], h[1]), 1), features=12, bidirectional=True),
        "rnn_turned_late": lambda: (nn.Sequential(Do(lambda m, x: m.d(torch.relu(m.cells(x.transpose(0, 1))[0])).transpose(0, 1),
                                                     cells=nn.RNN(5, 6), d=nn.Linear(6, 4)), *head(36)), (9, 5)),
    }


def keras_modules():
    import keras
    from keras import layers as L

    def model(shape, *layers):
        return keras.Sequential([L.Input(shape), *layers, L.Dense(7)])

    end = (L.GlobalAveragePooling2D, L.GlobalAveragePooling1D)
    return {
        "conv1d": lambda: model((32, 8), L.Conv1D(16, 3, padding="same", activation="relu"), L.MaxPooling1D(2),
                                L.Conv1D(8, 3, strides=2), L.BatchNormalization(), L.ReLU(), L.Flatten()),
        "conv1d_causal": lambda: model((32, 8), L.Conv1D(8, 3, padding="causal", dilation_rate=2, activation="tanh"),
                                       L.Conv1D(8, 2, padding="causal"), L.GlobalMaxPooling1D()),
        "conv1d_pool_first": lambda: model((32, 6), L.AveragePooling1D(2), L.Conv1D(8, 3), L.LayerNormalization(),
                                           L.Dropout(0.2), L.ZeroPadding1D(1), L.SeparableConv1D(6, 3), end[1]()),
        "conv1d_transposed": lambda: model((16, 6), L.Conv1D(8, 3), L.Conv1DTranspose(6, 3, strides=2), L.UpSampling1D(2),
                                           L.Cropping1D(2), end[1]()),
        "conv1d_dense": lambda: model((16, 6), L.Dense(8), L.Conv1D(8, 3), L.Dense(6, activation="relu"), end[1]()),
        "norm_first": lambda: model((12, 12, 8), L.LayerNormalization(), L.Conv2D(8, 3), L.ReLU(), end[0]()),
        "group_norm_first": lambda: model((12, 12, 8), L.GroupNormalization(4), L.Conv2D(8, 3), L.GroupNormalization(2),
                                          L.ReLU(), end[0]()),
        "batch_norm_first": lambda: model((12, 12, 3), L.BatchNormalization(), L.Conv2D(8, 3, activation="relu"), end[0]()),
        "rescaled": lambda: model((12, 12, 3), L.Rescaling([1.5, 2, 2.5], offset=[-1, -0.9, -1.1]),
                                  L.Conv2D(8, 3, activation="relu"), end[0]()),
        "dense_first": lambda: model((12, 12, 5), L.Dense(6, activation="relu"), L.Conv2D(8, 3), L.ReLU(), end[0]()),
        "activation_first": lambda: model((12, 12, 3), L.Activation("tanh"), L.ZeroPadding2D(1), L.Conv2D(8, 3), L.ReLU(),
                                          end[0]()),
        "prelu": lambda: model((12, 12, 3), L.Conv2D(8, 3), L.PReLU(shared_axes=[1, 2]), L.PReLU(), L.Flatten(),
                               L.BatchNormalization(), L.PReLU()),
        "pools": lambda: model((13, 12, 4), L.MaxPooling2D(3, 2, padding="same"), L.AveragePooling2D(2, padding="same"),
                               L.Conv2D(8, 3, padding="same"), L.ELU(), L.GlobalMaxPooling2D()),
        "upsampled": lambda: model((8, 8, 4), L.UpSampling2D(2), L.Conv2D(6, 3), L.UpSampling2D(2, interpolation="bilinear"),
                                   L.Conv2DTranspose(4, 3, strides=2, padding="same"), L.ReLU(), end[0]()),
        "rows": lambda: model((20,), L.Dense(16), L.LayerNormalization(), L.LeakyReLU(), L.BatchNormalization(),
                              L.Reshape((4, 4, 1)), L.Conv2D(6, 3), L.Flatten()),
        "steps": lambda: model((12, 8), L.Dense(16, activation="relu"), L.LayerNormalization(), L.BatchNormalization(),
                               end[1]()),
        # tf2onnx writes GRU and SimpleRNN as loops.
        "lstm": lambda: model((12, 8), L.LSTM(6, return_sequences=True), L.Dropout(0.2), L.LSTM(5)),
        "lstm_both": lambda: model((12, 8), L.Bidirectional(L.LSTM(6, return_sequences=True)), L.Bidirectional(L.LSTM(5))),
    }
