"""What lies before the first layer of gates and behind the last one."""

import torch
from torch import nn

from boolgrad._errors import ArgumentError
from boolgrad.torch import _ops
from boolgrad.torch._layer import check_positive, feature_major, sample_major


class GroupSum(nn.Module):
    """Sums over `k` groups of consecutive outputs, divided by `tau`: one score per class.

    >>> import torch
    >>> from boolgrad.torch import GroupSum
    >>> GroupSum(k=2, tau=2.0)(torch.tensor([[1.0, 1.0, 0.0, 1.0]]))
    tensor([[1.0000, 0.5000]])
    """

    def __init__(self, k, tau=1.0, beta=0.0):
        super().__init__()
        check_positive("GroupSum", k=k)
        if not tau > 0:
            raise ArgumentError(f"[GroupSum] expected tau above 0, received {tau}")
        self.k = k
        self.tau = tau
        self.beta = beta

    def forward(self, x):
        if x.dim() < 1 or x.shape[-1] % self.k != 0 or x.shape[-1] == 0:
            raise ArgumentError(f"[GroupSum] expected a number of inputs that {self.k} divides, received "
                                f"{list(x.shape)}")
        rows = feature_major(x, x.shape[-1], _ops.compute_dtype(x.dtype))
        sums = _ops.group_sums(rows, self.k)
        sums = sample_major(sums.to(x.dtype) if x.is_floating_point() else sums, x)
        if self.beta != 0:
            sums = sums + self.beta
        return sums if self.tau == 1 else sums / self.tau

    def extra_repr(self):
        return f"k={self.k}, tau={self.tau}" + (f", beta={self.beta}" if self.beta else "")


class Binarise(nn.Module):
    """Thermometer code: bit t of a feature is 1 where the feature exceeds its threshold t.

    Features are in dimension 1: inputs [samples, features, ...] give [samples, features * thresholds, ...], with the
    bits of a feature next to each other. NaN stays NaN.

    Args:
        thresholds: [thresholds], shared by all features, or [features, thresholds].
        learned: Whether thresholds are trained.
        width: Gradients are those of sigmoid((x - threshold) / width).

    >>> import torch
    >>> from boolgrad.torch import Binarise
    >>> Binarise([0.25, 0.75])(torch.tensor([[0.1, 0.5, 0.9]]))
    tensor([[0., 0., 1., 0., 1., 1.]])
    """

    def __init__(self, thresholds, learned=False, width=0.1):
        super().__init__()
        values = torch.as_tensor(thresholds, dtype=torch.get_default_dtype()).detach().clone()
        if values.dim() not in (1, 2) or values.numel() == 0 or not values.isfinite().all():
            raise ArgumentError("[Binarise] expected finite thresholds [thresholds] or [features, thresholds], "
                                f"received shape {list(values.shape)}")
        if not width > 0:
            raise ArgumentError(f"[Binarise] expected a width above 0, received {width}")
        if learned:
            self.thresholds = nn.Parameter(values)
        else:
            self.register_buffer("thresholds", values)
        self.learned = learned
        self.width = width

    @classmethod
    def from_data(cls, x, count=3, kind="quantile", shared=False, **arguments):
        """Thresholds from training data [samples, features, ...].

        Args:
            count: Thresholds per feature.
            kind: `quantile` (equally many values between thresholds) or `uniform` (equally spaced).
            shared: Whether all features share their thresholds.
        """
        check_positive("Binarise", count=count)
        x = torch.as_tensor(x).detach()
        if x.dim() < 2 or x.numel() == 0:
            raise ArgumentError(f"[Binarise] expected data [samples, features, ...], received {list(x.shape)}")
        rows = x.movedim(1, 0).flatten(1).to(torch.get_default_dtype())
        if not rows.isfinite().all():
            raise ArgumentError("[Binarise] expected finite numbers as data, received NaN or infinity")
        rows = rows.flatten().unsqueeze(0) if shared else rows
        shares = torch.arange(1, count + 1, dtype=rows.dtype) / (count + 1)
        if kind == "quantile":
            ordered = rows.sort(1).values
            values = ordered[:, (shares * rows.shape[1]).long().clamp(max=rows.shape[1] - 1)]
        elif kind == "uniform":
            low, high = rows.min(1, keepdim=True).values, rows.max(1, keepdim=True).values
            values = low + (high - low) * shares
        else:
            raise ArgumentError(f"[Binarise] expected the kind quantile or uniform, received {kind!r}")
        return cls(values[0] if shared else values, **arguments)

    def forward(self, x):
        _ops.check_device(x)
        _ops.check_floating(x, "features")
        count = self.thresholds.shape[-1]
        if x.dim() < 2 or (self.thresholds.dim() == 2 and x.shape[1] != self.thresholds.shape[0]):
            features = self.thresholds.shape[0] if self.thresholds.dim() == 2 else "features"
            raise ArgumentError(f"[Binarise] expected inputs [samples, {features}, ...], received {list(x.shape)}")
        # Samples last, the layout of the kernels: [features, thresholds, ..., samples].
        rows = x.to(self.thresholds.dtype).movedim(0, -1).unsqueeze(1)
        thresholds = self.thresholds.reshape(-1, count, *[1] * (rows.dim() - 2))
        bits = torch.where(rows.isnan(), rows, (rows > thresholds).to(rows.dtype))
        if self.training and torch.is_grad_enabled() and (self.learned or x.requires_grad):
            soft = torch.sigmoid((rows - thresholds) / self.width)
            bits = bits + (soft - soft.detach())
        return bits.flatten(0, 1).movedim(-1, 0)

    def extra_repr(self):
        return f"thresholds={list(self.thresholds.shape)}, learned={self.learned}"
